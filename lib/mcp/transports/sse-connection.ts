import { ToolFailure } from '../failure.ts';
import type { HttpClient, HttpExchange } from './http-client.ts';
import { httpFailure } from './http-failure.ts';
import { networkFailure } from './network-failure.ts';
import { createSseParser } from './sse-parser.ts';

/** The older HTTP+SSE transport (MCP 2024-11-05): one stream for all answers, messages posted beside it. */
export interface SseConnection {
  post(text: string, id?: number): void;
  close(): void;
}

export interface SseConnectionDeps {
  http: HttpClient;
  url: URL;
  headers(): Record<string, string>;
  maxMessageLength: number;
  message(text: string): void;
  requestFailed(id: number, failure: ToolFailure): void;
  /** The stream is gone; `stood` says whether it ever carried an endpoint. */
  closed(failure: ToolFailure, stood: boolean): void;
}

/** Opens the stream; messages posted before the server has named its endpoint wait for it. */
export function openSseConnection(deps: SseConnectionDeps): SseConnection {
  const { http } = deps;
  let endpoint: URL | undefined;
  let waiting: { text: string; id: number | undefined }[] = [];
  let status = 0;
  let over = false;

  const parser = createSseParser({
    maxLength: deps.maxMessageLength,
    event: ({ name, data }) => {
      if (name === 'endpoint') found(data);
      else if (name === 'message') deps.message(data);
    },
    overflow: () => end(new ToolFailure('protocol', 'result_too_large', 'A message was too large')),
  });
  const stream: HttpExchange = http.send(
    { method: 'GET', url: deps.url, headers: deps.headers() },
    {
      head: (code) => {
        status = code;
      },
      data: (chunk) => {
        if (status === 200) parser.push(chunk);
      },
      end: () => end(status === 200 ? streamEnded() : httpFailure(status, undefined, false)),
      error: (error) => end(networkFailure(error)),
    },
  );

  function found(address: string): void {
    if (endpoint !== undefined) return;
    // Credentials go with every message: the endpoint must not lead elsewhere.
    if (!URL.canParse(address, deps.url.href) || new URL(address, deps.url).origin !== deps.url.origin) {
      end(new ToolFailure('protocol', 'bad_endpoint', 'The tool server named an endpoint of another origin'));
      return;
    }
    endpoint = new URL(address, deps.url);
    const first = waiting;
    waiting = [];
    for (const { text, id } of first) post(text, id);
  }

  function end(failure: ToolFailure): void {
    if (over) return;
    over = true;
    stream.abort();
    deps.closed(failure, endpoint !== undefined);
  }

  function post(text: string, id?: number): void {
    if (over) return;
    if (endpoint === undefined) {
      waiting.push({ text, id });
      return;
    }
    let code = 0;
    const fail = (failure: ToolFailure) => {
      if (id !== undefined) deps.requestFailed(id, failure);
    };
    http.send(
      {
        method: 'POST',
        url: endpoint,
        headers: { ...deps.headers(), 'content-type': 'application/json' },
        body: text,
      },
      {
        head: (received) => {
          code = received;
        },
        data() {},
        end: () => {
          if (code >= 300) fail(httpFailure(code, undefined, false));
        },
        error: (error) => fail(networkFailure(error)),
      },
    );
  }

  return {
    post,
    close() {
      over = true;
      stream.abort();
    },
  };
}

function streamEnded(): ToolFailure {
  return new ToolFailure('transport', 'connection_lost', 'The tool server closed its event stream');
}
