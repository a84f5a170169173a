import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { connect } from 'node:net';

export interface SendOptions {
  method?: string;
  headers?: OutgoingHttpHeaders;
  /** Sent as it is. */
  body?: string | Buffer;
  /** Sent as JSON with its content type. */
  json?: unknown;
  signal?: AbortSignal;
  /** The whole exchange, in ms. */
  timeoutMs?: number;
  /** Self-signed certificates of TLS tests. */
  tls?: Pick<RequestOptions, 'ca' | 'servername' | 'rejectUnauthorized'>;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Names and values alternating, as they came: shows repeats and order. */
  rawHeaders: string[];
  body: Buffer;
  text: string;
  /** The body as JSON; throws where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape is what they test
  json(): any;
}

/** An answer whose body has not been read: `for await (const chunk of stream.message)`. */
export interface OpenAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  message: IncomingMessage;
  /** Leaves, as a caller that hangs up. */
  leave(): void;
}

/** Sends one request on a connection of its own and gives the answer as soon as its head is there. */
export function open(url: string | URL, options: SendOptions = {}): Promise<OpenAnswer> {
  const { method, headers = {}, json, signal, timeoutMs = 20_000, tls = {} } = options;
  const body = json === undefined ? options.body : JSON.stringify(json);
  const target = new URL(url);
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(target, {
      ...tls,
      agent: false,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(body !== undefined &&
          !('transfer-encoding' in headers) && { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    request.once('error', reject);
    request.once('response', (message) => {
      // A caller that leaves makes the request fail once more; the message tells it then.
      request.on('error', () => {});
      resolve({
        status: message.statusCode ?? 0,
        headers: message.headers,
        message,
        leave: () => request.destroy(),
      });
    });
    request.end(body);
  });
}

/** Sends one request on a connection of its own and reads the whole answer. */
export async function send(url: string | URL, options: SendOptions = {}): Promise<Answer> {
  const { status, headers, message } = await open(url, options);
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const text = body.toString('utf8');
  return { status, headers, rawHeaders: message.rawHeaders, body, text, json: () => JSON.parse(text) };
}

/**
 * Writes bytes to the server's port and gives everything it answers until it closes (`latin1` text): for
 * requests that no HTTP client would send. Say `Connection: close` where the server would keep it open.
 */
export function sendRaw(url: string | URL, bytes: string | Buffer, timeoutMs = 10_000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(new Error(`no end of the answer within ${timeoutMs} ms`)),
    );
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses early may reset the rest of what we write: what it said before counts.
    socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(bytes);
  });
}
