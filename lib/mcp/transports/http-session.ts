import type { IncomingHttpHeaders } from 'node:http';
import type { HttpClient } from './http-client.ts';

/** Where messages go and what goes with each of them, as it is learned from the server. */
export interface HttpSession {
  url(): URL;
  /** Follows the endpoint to another address of the same origin; false when it may not or was moved too often. */
  moved(status: number, location: string | undefined): boolean;
  /** Headers of the next request. */
  headers(accept: string): Record<string, string>;
  /** Takes over the session id of the answer to initialize. */
  opened(headers: IncomingHttpHeaders): void;
  negotiated(protocolVersion: string): void;
  isNegotiated(): boolean;
  /** Whether the server has given out a session id. */
  hasId(): boolean;
  /** Ends the session at the server; a courtesy with a short limit, never rejects. */
  farewell(timeoutMs: number): Promise<void>;
}

const SESSION_HEADER = 'mcp-session-id';
const MAX_MOVES = 3;

/** @param configured the operator's headers, e.g. Authorization; they win over ours but for the protocol's own */
export function createHttpSession(
  http: HttpClient,
  address: string,
  configured: Readonly<Record<string, string>>,
): HttpSession {
  const own = Object.fromEntries(
    Object.entries(configured).map(([name, value]) => [name.toLowerCase(), value]),
  );
  let url = new URL(address);
  let moves = 0;
  let id: string | undefined;
  let version: string | undefined;

  function headers(accept: string): Record<string, string> {
    return {
      'user-agent': 'hub',
      ...own,
      accept,
      ...(id !== undefined && { [SESSION_HEADER]: id }),
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    };
  }

  return {
    url: () => url,
    moved(status, location) {
      const isMove = (status === 307 || status === 308) && location !== undefined;
      if (!isMove || moves >= MAX_MOVES || !URL.canParse(location, url.href)) return false;
      const target = new URL(location, url);
      // Credentials go with every message: never to another origin.
      if (target.origin !== url.origin) return false;
      moves += 1;
      url = target;
      return true;
    },
    headers,
    opened(received) {
      const given = received[SESSION_HEADER];
      if (version === undefined && typeof given === 'string') id = given;
    },
    negotiated(protocolVersion) {
      version = protocolVersion;
    },
    isNegotiated: () => version !== undefined,
    hasId: () => id !== undefined,
    farewell(timeoutMs) {
      if (id === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        const exchange = http.send(
          { method: 'DELETE', url, headers: headers('application/json') },
          { head: () => done(), data() {}, end: () => done(), error: () => done() },
        );
        const timer = setTimeout(done, timeoutMs);
        function done(): void {
          clearTimeout(timer);
          exchange.abort();
          resolve();
        }
      });
    },
  };
}
