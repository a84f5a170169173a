/** The part of an OpenAPI 3.1 document that the viewer reads. */
export interface OpenApi {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  tags: string[];
  operationId: string;
  summary: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  description?: string;
  required: boolean;
  example?: string;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
}

/** One operation with its place. */
export interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

export const entriesOf = ({ paths }: OpenApi): Entry[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  );

/** Who may call: an empty requirement among others says that it may be open. */
export function accessOf({ security }: Operation): 'public' | 'admin' | 'main' {
  if (security.length === 0) return 'public';
  return security.some((one) => 'adminKey' in one) ? 'admin' : 'main';
}

const PREFIX = '#/components/schemas/';

/** Follows a reference; the name is what a reader knows it by. */
export function resolve(document: OpenApi, schema: Schema): { schema: Schema; name: string | undefined } {
  if (schema.$ref === undefined) return { schema, name: undefined };
  const name = schema.$ref.slice(PREFIX.length);
  return { schema: document.components.schemas[name] ?? {}, name };
}

/** A body to begin with: what is required, and what has an example. */
export function exampleOf(document: OpenApi, given: Schema, depth = 0): unknown {
  const { schema } = resolve(document, given);
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' && depth < 4) {
    const wanted = Object.entries(schema.properties ?? {}).filter(
      ([name, property]) => schema.required?.includes(name) || property.examples !== undefined,
    );
    return Object.fromEntries(
      wanted.map(([name, property]) => [name, exampleOf(document, property, depth + 1)]),
    );
  }
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return 0;
  if (type === 'boolean') return false;
  return '';
}
