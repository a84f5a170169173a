import { connect, type Socket } from 'node:net';
import {
  createFrameReader,
  createFrameWriter,
  FRAME,
  type FrameWriter,
  splitHeaded,
  WINDOW_BYTES,
} from './frames.ts';

/** A call over the channel. */
export interface ChannelCall {
  method: string;
  path: string;
  /** Flat list of names and values. */
  headers: readonly string[];
  body: Buffer | null;
}

/** Whoever takes the answer, in the terms of an undici handler, so that one relay serves both ways. */
export interface AnswerHandler {
  onConnect(abort: (reason?: Error) => void): void;
  onHeaders(status: number, rawHeaders: readonly string[], resume: () => void): boolean;
  /** False pauses: the bytes count as taken when `resume` is called. */
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  /** The three above at once, of an answer that came whole. The body is good only during the call. */
  onWhole(status: number, rawHeaders: readonly string[], body: Buffer): void;
  onError(error: Error): void;
}

export interface Channel {
  dispatch(call: ChannelCall, handler: AnswerHandler): void;
  /** Cuts every call and closes the socket. */
  destroy(): void;
}

interface OpenCall {
  handler: AnswerHandler;
  paused: boolean;
  /** Bytes that the handler got and the companion was not told of. */
  owed: number;
}

/** Bytes of one read; answers of many calls may come in one. */
const READ_BYTES = 256 * 1024;
/** Small chunks of a stream are acknowledged together. Less than what is left when the companion waits. */
const CREDIT_BYTES = WINDOW_BYTES / 4;

/** The gateway's end of the private channel. Connects at the first call, and anew after the companion has gone. */
export function createChannel(options: { socketPath: string; token: string }): Channel {
  let connection: { socket: Socket; writer: FrameWriter; calls: Map<number, OpenCall> } | undefined;
  let lastId = 0;
  const credit = Buffer.alloc(4);

  function open(): NonNullable<typeof connection> {
    const calls = new Map<number, OpenCall>();
    // Read into one buffer again and again: a stream would make a new one, and a turn of its own, for each answer.
    const socket = connect({
      path: options.socketPath,
      onread: {
        buffer: Buffer.allocUnsafeSlow(READ_BYTES),
        callback(length, buffer) {
          try {
            read((buffer as Buffer).subarray(0, length));
          } catch (error) {
            socket.destroy(error as Error);
          }
          return true;
        },
      },
    });
    const writer = createFrameWriter(socket, () => calls.size <= 1);
    const opened = { socket, writer, calls };
    let failure: Error | undefined;

    const read = createFrameReader(
      (type, id, payload) => {
        const call = calls.get(id);
        if (call !== undefined) take(opened, id, call, type, payload);
      },
      (bytes) => Buffer.from(bytes),
    );
    socket.on('error', (error) => {
      failure = error;
    });
    socket.on('close', () => {
      if (connection === opened) connection = undefined;
      const reason = failure ?? new Error('The channel to AI-Link was closed');
      for (const { handler } of calls.values()) handler.onError(reason);
      calls.clear();
    });
    writer.write(FRAME.hello, 0, Buffer.from(options.token, 'latin1'));
    return opened;
  }

  function take(
    { writer, calls }: NonNullable<typeof connection>,
    id: number,
    call: OpenCall,
    type: number,
    payload: Buffer,
  ): void {
    const { handler } = call;
    const acknowledge = () => {
      if (call.paused || call.owed < CREDIT_BYTES || !calls.has(id)) return;
      credit.writeUInt32LE(call.owed);
      call.owed = 0;
      writer.write(FRAME.credit, id, credit);
    };
    const resume = () => {
      call.paused = false;
      acknowledge();
    };
    switch (type) {
      case FRAME.whole: {
        calls.delete(id);
        const { head, body } = splitHeaded(payload);
        const [status, ...headers] = head as [number, ...string[]];
        handler.onWhole(status, headers, body);
        return;
      }
      case FRAME.head: {
        const [status, ...headers] = JSON.parse(payload.toString()) as [number, ...string[]];
        handler.onHeaders(status, headers, resume);
        return;
      }
      case FRAME.data:
        call.owed += payload.length;
        if (!handler.onData(Buffer.from(payload))) call.paused = true;
        acknowledge();
        return;
      case FRAME.end:
        calls.delete(id);
        handler.onComplete();
        return;
      case FRAME.reset:
        calls.delete(id);
        handler.onError(new Error('AI-Link cut the answer'));
        return;
      default:
        throw new Error(`A frame of type ${type}`);
    }
  }

  return {
    dispatch(request, handler) {
      connection ??= open();
      const { writer, calls } = connection;
      lastId = (lastId + 1) >>> 0;
      const id = lastId;
      const call: OpenCall = { handler, paused: false, owed: 0 };
      calls.set(id, call);
      handler.onConnect((reason) => {
        if (!calls.delete(id)) return;
        writer.write(FRAME.abort, id);
        handler.onError(reason ?? new Error('aborted'));
      });
      if (!calls.has(id)) return;
      const head = JSON.stringify([request.method, request.path, ...request.headers]);
      writer.writeHeaded(FRAME.call, id, head, request.body ?? undefined);
    },
    destroy() {
      connection?.socket.destroy();
    },
  };
}
