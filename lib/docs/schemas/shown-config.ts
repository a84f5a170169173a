import { Type } from '@sinclair/typebox';
import { configSchema } from '../../config/schema/config-schema.ts';
import { isSecretName } from '../../config/secret-names.ts';
import { ref } from './vocabulary.ts';

type Node = Record<string, unknown>;

/** Keywords of the loader; the rest is JSON Schema. Formats are the loader's own, and do not hold for redacted text. */
const OWN_KEYWORDS = new Set(['unit', 'derived', 'expected', 'format', 'minLength', 'pattern']);
const REDACTED = { const: '[REDACTED]', description: 'Never shown.' };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema that validates config.yaml, as the admin API shows what it let in: defaults filled, secrets redacted. */
function shown(schema: Node): Node {
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (OWN_KEYWORDS.has(keyword)) return [];
    if (keyword === 'properties' && isNode(value)) return [[keyword, shownProperties(value)]];
    if (keyword === 'anyOf' && Array.isArray(value))
      return [[keyword, value.map((one) => shown(one as Node))]];
    if ((keyword === 'items' || keyword === 'additionalProperties') && isNode(value))
      return [[keyword, shown(value)]];
    return [[keyword, value]];
  });
  return Object.fromEntries(entries);
}

function shownProperties(properties: Node): Node {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const node = property as Node;
      const isPlain = node.type === 'integer' || node.type === 'number' || node.type === 'boolean';
      return [name, isSecretName(name) && !isPlain ? REDACTED : shown(node)];
    }),
  );
}

// TypeBox keeps its own marks under symbols, which JSON leaves behind.
const whole = shown(JSON.parse(JSON.stringify(configSchema)) as Node);
const sections = whole.properties as Record<string, Node>;
/** Component of each section that has an address. */
const NAMES = { targets: 'Targets', proxies: 'Proxies', mcp: 'Mcp', auth: 'Auth', hub: 'Hub' };
const references = Object.entries(NAMES).map(([section, name]) => [section, ref(name)]);

/** The configuration, and those of its sections that have an address. */
export const configSchemas = {
  Config: Type.Unsafe<unknown>({ ...whole, properties: { ...sections, ...Object.fromEntries(references) } }),
  ...Object.fromEntries(
    Object.entries(NAMES).map(([section, name]) => [name, Type.Unsafe<unknown>(sections[section] ?? {})]),
  ),
};
