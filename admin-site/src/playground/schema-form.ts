/** A JSON Schema as tools bring it; nothing in it is to be relied on. */
export type Schema = Record<string, unknown>;

/** One input of the form that is made from a tool's inputSchema. */
export interface Field {
  name: string;
  label: string;
  description: string | undefined;
  isRequired: boolean;
  /** `json` is a text area for whatever has no input of its own. */
  kind: 'text' | 'number' | 'flag' | 'choice' | 'json';
  /** Of `choice`, as JSON texts. */
  choices: string[];
  /** What stands in it at first. */
  initial: string;
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an object schema; undefined when it describes none, so that raw JSON is all that is left. */
export function fieldsOf(schema: unknown): Field[] | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) return undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const part = isObject(property) ? property : {};
    const isRequired = required.includes(name);
    const kind = kindOf(part);
    return {
      name,
      label: typeof part.title === 'string' ? part.title : name,
      description: typeof part.description === 'string' ? part.description : undefined,
      isRequired,
      kind,
      choices: Array.isArray(part.enum) ? part.enum.map((choice) => JSON.stringify(choice)) : [],
      initial: initialOf(part, kind),
    };
  });
}

function kindOf(part: Schema): Field['kind'] {
  if (Array.isArray(part.enum)) return 'choice';
  switch (part.type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'flag';
    default:
      return 'json';
  }
}

function initialOf(part: Schema, kind: Field['kind']): string {
  if (part.default === undefined) return '';
  return kind === 'text' && typeof part.default === 'string' ? part.default : JSON.stringify(part.default);
}

/**
 * The arguments that the inputs stand for. What is left empty is left out.
 * @throws Error naming the field whose JSON is none.
 */
export function argumentsOf(fields: readonly Field[], inputs: Readonly<Record<string, string>>): Schema {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const text = inputs[field.name] ?? field.initial;
    // A text that is required may well be empty; everything else that is empty is not there.
    if (text === '') return field.kind === 'text' && field.isRequired ? [[field.name, '']] : [];
    if (field.kind === 'text') return [[field.name, text]];
    try {
      return [[field.name, JSON.parse(text)]];
    } catch {
      throw new Error(`${field.label} is not valid JSON`);
    }
  });
  return Object.fromEntries(entries);
}
