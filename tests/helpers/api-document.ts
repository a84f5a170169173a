import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** The OpenAPI document as a tester of answers. */
export interface ApiDocument {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they test
  json: any;
  /** What is wrong with an answer by the document, in words; undefined when nothing is. */
  faultOf(
    method: string,
    path: string,
    answer: { status: number; contentType: string; body: unknown },
  ): string | undefined;
  /** What is wrong with a request body by the document. */
  requestFaultOf(method: string, path: string, body: unknown): string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a document
export function readApiDocument(json: any): ApiDocument {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'hub', ...json });
  const compiled = new Map<string, ValidateFunction>();

  function faultIn(schema: { $ref?: string } | undefined, value: unknown): string | undefined {
    const $ref = schema?.$ref;
    if ($ref === undefined) return undefined;
    const check = compiled.get($ref) ?? ajv.compile({ $ref: `hub${$ref}` });
    compiled.set($ref, check);
    return check(value) ? undefined : ajv.errorsText(check.errors);
  }

  function operation(method: string, path: string) {
    const found = json.paths[path]?.[method.toLowerCase()];
    if (found === undefined) throw new Error(`the document has no ${method} ${path}`);
    return found;
  }

  return {
    json,
    faultOf(method, path, { status, contentType, body }) {
      const response = operation(method, path).responses[status];
      if (response === undefined) return `status ${status} is not in the document`;
      const type = contentType.split(';')[0] ?? '';
      const content = response.content?.[type];
      if (content === undefined) return `${type} is not in the document for status ${status}`;
      return type === 'application/json' ? faultIn(content.schema, body) : undefined;
    },
    requestFaultOf: (method, path, body) =>
      faultIn(operation(method, path).requestBody.content['application/json'].schema, body),
  };
}
