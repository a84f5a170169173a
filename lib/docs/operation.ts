import type { HubErrorCode } from '../errors/hub-error.ts';
import type { Access } from '../http/route.ts';

/** A parameter of the path, the query or the head. */
export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  description: string;
  required?: boolean;
  example?: string;
}

/** A body, of a request or an answer. */
export interface Body {
  contentType: string;
  /** Name of a component; left out for text. */
  schema?: string;
}

export interface Answer {
  description: string;
  bodies?: readonly Body[];
}

/** One thing that the hub can be asked for. */
export interface Operation {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As in OpenAPI: `/videohost/uploads/{uploadId}`. */
  path: string;
  summary: string;
  description?: string;
  access: Access;
  parameters?: readonly Parameter[];
  body?: Body & { required?: boolean };
  /** By status. */
  answers: Readonly<Record<number, Answer>>;
  /** Failures beside those of its access. */
  errors?: readonly HubErrorCode[];
}

/** Operations that belong together. */
export interface OperationGroup {
  name: string;
  description: string;
  operations: readonly Operation[];
}

/** An answer in JSON. */
export const json = (description: string, schema: string): Answer => ({
  description,
  bodies: [{ contentType: 'application/json', schema }],
});

/** The header that names who is to answer. */
export const target = (what: string, required = true): Parameter => ({
  in: 'header',
  name: 'x-target',
  description: what,
  required,
});
