import { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import { DATA_BYTES, FRAME, type FrameWriter, WINDOW_BYTES } from '../lib/companion-client/channel/frames.ts';
import type { InternalRequest, InternalResponse } from '../lib/companion-client/internal-route.ts';

/**
 * A call that came over the channel. No request of node:http: its body is all there, so that the machinery of a stream,
 * which costs as much as the whole way through the channel, has nothing to do.
 */
export class ChannelRequest implements InternalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders = {};
  readonly complete = true;
  #body: Buffer | null;

  /** @param head flat list: method, path, then names (in lower case) and values of headers */
  constructor(head: readonly string[], body: Buffer) {
    this.method = head[0] ?? 'GET';
    this.url = head[1] ?? '/';
    const { headers } = this;
    for (let index = 2; index + 1 < head.length; index += 2) headers[head[index] as string] = head[index + 1];
    this.#body = body.length > 0 ? body : null;
    if (body.length > 0) headers['content-length'] = String(body.length);
  }

  get readableLength(): number {
    return this.#body?.length ?? 0;
  }

  read(): Buffer | null {
    const body = this.#body;
    this.#body = null;
    return body;
  }

  // Nothing comes any more that somebody could listen to.
  on(): this {
    return this;
  }

  off(): this {
    return this;
  }

  pause(): this {
    return this;
  }
}

type Head = [status: number, ...headers: (string | number)[]];

/** The answer to such a call, in frames. */
export class ChannelResponse extends EventEmitter implements InternalResponse {
  readonly #writer: FrameWriter;
  readonly #id: number;
  readonly #onOver: (id: number) => void;
  /** Waits for the first byte, to leave with it. */
  #head: Head | undefined;
  #headIsOut = false;
  /** Bytes that the caller has not taken yet. */
  #underWay = 0;
  #needsDrain = false;
  writableEnded = false;
  destroyed = false;

  constructor(writer: FrameWriter, id: number, onOver: (id: number) => void) {
    super();
    this.#writer = writer;
    this.#id = id;
    this.#onOver = onOver;
  }

  get headersSent(): boolean {
    return this.#head !== undefined;
  }

  /** What the channel has taken counts as sent. */
  get writableFinished(): boolean {
    return this.writableEnded;
  }

  get writableLength(): number {
    return this.#underWay;
  }

  writeHead(status: number, headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]): this {
    if (this.#head !== undefined) throw new Error('The head of this answer is written already');
    const head: Head = [status];
    if (Array.isArray(headers)) {
      for (let index = 0; index + 1 < headers.length; index += 2)
        append(head, String(headers[index]), headers[index + 1]);
    } else for (const name in headers) append(head, name, headers[name]);
    this.#head = head;
    return this;
  }

  flushHeaders(): void {
    if (this.#head === undefined) this.writeHead(200);
    this.#sendHead();
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.writableEnded || this.destroyed) return false;
    const bytes = toBytes(chunk);
    this.flushHeaders();
    for (let at = 0; at < bytes.length; at += DATA_BYTES) {
      this.#writer.write(FRAME.data, this.#id, bytes.subarray(at, at + DATA_BYTES));
    }
    this.#underWay += bytes.length;
    this.#needsDrain = this.#underWay > WINDOW_BYTES;
    return !this.#needsDrain;
  }

  end(chunk?: string | Uint8Array): this {
    if (this.writableEnded || this.destroyed) return this;
    if (this.#head === undefined) this.writeHead(200);
    const bytes = chunk === undefined ? undefined : toBytes(chunk);
    if (!this.#headIsOut && (bytes?.length ?? 0) <= WINDOW_BYTES) {
      this.#headIsOut = true;
      this.#writer.writeHeaded(FRAME.whole, this.#id, JSON.stringify(this.#head), bytes);
    } else {
      if (bytes !== undefined) this.write(bytes);
      this.#sendHead();
      this.#writer.write(FRAME.end, this.#id);
    }
    this.writableEnded = true;
    this.#onOver(this.#id);
    process.nextTick(close, this);
    return this;
  }

  /** Cuts the answer: the caller learns that it is not whole. */
  destroy(): this {
    if (this.destroyed) return this;
    if (!this.writableEnded) this.#writer.write(FRAME.reset, this.#id);
    this.leave();
    return this;
  }

  /** The caller has left, or the channel is gone: nothing more is sent. */
  leave(): void {
    this.#onOver(this.#id);
    close(this);
  }

  /** The caller has taken so many bytes. */
  credit(bytes: number): void {
    this.#underWay -= bytes;
    if (!this.#needsDrain || this.#underWay > WINDOW_BYTES / 2) return;
    this.#needsDrain = false;
    this.emit('drain');
  }

  #sendHead(): void {
    if (this.#headIsOut) return;
    this.#headIsOut = true;
    this.#writer.write(FRAME.head, this.#id, Buffer.from(JSON.stringify(this.#head)));
  }
}

function close(response: ChannelResponse): void {
  if (response.destroyed) return;
  response.destroyed = true;
  response.emit('close');
}

function append(head: Head, name: string, value: OutgoingHttpHeader | undefined): void {
  if (value === undefined) return;
  if (Array.isArray(value)) for (const one of value) head.push(name, one);
  else head.push(name, String(value));
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
