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

/**
 * Checks structure and types; returns every violation, in words that never quote a value. It reads the schema as it
 * goes: compiling it with ajv took longer than all the rest of a start, and a restarted companion is waited for.
 */
export function validateStructure(value: unknown): Violation[] {
  const violations: Violation[] = [];

  function check(schema: SchemaNode, part: unknown, path: Path): void {
    const node = variantFor(schema, part);
    const what = faultOf(node, part);
    if (what !== undefined) violations.push({ path, what, kind: 'value' });
    else if (Array.isArray(part) && node.items) {
      for (const [index, item] of part.entries()) check(node.items, item, [...path, index]);
    } else if (isMapping(part)) checkMapping(node, part, path);
  }

  function checkMapping(node: SchemaNode, part: Record<string, unknown>, path: Path): void {
    for (const name of node.required ?? []) {
      if (part[name] === undefined) {
        violations.push({ path: [...path, name], what: 'is required', kind: 'missing' });
      }
    }
    for (const [name, below] of Object.entries(part)) {
      const here = [...path, name];
      const known =
        node.properties && Object.hasOwn(node.properties, name) ? node.properties[name] : undefined;
      const rest = isMapping(node.additionalProperties)
        ? (node.additionalProperties as SchemaNode)
        : undefined;
      if (known === undefined && node.additionalProperties === false) {
        violations.push({ path: here, what: unknownKey(path, name, node), kind: 'unknown-key' });
      } else if (below !== undefined) check(known ?? rest ?? {}, below, here);
    }
  }

  check(relaxedSchema, value, []);
  return violations;
}

/** Of a union, the variant that is a mapping where the value is one: its own faults say more than the union's. */
function variantFor(schema: SchemaNode, value: unknown): SchemaNode {
  return (isMapping(value) && schema.anyOf?.find((variant) => variant.type === 'object')) || schema;
}

/** What is wrong with a value itself, apart from what lies below it. */
function faultOf(node: SchemaNode, value: unknown): string | undefined {
  if (node.anyOf !== undefined) {
    return node.anyOf.every((variant) => faultOf(variant, value) !== undefined) ? expected(node) : undefined;
  }
  if (node.const !== undefined && value !== node.const) return `must be ${String(node.const)}`;
  if (node.enum !== undefined && !node.enum.includes(value)) return enumWording(node.enum.map(String), value);
  if (!hasType(node.type, value))
    return node.expected === undefined ? typeWording(node.type, value) : expected(node);
  if (typeof value === 'string') return textFault(node, value);
  if (typeof value === 'number') return numberFault(node, value);
  return undefined;
}

function textFault(node: SchemaNode, text: string): string | undefined {
  if (text.length < (node.minLength ?? 0)) return 'must not be empty';
  if (node.pattern !== undefined && !new RegExp(node.pattern, 'u').test(text)) return expected(node);
  const format = node.format === undefined ? undefined : FORMATS[node.format];
  return format === undefined || format.test(text) ? undefined : `must be ${format.expected}`;
}

function numberFault({ minimum, maximum, unit }: SchemaNode, value: number): string | undefined {
  const suffix = unit === undefined ? '' : ` ${unit}`;
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}${suffix}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}${suffix}`;
  return undefined;
}

function expected(node: SchemaNode): string {
  return `must be ${node.expected ?? 'well-formed'}`;
}

function enumWording(values: readonly string[], value: unknown): string {
  const close = typeof value === 'string' ? nearest(value, values) : undefined;
  return `must be one of ${values.join(', ')}${close === undefined ? '' : `; did you mean ${close}?`}`;
}

function hasType(type: string | undefined, value: unknown): boolean {
  switch (type) {
    case undefined:
      return true;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isMapping(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === type;
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

/** YAML 1.2 reads `8080` as a number and `yes` as a text: both surprise people. */
function typeWording(type: string | undefined, value: unknown): string {
  if (type === 'integer' && Number.isFinite(value)) return 'must be a whole number';
  let hint = '';
  if (type === 'string' && ['number', 'boolean'].includes(typeof value)) hint = '; put it in quotes';
  if (type === 'boolean' && /^(yes|no|on|off|y|n)$/i.test(String(value))) hint = '; write true or false';
  return `must be ${TYPES[type ?? ''] ?? 'of another type'}${hint}`;
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
