import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

/** Checks arguments: undefined when they are fine, else what is wrong, naming the place but never a value. */
export type ArgumentCheck = (args: unknown) => string | undefined;

/** Compiles inputSchemas, each once, when tools are listed; never per call. */
export interface SchemaCompiler {
  /** @throws Error with the reason when the schema is not usable. */
  compile(schema: Record<string, unknown>): ArgumentCheck;
}

const OPTIONS: Options = {
  // Schemas come from many generators: unknown keywords and formats are annotations, not faults.
  strict: false,
  validateFormats: false,
  // Two tools may carry the same $id.
  addUsedSchema: false,
  logger: false,
};
/** A schema text longer than this would hold up the process while it compiles. */
const MAX_SCHEMA_LENGTH = 512 * 1024;

/**
 * MCP's default dialect is 2020-12; `$schema` may name another one. A schema that names none and does not
 * compile as 2020-12 is tried as draft-07, which older servers write without saying so.
 */
export function createSchemaCompiler(): SchemaCompiler {
  const lazily = <T>(make: () => T) => {
    let made: T | undefined;
    return () => {
      made ??= make();
      return made;
    };
  };
  const draft2020 = lazily(() => new Ajv2020(OPTIONS));
  const draft2019 = lazily(() => new Ajv2019(OPTIONS));
  const draft07 = lazily(() => new Ajv(OPTIONS));

  function compileWith(ajv: Ajv, schema: Record<string, unknown>): ValidateFunction {
    try {
      return ajv.compile(schema);
    } finally {
      // Servers are listed again and again; the compiled function is all that is kept.
      ajv.removeSchema(schema);
    }
  }

  function build(schema: Record<string, unknown>): ValidateFunction {
    const { $schema: dialect, ...unnamed } = schema;
    const named = typeof dialect === 'string' ? dialect : '';
    if (/draft-0[467]/.test(named)) return compileWith(draft07(), unnamed);
    if (/2019-09/.test(named)) return compileWith(draft2019(), unnamed);
    try {
      return compileWith(draft2020(), unnamed);
    } catch (error) {
      if (/2020-12/.test(named)) throw error;
      try {
        return compileWith(draft07(), unnamed);
      } catch {
        throw error;
      }
    }
  }

  return {
    compile(schema) {
      if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) {
        throw new Error(`inputSchema is longer than ${MAX_SCHEMA_LENGTH} characters`);
      }
      const validate = build(schema);
      if ('$async' in validate) throw new Error('inputSchema must not be asynchronous');
      return (args) => (validate(args) === true ? undefined : explain(validate));
    },
  };
}

function explain(validate: ValidateFunction): string {
  const error = validate.errors?.[0];
  if (error === undefined) return 'they do not match the inputSchema';
  const place = error.instancePath === '' ? 'arguments' : `arguments${error.instancePath}`;
  const names: unknown =
    error.params.additionalProperty ?? error.params.unevaluatedProperty ?? error.params.allowedValues;
  const detail = names === undefined ? '' : ` (${[names].flat().slice(0, 20).join(', ')})`;
  return `${place} ${error.message ?? 'is not valid'}${detail}`;
}
