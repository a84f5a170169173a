import type { OutgoingHttpHeaders } from 'node:http';

/** What such an answer is written to. */
interface Answerable {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  end(text: string): unknown;
}

/** Answers with a JSON body: one write, length known, no ETag. */
export function sendJson(
  response: Answerable,
  status: number,
  value: unknown,
  headers?: OutgoingHttpHeaders,
): void {
  sendText(response, status, 'application/json; charset=utf-8', JSON.stringify(value), headers);
}

/** Answers with a text body of the given content type. */
export function sendText(
  response: Answerable,
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
