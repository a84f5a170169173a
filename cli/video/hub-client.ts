import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandFault } from './command-fault.ts';

/** The hub at one address. */
export interface HubClient {
  url: string;
  /** The JSON of a successful answer. @throws CommandFault with the hub's message and hint */
  call<T>(call: HubCall): Promise<T>;
}

export interface HubCall {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  /** Bytes that are sent as they come. */
  body?: AsyncIterable<Buffer>;
  signal: AbortSignal;
}

/** The connection failed, or the hub is about to stop: the call may be repeated. */
export class HubUnreachable extends CommandFault {}

export function createHubClient(url: string, token: string | undefined): HubClient {
  if (!URL.canParse(url)) throw new CommandFault(`${url} is not an address`, { isUsage: true });
  const send = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest;

  function exchange({ method, path, headers, body, signal }: HubCall): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = send(new URL(path, url), {
        method,
        signal,
        headers: {
          accept: 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...headers,
        },
      });
      request.once('response', resolve);
      request.once('error', (error) => {
        reject(signal.aborted ? signal.reason : new HubUnreachable(`The hub at ${url}: ${error.message}`));
      });
      // A refusal may come, and the connection end, before everything is sent: the answer counts.
      if (body === undefined) request.end();
      else pipeline(Readable.from(body), request).catch(() => {});
    });
  }

  return {
    url,
    async call<T>(call: HubCall) {
      const answer = await exchange(call);
      let text = '';
      for await (const chunk of answer) text += chunk;
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) return JSON.parse(text) as T;
      const message = faultText(status, text);
      throw status === 503 ? new HubUnreachable(message) : new CommandFault(message);
    },
  };
}

function faultText(status: number, text: string): string {
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string; hint?: string } };
    return [`${error.message} (${status} ${error.code})`, error.hint].filter(Boolean).join('\n');
  } catch {
    return `The hub answered ${status}`;
  }
}
