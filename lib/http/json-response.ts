import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Answers with a JSON body: one write, length known, no ETag. */
export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void {
  sendText(response, status, 'application/json; charset=utf-8', JSON.stringify(value), headers);
}

/** Answers with a text body of the given content type. */
export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  headers?: OutgoingHttpHeaders,
): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}
