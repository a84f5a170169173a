import type { SchemaNode } from './fill.ts';
import { FORMATS } from './formats.ts';
import { configSchema } from './schema/config-schema.ts';

interface Row {
  key: string;
  type: string;
  byDefault: string;
  meaning: string;
}

const INTRODUCTION = `# Configuration

<!-- Generated from lib/config/schema by \`npm run docs\`. Do not edit. -->

One YAML file configures the hub: \`./config.yaml\`, or the path in \`HUB_CONFIG\`. \`npm run check -- [path]\` validates
it without starting anything and names every fault with its line. A key that is not listed here is a fault.

## Values from the environment

| In the file | Becomes |
|---|---|
| \`\${VAR}\` | the value of \`VAR\`; not set is a fault |
| \`\${VAR-default}\` | the default when \`VAR\` is not set (an empty \`VAR\` is set); a default ends at the first \`}\` |
| \`$\${\` | a literal \`\${\` |

Several references in one value work, nested ones and \`\${VAR:-default}\` do not. Substitution happens after parsing, so
no value can change the structure of the file. A substituted value becomes a number or boolean where the key takes
one, and stays text everywhere else. Secrets belong into the environment or into \`.env\`, never into this file.

## Environment variables

| Variable | Default | Meaning |
|---|---|---|
| \`HUB_CONFIG\` | \`./config.yaml\` | Path of the configuration file. |
| \`HUB_PORT\` | \`hub.port\` | API port; 0 takes a free one. |
| \`HUB_HOST\` | \`hub.host\` | Bind address of the API port. |
| \`AILINK_PORT\` | \`3100\` | Internal port of the companion; 0 takes a free one. |
| \`AILINK_HOST\` | \`0.0.0.0\` | Bind address of a companion that runs alone; a spawned one binds 127.0.0.1. |
| \`AILINK_URL\` | | Address of a companion that runs elsewhere; the gateway then spawns none. |
| \`AILINK_TOKEN\` | random | Secret between gateway and companion, at least 32 characters; required when either runs alone. |
| \`HUB_SKIP_SCHEMA_VALIDATION\` | \`false\` | \`true\` skips structure and type validation. Never in production. |
| \`HTTPS_PROXY\`, \`HTTP_PROXY\`, \`NO_PROXY\` | | Forward proxy for calls to AI providers, the identity service and the video platform. |

Variables in \`.env\` of the working directory count as set unless the environment has them already. \`npm run setup\`
writes a first \`.env\` with random secrets.
`;

/** The text of `docs/configuration.md`, made from the schema that validates. */
export function renderReference(): string {
  const sections = Object.entries((configSchema as SchemaNode).properties ?? {}).map(([name, node]) => {
    const list = node.items !== undefined;
    const rows = rowsOf(list ? (node.items ?? {}) : node, list ? `${name}[]` : name, required(node));
    return `## ${list ? `${name}[]` : name}\n\n${node.description ?? ''}\n\n${table(rows)}`;
  });
  return `${[INTRODUCTION, ...sections].join('\n')}`;
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ key, type, byDefault, meaning }) =>
    cells([`\`${key}\``, type, byDefault, meaning]),
  );
  return `${['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n')}\n`;
}

function cells(texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}

function required(node: SchemaNode): readonly string[] {
  return (node.items ?? node).required ?? [];
}

function rowsOf(node: SchemaNode, path: string, needed: readonly string[]): Row[] {
  const properties = Object.entries(node.properties ?? {});
  const twins = twinsOf(properties);
  if (twins !== undefined) {
    const names = properties.map(
      ([name, one]) => `\`${name}\` (${(one.description ?? '').replace(/\.$/, '')})`,
    );
    const row = {
      key: `${path}.<type>`,
      type: 'object',
      byDefault: '',
      meaning: `One of ${names.join(', ')}.`,
    };
    return [row, ...rowsOf(twins, `${path}.<type>`, required(twins))];
  }
  return properties.flatMap(([name, property]) => {
    const key = `${path}.${name}`;
    const below = property.items?.properties
      ? rowsOf(property.items, `${key}[]`, required(property))
      : rowsOf(property, key, required(property));
    if (property.properties && 'default' in property) return below;
    const row = {
      key,
      type: typeOf(property),
      byDefault: defaultOf(property, needed.includes(name)),
      meaning: property.description ?? '',
    };
    return [row, ...below];
  });
}

/** Several sections of one shape, such as the log types, are shown once. */
function twinsOf(properties: readonly [string, SchemaNode][]): SchemaNode | undefined {
  const [first, ...others] = properties.map(([, node]) => node);
  if (first?.properties === undefined || others.length === 0) return undefined;
  const shape = JSON.stringify(first.properties);
  return others.every((other) => JSON.stringify(other.properties) === shape) ? first : undefined;
}

function typeOf(node: SchemaNode): string {
  if (node.enum !== undefined) return node.enum.map((value) => `\`${value}\``).join(', ');
  if (node.expected !== undefined) return node.expected;
  if (node.format !== undefined) return FORMATS[node.format]?.expected ?? 'text';
  switch (node.type) {
    case 'integer':
    case 'number':
      return node.unit === undefined ? `number${range(node)}` : node.unit;
    case 'array':
      return node.items?.type === 'string' ? 'list of texts' : 'list';
    case 'object':
      return node.properties === undefined && node.additionalProperties ? 'names to texts' : 'object';
    case 'string':
      return 'text';
    default:
      return node.type ?? 'any';
  }
}

function range({ minimum, maximum }: SchemaNode): string {
  if (minimum === undefined) return '';
  return maximum === undefined || maximum >= 1_000_000_000
    ? `, from ${minimum}`
    : `, ${minimum} to ${maximum}`;
}

function defaultOf(node: SchemaNode, needed: boolean): string {
  if (node.derived !== undefined) return `that of \`${node.derived}\``;
  if (!('default' in node)) return needed ? '**required**' : '';
  const value = node.default;
  if (Array.isArray(value) || typeof value === 'object') return `\`${JSON.stringify(value)}\``;
  return value === '' ? 'empty' : `\`${String(value)}\``;
}
