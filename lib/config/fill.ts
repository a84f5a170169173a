import type { Path } from './path.ts';
import { isMapping, setKey } from './path.ts';

/** The parts of a JSON Schema that filling needs; `derived` names the key another default is taken from. */
export interface SchemaNode {
  type?: string;
  properties?: Record<string, SchemaNode>;
  required?: string[];
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  derived?: string;
  minLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  format?: string;
  unit?: string;
  description?: string;
  expected?: string;
}

/**
 * Returns a copy of `value` with defaults filled in, and with text that came from a substitution turned into a
 * number or boolean where the schema asks for one (contract §2). Says nothing about what is wrong.
 */
export function fillDefaults(
  schema: SchemaNode,
  value: unknown,
  convertible: (path: Path) => boolean,
  path: Path = [],
): unknown {
  if (value === undefined || (value === null && mayBeEmpty(schema))) {
    if (!('default' in schema)) return undefined;
    return fillDefaults(schema, structuredClone(schema.default), convertible, path);
  }
  if (typeof value === 'string') {
    return convertible(path) || isBooleanOrText(schema) ? convert(schema, value) : value;
  }
  const below = (node: SchemaNode, part: unknown, key: string | number) =>
    fillDefaults(node, part, convertible, [...path, key]);
  if (Array.isArray(value)) {
    const items = schema.items ?? schema.anyOf?.find((one) => one.type === 'array')?.items;
    return items === undefined ? value : value.map((item, index) => below(items, item, index));
  }
  if (!isMapping(value)) return value;
  const shape = schema.anyOf?.find((one) => one.type === 'object') ?? schema;
  const filled: Record<string, unknown> = {};
  for (const [key, node] of Object.entries(shape.properties ?? {})) {
    const part = below(node, Object.hasOwn(value, key) ? value[key] : undefined, key);
    if (part !== undefined) filled[key] = part;
  }
  for (const [key, part] of Object.entries(value)) {
    if (shape.properties && Object.hasOwn(shape.properties, key)) continue;
    const node = isMapping(shape.additionalProperties) ? shape.additionalProperties : undefined;
    setKey(filled, key, node === undefined ? part : below(node, part, key));
  }
  return filled;
}

/**
 * Fills, in place, each left-out key whose default is another key's value: one of the same object
 * (`targets[].requestTimeout`) or one counted from the root (`hub.http_client.timeout`).
 */
export function fillDerived(schema: SchemaNode, root: unknown): void {
  function visit(node: SchemaNode, value: unknown, place: string): void {
    if (Array.isArray(value) && node.items) {
      for (const item of value) visit(node.items, item, `${place}[]`);
    }
    if (!isMapping(value)) return;
    for (const [key, property] of Object.entries(node.properties ?? {})) {
      if (property.derived !== undefined && value[key] === undefined) {
        const sibling = property.derived.startsWith(`${place}.`);
        const names = (sibling ? property.derived.slice(place.length + 1) : property.derived).split('.');
        const source = names.reduce<unknown>(
          (at, name) => (isMapping(at) ? at[name] : undefined),
          sibling ? value : root,
        );
        if (source !== undefined) value[key] = source;
      }
      visit(property, value[key], place === '' ? key : `${place}.${key}`);
    }
  }
  visit(schema, root, '');
}

/** `proxies:` with nothing below it is a section left out; a list of texts such as `allowedNetworks:` is not. */
function mayBeEmpty(schema: SchemaNode): boolean {
  return schema.properties !== undefined || schema.items?.properties !== undefined;
}

/** `trustProxy: "true"` can only mean the boolean, quoted or not. */
function isBooleanOrText({ anyOf = [] }: SchemaNode): boolean {
  return anyOf.some((one) => one.type === 'boolean') && anyOf.some((one) => one.type === 'string');
}

function convert(schema: SchemaNode, text: string): unknown {
  const variants = schema.anyOf ?? [schema];
  const trimmed = text.trim();
  if (variants.some((one) => one.type === 'boolean')) {
    if (/^true$/i.test(trimmed)) return true;
    if (/^false$/i.test(trimmed)) return false;
  }
  const numeric = variants.some((one) => one.type === 'integer' || one.type === 'number');
  if (numeric && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return Number(trimmed);
  return text;
}
