import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { fillDerived, type SchemaNode } from './fill.ts';
import { FORMATS } from './formats.ts';
import { formatPath, isMapping, type Path, removeAt, setKey } from './path.ts';
import { relaxDefaults } from './schema/build.ts';
import { configSchema } from './schema/config-schema.ts';
import { nearest } from './suggest.ts';

/** One thing the schema does not allow. */
export interface Violation {
  path: Path;
  what: string;
  kind: 'unknown-key' | 'missing' | 'value';
}

/** The schema as the loader uses it: nothing that is filled in is required. */
export const relaxedSchema = relaxDefaults(configSchema) as SchemaNode;

let compiled: ValidateFunction | undefined;

/** Checks structure and types; returns every violation in words of our own, which never quote a value. */
export function validateStructure(value: unknown): Violation[] {
  compiled ??= compile();
  if (compiled(value)) return [];
  const errors = compiled.errors ?? [];
  const unions = errors.filter((error) => error.keyword === 'anyOf');
  return errors.flatMap((error) => {
    const union = unions.find((one) => error !== one && error.schemaPath.startsWith(`${one.schemaPath}/`));
    if (union !== undefined && !speaksForUnion(error, union)) return [];
    if (error.keyword === 'anyOf' && objectVariant(error) !== undefined) return [];
    return [describe(error, value)];
  });
}

/** Fills what takes its default from another key, once the types are known to be right. */
export function deriveDefaults(config: unknown): void {
  fillDerived(relaxedSchema, config);
}

/** Leaves out list items and optional sections that lack a required key: nothing can work with half of one. */
export function withoutIncomplete(config: unknown): unknown {
  const complete = structuredClone(config);
  for (;;) {
    const missing = validateStructure(complete).filter(({ kind }) => kind === 'missing');
    if (missing.length === 0) return dropHoles(complete);
    for (const { path } of missing) removeAt(complete, path.slice(0, -1));
  }
}

/** Takes the undefined items, which `removeAt` leaves, out of every list. */
function dropHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== undefined).map(dropHoles);
  if (!isMapping(value)) return value;
  for (const [key, part] of Object.entries(value)) setKey(value, key, dropHoles(part));
  return value;
}

function compile(): ValidateFunction {
  const ajv = new Ajv({ allErrors: true, verbose: true, allowUnionTypes: true });
  ajv.addVocabulary(['unit', 'derived', 'expected']);
  for (const [name, { test }] of Object.entries(FORMATS)) ajv.addFormat(name, test);
  return ajv.compile(relaxedSchema as object);
}

/** A mapping was given where one variant of a union is a mapping: its own errors say more than the union's. */
function objectVariant(union: ErrorObject): number | undefined {
  if (!isMapping(union.data)) return undefined;
  const index = (union.schema as SchemaNode[]).findIndex((variant) => variant.type === 'object');
  return index === -1 ? undefined : index;
}

function speaksForUnion(error: ErrorObject, union: ErrorObject): boolean {
  const variant = objectVariant(union);
  return variant !== undefined && error.schemaPath.startsWith(`${union.schemaPath}/${variant}/`);
}

function describe(error: ErrorObject, root: unknown): Violation {
  const path = parsePointer(error.instancePath, root);
  const schema = error.parentSchema as SchemaNode;
  switch (error.keyword) {
    case 'required':
      return { path: [...path, error.params.missingProperty], what: 'is required', kind: 'missing' };
    case 'additionalProperties': {
      const key: string = error.params.additionalProperty;
      return { path: [...path, key], what: unknownKey(path, key, schema), kind: 'unknown-key' };
    }
    default:
      return { path, what: wording(error, schema), kind: 'value' };
  }
}

function wording(error: ErrorObject, schema: SchemaNode): string {
  if (schema.expected !== undefined && error.keyword !== 'minLength') return `must be ${schema.expected}`;
  switch (error.keyword) {
    case 'type':
      return typeWording(error, schema);
    case 'enum': {
      const values = (schema.enum ?? []).map(String);
      const close = typeof error.data === 'string' ? nearest(error.data, values) : undefined;
      return `must be one of ${values.join(', ')}${close === undefined ? '' : `; did you mean ${close}?`}`;
    }
    case 'const':
      return `must be ${String(schema.const)}`;
    case 'minimum':
      return `must be at least ${error.params.limit}${unit(schema)}`;
    case 'maximum':
      return `must be at most ${error.params.limit}${unit(schema)}`;
    case 'minLength':
      return 'must not be empty';
    case 'format':
      return `must be ${FORMATS[error.params.format]?.expected ?? 'well-formed'}`;
    default:
      return 'is not allowed';
  }
}

const TYPES: Record<string, string> = {
  integer: 'a number',
  number: 'a number',
  boolean: 'a boolean',
  string: 'a string',
  array: 'an array',
  object: 'an object',
};

function typeWording(error: ErrorObject, schema: SchemaNode): string {
  if (schema.type === 'integer' && typeof error.data === 'number' && Number.isFinite(error.data)) {
    return 'must be a whole number';
  }
  return `must be ${TYPES[schema.type ?? ''] ?? 'of another type'}${typeHint(schema.type, error.data)}`;
}

/** YAML 1.2 reads `8080` as a number and `yes` as a text: both surprise people. */
function typeHint(wanted: string | undefined, value: unknown): string {
  if (wanted === 'string' && ['number', 'boolean'].includes(typeof value)) return '; put it in quotes';
  if (wanted === 'boolean' && /^(yes|no|on|off|y|n)$/i.test(String(value))) return '; write true or false';
  return '';
}

function unit(schema: SchemaNode): string {
  return schema.unit === undefined ? '' : ` ${schema.unit}`;
}

function unknownKey(parent: Path, key: string, schema: SchemaNode): string {
  const known = Object.keys(schema.properties ?? {});
  const close = nearest(key, known);
  if (close !== undefined) return `is not a known key; did you mean ${formatPath([...parent, close])}?`;
  const elsewhere = placesOf(key, relaxedSchema, '');
  if (elsewhere.length === 1) return `is not a known key; did you mean ${elsewhere[0]}?`;
  return `is not a known key; known here: ${known.join(', ')}`;
}

/** Where in the schema a key of this name does exist: a key is often right but indented wrongly. */
function placesOf(key: string, node: SchemaNode, place: string): string[] {
  const places: string[] = [];
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    const here = place === '' ? name : `${place}.${name}`;
    if (name === key) places.push(here);
    places.push(...placesOf(key, property, here));
    if (property.items) places.push(...placesOf(key, property.items, `${here}[]`));
  }
  return places;
}

/** Turns ajv's JSON pointer into a path; a digit is an index only where the value is an array. */
function parsePointer(pointer: string, root: unknown): Path {
  const path: (string | number)[] = [];
  let value = root;
  for (const raw of pointer.split('/').slice(1)) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(name) : name);
    value =
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return path;
}
