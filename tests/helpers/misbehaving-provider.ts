import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as the provider got it. */
export interface ReceivedRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Resolves when the hub's connection has closed or the answer is complete; true when it was cut. */
  left: Promise<boolean>;
}

/** One way to answer. */
export type Behaviour = (response: ServerResponse, received: ReceivedRequest) => void | Promise<void>;

export interface MisbehavingProvider {
  /** With the path `/v1`, as `openai-compatible` wants it. */
  baseUrl: string;
  /** The bare origin. */
  origin: string;
  received: ReceivedRequest[];
  /** Resolves with request number `index` as soon as its body is there. */
  request(index: number): Promise<ReceivedRequest>;
  /** Behaviours of the next requests, in turn; the last one stays. */
  will(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

/** A provider in OpenAI's protocol that does as it is told. Listens on a free port of 127.0.0.1. */
export async function startMisbehavingProvider(...first: Behaviour[]): Promise<MisbehavingProvider> {
  let behaviours: Behaviour[] = first;
  const received: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    const left = new Promise<boolean>((resolve) => {
      response.on('close', () => resolve(!response.writableFinished));
    });
    const body = await readAll(request);
    const record: ReceivedRequest = { url: request.url ?? '', headers: request.headers, body, left };
    received.push(record);
    for (const check of waiting) check();
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    await behaviour?.(response, record);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    baseUrl: `${origin}/v1`,
    received,
    request: (index) =>
      new Promise((resolve) => {
        const check = () => {
          const found = received[index];
          if (found === undefined) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    will(...next) {
      behaviours = next;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The hub went away while it sent.
  }
  return Buffer.concat(chunks);
}

const SSE = { 'content-type': 'text/event-stream' };

/** A chunk of a chat stream, without line ends. */
export function chunk(content: string, finishReason: string | null = null, more: object = {}): string {
  return `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'model-of-the-provider',
    choices: [{ index: 0, delta: content === '' ? {} : { content }, finish_reason: finishReason }],
    ...more,
  })}`;
}

export const usageChunk = (
  usage: object = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'model-of-the-provider',
    choices: [],
    usage,
  })}`;

export const DONE = 'data: [DONE]';

/** The bytes of events, each followed by a blank line. */
export function events(lines: readonly string[], lineEnd = '\n'): string {
  return lines.map((line) => line + lineEnd + lineEnd).join('');
}

/** A proper answer that is not streamed. */
export const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'model-of-the-provider',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
};

/** Answers with any status and body. Objects are serialised. */
export function answers(
  status: number,
  body: unknown,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Behaviour {
  return (response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
}

/** Streams pieces, cut as given, `gapMs` apart, and ends cleanly. */
export function streams(pieces: readonly (string | Buffer)[], gapMs = 0): Behaviour {
  return async (response, { left }) => {
    let isGone = false;
    void left.then(() => {
      isGone = true;
    });
    response.writeHead(200, SSE);
    response.flushHeaders();
    for (const piece of pieces) {
      if (isGone) return;
      response.write(piece);
      await pause(gapMs);
    }
    response.end();
  };
}

/** Streams pieces and then falls silent, with the connection open. */
export function streamsThenHangs(pieces: readonly string[]): Behaviour {
  return (response) => {
    response.writeHead(200, SSE);
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
  };
}

/** Streams pieces and then resets the connection. */
export function streamsThenDies(pieces: readonly string[]): Behaviour {
  return async (response) => {
    response.writeHead(200, SSE);
    response.flushHeaders();
    for (const piece of pieces) response.write(piece);
    // Let the bytes leave before the connection is torn down.
    await pause(20);
    response.socket?.resetAndDestroy();
  };
}

/** Takes the request and says nothing. */
export const hangs: Behaviour = () => {};

/** Sends its headers and says nothing more. */
export function hangsAfterHeaders(status = 200, headers: Record<string, string> = SSE): Behaviour {
  return (response) => {
    response.writeHead(status, headers);
    response.flushHeaders();
  };
}

/** Tears the connection down without an answer. */
export const resets: Behaviour = (response) => {
  response.socket?.resetAndDestroy();
};

/** Promises more than it sends, and closes. */
export function breaksOff(body: string): Behaviour {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length + 10 });
    response.write(body);
    setTimeout(() => response.socket?.end(), 10);
  };
}

/** Sends comments for ever. */
export function heartbeats(everyMs: number): Behaviour {
  return (response, { left }) => {
    response.writeHead(200, SSE);
    const timer = setInterval(() => response.write(': heartbeat\n\n'), everyMs);
    void left.then(() => clearInterval(timer));
  };
}

/** Sends one line that never ends, as fast as it is read. */
export function endlessLine(before: readonly string[] = []): Behaviour {
  return (response, { left }) => {
    let isGone = false;
    void left.then(() => {
      isGone = true;
    });
    response.writeHead(200, SSE);
    for (const piece of before) response.write(piece);
    response.write('data: "');
    const block = Buffer.alloc(256 * 1024, 'x');
    const more = () => {
      while (!isGone && response.write(block));
      if (!isGone) response.once('drain', more);
    };
    more();
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}
