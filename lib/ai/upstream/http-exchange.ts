import type { HttpConnections } from '../../http-client/http-connections.ts';
import {
  type Exchange,
  RedirectRefused,
  type ResponseHeaders,
  type UpstreamCall,
  type UpstreamHandler,
} from './upstream.ts';

/** What all calls to one provider share. */
export interface Route {
  /** The provider's own origin, whose credentials the calls carry. */
  origin: string;
  /** Put in front of every call's path. */
  basePath: string;
  maxRedirects: number;
  connectionsTo(origin: string): HttpConnections;
}

/** Headers that may follow a redirect to another origin. All others may carry the target's credentials. */
const HARMLESS = new Set(['content-type', 'accept', 'accept-encoding', 'user-agent', 'traceparent']);

const REDIRECTS = new Set([301, 302, 307, 308]);

/** One call over HTTP with its redirects. A class, because one shape for all calls keeps it cheap. */
export class HttpExchange implements Exchange, UpstreamHandler {
  readonly #route: Route;
  readonly #handler: UpstreamHandler;
  readonly #body: Buffer;
  #headers: readonly string[];
  #origin: string;
  #path: string;
  #redirects = 0;
  /** Where the answer that is being read points to. */
  #location: URL | undefined;
  #current: Exchange | undefined;
  #isOver = false;

  constructor(route: Route, call: UpstreamCall, handler: UpstreamHandler) {
    this.#route = route;
    this.#handler = handler;
    this.#body = call.body;
    this.#headers = call.headers;
    this.#origin = route.origin;
    this.#path = route.basePath + call.path;
    this.#send();
  }

  #send(): void {
    const request = { path: this.#path, headers: this.#headers, body: this.#body };
    const sent = this.#route.connectionsTo(this.#origin).send(request, this);
    if (!this.#isOver) this.#current = sent;
  }

  onHead(status: number, headers: ResponseHeaders): void {
    if (status >= 300 && status < 400) this.#redirect(status, headers);
    else this.#handler.onHead(status, headers);
  }

  onData(chunk: Buffer): void {
    if (this.#location === undefined) this.#handler.onData(chunk);
  }

  onEnd(): void {
    if (this.#location !== undefined) {
      this.#follow(this.#location);
      return;
    }
    this.#current = undefined;
    this.#handler.onEnd();
    // Not before: what goes wrong in there is told as an error.
    this.#isOver = true;
  }

  onError(error: Error): void {
    this.#fail(error);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#current?.abort();
    this.#current = undefined;
  }

  pause(): void {
    this.#current?.pause();
  }

  resume(): void {
    this.#current?.resume();
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.abort();
    this.#handler.onError(error);
  }

  /** Decides on a redirect; it is followed once its own body has ended. POST stays POST (RFC 9110 §15.4). */
  #redirect(status: number, headers: ResponseHeaders): void {
    const { location } = headers;
    const here = this.#origin + this.#path;
    const next =
      typeof location === 'string' && URL.canParse(location, here) ? new URL(location, here) : undefined;
    const isWeb = next?.protocol === 'https:' || (next?.protocol === 'http:' && here.startsWith('http:'));
    this.#redirects += 1;
    if (!REDIRECTS.has(status) || next === undefined || !isWeb) {
      this.#fail(new RedirectRefused(`Status ${status} with a Location that is not followed`));
    } else if (this.#redirects > this.#route.maxRedirects) {
      this.#fail(new RedirectRefused(`More than ${this.#route.maxRedirects} redirects`));
    } else {
      this.#location = next;
    }
  }

  #follow(next: URL): void {
    this.#location = undefined;
    if (next.origin !== this.#origin) {
      const kept: string[] = [];
      for (let index = 0; index + 1 < this.#headers.length; index += 2) {
        const name = this.#headers[index] ?? '';
        if (HARMLESS.has(name.toLowerCase())) kept.push(name, this.#headers[index + 1] ?? '');
      }
      this.#headers = kept;
    }
    this.#origin = next.origin;
    this.#path = next.pathname + next.search;
    this.#send();
  }
}
