import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { DATA_BYTES, FRAME, type FrameWriter, WINDOW_BYTES } from '../lib/companion-client/channel/frames.ts';

/** Stands where Node expects a connection; nothing is ever read from or written to it. */
const NO_SOCKET = new Socket();

/** A call that came over the channel, as the request that every internal route knows. Its body is all there. */
export class ChannelRequest extends IncomingMessage {
  constructor(method: string, path: string, rawHeaders: string[], body: Buffer) {
    super(NO_SOCKET);
    this.method = method;
    this.url = path;
    this.httpVersion = '1.1';
    this.rawHeaders = rawHeaders;
    const { headers } = this;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      headers[rawHeaders[index] as string] = rawHeaders[index + 1];
    }
    if (body.length > 0) {
      headers['content-length'] = String(body.length);
      this.push(body);
    }
    this.push(null);
    this.complete = true;
  }

  override _read(): void {}

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    callback(error);
  }
}

type Head = [status: number, ...headers: (string | number)[]];

/** The answer to such a call: the response that internal routes know, in frames instead of HTTP. */
export class ChannelResponse extends ServerResponse {
  readonly #writer: FrameWriter;
  readonly #id: number;
  /** The head while it waits for the first byte, to leave with it. */
  #head: Head | undefined;
  #headIsOut = false;
  /** Bytes that the caller has not taken yet. */
  #underWay = 0;
  #needsDrain = false;
  readonly #onOver: (id: number) => void;

  constructor(request: ChannelRequest, writer: FrameWriter, id: number, onOver: (id: number) => void) {
    super(request);
    this.#writer = writer;
    this.#id = id;
    this.#onOver = onOver;
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    if (this.headersSent) throw new Error('The head of this answer is written already');
    const headers = typeof rest[0] === 'string' ? rest[1] : rest[0];
    const head: Head = [status];
    for (const [name, value] of Object.entries(this.getHeaders())) append(head, name, value);
    if (Array.isArray(headers)) {
      for (let index = 0; index + 1 < headers.length; index += 2)
        append(head, headers[index], headers[index + 1]);
    } else if (headers) {
      for (const [name, value] of Object.entries(headers)) append(head, name, value);
    }
    this.#head = head;
    markHeadSent(this);
    return this;
  }

  override flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    this.#sendHead();
  }

  override write(chunk: unknown, encoding?: unknown, _callback?: unknown): boolean {
    if (this.writableEnded || this.destroyed) return false;
    if (!this.headersSent) this.writeHead(this.statusCode);
    const bytes = toBytes(chunk, encoding);
    this.#sendHead();
    for (let at = 0; at < bytes.length; at += DATA_BYTES) {
      this.#writer.write(FRAME.data, this.#id, bytes.subarray(at, at + DATA_BYTES));
    }
    this.#underWay += bytes.length;
    this.#needsDrain = this.#underWay > WINDOW_BYTES;
    return !this.#needsDrain;
  }

  override end(chunk?: unknown, encoding?: unknown, _callback?: unknown): this {
    if (this.writableEnded || this.destroyed) return this;
    if (!this.headersSent) this.writeHead(this.statusCode);
    const bytes = typeof chunk === 'function' || chunk == null ? undefined : toBytes(chunk, encoding);
    if (!this.#headIsOut && (bytes?.length ?? 0) <= WINDOW_BYTES) {
      this.#headIsOut = true;
      this.#writer.writeHeaded(FRAME.whole, this.#id, JSON.stringify(this.#head), bytes);
    } else {
      if (bytes !== undefined) this.write(bytes);
      this.#sendHead();
      this.#writer.write(FRAME.end, this.#id);
    }
    markEnded(this);
    this.#onOver(this.#id);
    process.nextTick(() => {
      this.emit('finish');
      this.#close();
    });
    return this;
  }

  /** Cuts the answer: the caller learns that it is not whole. */
  override destroy(_error?: Error): this {
    if (this.destroyed) return this;
    if (!this.writableEnded) this.#writer.write(FRAME.reset, this.#id);
    this.leave();
    return this;
  }

  /** The caller has left, or the channel is gone: nothing more is sent. */
  leave(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#onOver(this.#id);
    this.emit('close');
  }

  /** The caller has taken so many bytes. */
  credit(bytes: number): void {
    this.#underWay -= bytes;
    if (!this.#needsDrain || this.#underWay > WINDOW_BYTES / 2) return;
    this.#needsDrain = false;
    this.emit('drain');
  }

  /** Bytes that wait for the caller; what `writableLength` tells of a connection. */
  get bytesUnderWay(): number {
    return this.#underWay;
  }

  #sendHead(): void {
    if (this.#headIsOut) return;
    this.#headIsOut = true;
    this.#writer.write(FRAME.head, this.#id, Buffer.from(JSON.stringify(this.#head)));
  }

  #close(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

// Types declare it as a plain property, which a class may not override by an accessor.
Object.defineProperty(ChannelResponse.prototype, 'writableLength', {
  get(this: ChannelResponse) {
    return this.bytesUnderWay;
  },
});

function append(head: Head, name: string, value: unknown): void {
  if (value === undefined) return;
  if (Array.isArray(value)) for (const one of value) head.push(name, String(one));
  else head.push(name, String(value));
}

function toBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk !== 'string') return chunk as Uint8Array;
  return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
}

/** `headersSent` and `writableEnded` are told by these two fields of Node's outgoing messages. */
function markHeadSent(response: ServerResponse): void {
  (response as unknown as { _header: string })._header = 'sent over the channel';
}

function markEnded(response: ServerResponse): void {
  (response as unknown as { finished: boolean }).finished = true;
}
