import type { Dispatcher } from 'undici';
import {
  ConnectTimeout,
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
  /** ms */
  connectTimeout: number;
  dispatcherFor(origin: string): Dispatcher;
}

/** Headers that may follow a redirect to another origin. All others may carry the target's credentials. */
const HARMLESS = new Set(['content-type', 'accept', 'accept-encoding', 'user-agent', 'traceparent']);

const REDIRECTS = new Set([301, 302, 307, 308]);

/**
 * One call over HTTP with its redirects and its connect clock. A class, because undici calls it, and one shape for
 * all calls keeps that cheap.
 */
export class HttpExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #route: Route;
  readonly #handler: UpstreamHandler;
  readonly #body: Buffer;
  #headers: readonly string[];
  #origin: string;
  #path: string;
  #redirects = 0;
  /** Where the answer that is being read points to. */
  #location: URL | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #connectTimer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(route: Route, call: UpstreamCall, handler: UpstreamHandler) {
    this.#route = route;
    this.#handler = handler;
    this.#body = call.body;
    this.#headers = call.headers;
    this.#origin = route.origin;
    this.#path = route.basePath + call.path;
    this.#dispatch();
  }

  #dispatch(): void {
    this.#controller = undefined;
    this.#route.dispatcherFor(this.#origin).dispatch(
      {
        origin: this.#origin,
        path: this.#path,
        method: 'POST',
        headers: this.#headers as string[],
        body: this.#body,
      },
      this,
    );
    // undici looks once more at an idle connection before it uses it, in an immediate of its own that comes before
    // this one. With a free connection the request has started by then, and no clock is needed.
    if (this.#controller === undefined && !this.#isOver) setImmediate(startConnectClock, this);
  }

  /** Only for a call that has to wait for a connection: a timer for each call costs more than a look at each. */
  startConnectClock(): void {
    if (this.#controller !== undefined || this.#isOver || this.#connectTimer !== undefined) return;
    this.#connectTimer = setTimeout(() => {
      this.#fail(new ConnectTimeout('No connection in time'));
    }, this.#route.connectTimeout);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#stopConnectTimer();
    // Aborted while it waited for a connection.
    if (this.#isOver) controller.abort(new Error('The call is over'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (this.#isOver || status < 200) return;
    if (status >= 300 && status < 400) this.#redirect(status, headers);
    else this.#handler.onHead(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver && this.#location === undefined) this.#handler.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#location !== undefined) {
      this.#follow(this.#location);
      return;
    }
    this.#isOver = true;
    this.#controller = undefined;
    this.#handler.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopConnectTimer();
    this.#controller?.abort(new Error('The call is over'));
    this.#controller = undefined;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.abort();
    this.#handler.onError(error);
  }

  #stopConnectTimer(): void {
    if (this.#connectTimer === undefined) return;
    clearTimeout(this.#connectTimer);
    this.#connectTimer = undefined;
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
    this.#dispatch();
  }
}

function startConnectClock(exchange: HttpExchange): void {
  exchange.startConnectClock();
}
