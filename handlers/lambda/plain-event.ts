import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';

/** An event of a REST API (payload version 1) or of an HTTP API (version 2). */
export type GatewayEvent = APIGatewayProxyEvent | APIGatewayProxyEventV2;

/** Headers that describe how the body travelled to the platform, not the body that the event holds. */
const TRAVEL = new Set(['transfer-encoding', 'content-length', 'connection', 'keep-alive', 'expect']);

/**
 * The event with the caller's own headers and nothing else: names in lower case, repeats merged, the length of the
 * body that is there. Platforms add a Content-Type that the caller did not send and keep only the last of repeated
 * headers in `headers`; `multiValueHeaders` tells the truth.
 */
export function plainEvent(event: GatewayEvent): GatewayEvent {
  const headers: Record<string, string> = {};
  const given = 'multiValueHeaders' in event ? (event.multiValueHeaders ?? event.headers) : event.headers;
  for (const [name, value] of Object.entries(given ?? {})) {
    const key = name.toLowerCase();
    if (value === undefined || TRAVEL.has(key)) continue;
    const text = Array.isArray(value) ? value.join(key === 'cookie' ? '; ' : ', ') : value;
    headers[key] = key in headers ? `${headers[key]}, ${text}` : text;
  }
  const body = event.body ?? '';
  if (body !== '') {
    headers['content-length'] = String(Buffer.byteLength(body, event.isBase64Encoded ? 'base64' : 'utf8'));
  }
  if ('multiValueHeaders' in event) return { ...event, body, headers, multiValueHeaders: {} };
  return { ...event, body, headers };
}

/** Whether the caller reached the platform over TLS: always, but on a developer's machine. */
export function isOverTls(event: GatewayEvent): boolean {
  return !event.requestContext.domainName?.startsWith('offlineContext');
}
