import type { Socket } from 'node:net';

/**
 * The private channel between a gateway and the companion that it spawned: many calls over one unix socket, each
 * with an id. A frame is `length u32 · type u8 · call u32 · payload`, little-endian; `length` counts the payload.
 * Frames of one turn of the event loop leave in one write, which is what makes it cheaper than a connection a call.
 */
export const FRAME = {
  /** Gateway's first: the token. */
  hello: 1,
  /** Gateway: `headLength u32 · JSON [method, path, ...header names and values] · body`. */
  call: 2,
  /** Gateway: the caller has left. */
  abort: 3,
  /** Gateway: `bytes u32` of the answer's body were taken by the caller. */
  credit: 4,
  /** Companion: JSON `[status, ...header names and values]`. */
  head: 5,
  /** Companion: bytes of the body. */
  data: 6,
  /** Companion: the answer is complete. */
  end: 7,
  /** Companion: `headLength u32 · JSON head · body`: a whole answer at once. */
  whole: 8,
  /** Companion: the answer was cut. */
  reset: 9,
} as const;

export type FrameType = (typeof FRAME)[keyof typeof FRAME];

/** Bytes of one answer that may be under way, untaken by its caller. */
export const WINDOW_BYTES = 256 * 1024;
/** Longer data is cut into frames of this size, so that calls take turns. */
export const DATA_BYTES = 32 * 1024;

const HEADER_BYTES = 9;
/** Larger than any request body that the gateway lets through; a longer frame is a broken peer. */
const LONGEST_FRAME = 1024 * 1024 * 1024;
const SLAB_BYTES = 256 * 1024;
/** A payload from this size on is written where it lies instead of being copied beside its neighbours. */
const COPY_BYTES = 16 * 1024;

export interface FrameWriter {
  /** A frame whose payload are the bytes, if any. */
  write(type: FrameType, call: number, bytes?: Uint8Array): void;
  /** A frame with a JSON head and a body (`call`, `whole`). */
  writeHeaded(type: FrameType, call: number, head: string, body?: Uint8Array): void;
}

/**
 * Writes frames to a socket, those of one turn of the event loop together: one system call for all of them.
 * @param isAlone whether nothing else can join a frame in this turn: then it leaves at once
 */
export function createFrameWriter(
  socket: Pick<Socket, 'write' | 'destroyed'>,
  isAlone: () => boolean,
): FrameWriter {
  let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  let sent = 0;
  let used = 0;
  let scheduled = false;

  function flushScheduled(): void {
    scheduled = false;
    flush();
  }

  function flush(): void {
    if (used === sent) return;
    const bytes = slab.subarray(sent, used);
    sent = used;
    if (!socket.destroyed) socket.write(bytes);
  }

  /** Makes room for `bytes` in a row. A slab is never written twice: the socket may still hold it. */
  function reserve(bytes: number): void {
    if (used + bytes > slab.length) {
      flush();
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes));
      sent = 0;
      used = 0;
    }
  }

  /** Sees to it that the frame just written leaves. */
  function depart(): void {
    if (isAlone()) {
      flush();
      return;
    }
    if (scheduled) return;
    scheduled = true;
    setImmediate(flushScheduled);
  }

  function header(length: number, type: FrameType, call: number): void {
    slab.writeUInt32LE(length, used);
    slab[used + 4] = type;
    slab.writeUInt32LE(call, used + 5);
    used += HEADER_BYTES;
  }

  function payload(bytes: Uint8Array): void {
    if (bytes.length < COPY_BYTES && used + bytes.length <= slab.length) {
      slab.set(bytes, used);
      used += bytes.length;
      return;
    }
    flush();
    if (!socket.destroyed) socket.write(bytes);
  }

  return {
    write(type, call, bytes) {
      const length = bytes?.length ?? 0;
      reserve(HEADER_BYTES + (length < COPY_BYTES ? length : 0));
      header(length, type, call);
      if (bytes !== undefined) payload(bytes);
      depart();
    },
    writeHeaded(type, call, head, body) {
      const headBytes = Buffer.byteLength(head);
      const bodyBytes = body?.length ?? 0;
      reserve(HEADER_BYTES + 4 + headBytes + (bodyBytes < COPY_BYTES ? bodyBytes : 0));
      header(4 + headBytes + bodyBytes, type, call);
      slab.writeUInt32LE(headBytes, used);
      used += 4 + slab.write(head, used + 4);
      if (body !== undefined) payload(body);
      depart();
    },
  };
}

/** Takes a JSON head and the body after it apart. */
export function splitHeaded(payload: Buffer): { head: unknown; body: Buffer } {
  const end = 4 + payload.readUInt32LE(0);
  return { head: JSON.parse(payload.toString('utf8', 4, end)), body: payload.subarray(end) };
}

/**
 * Puts frames together again from what a socket brings. A payload is a view of the bytes given, as good as
 * those are. The returned function throws on a frame that no peer of ours would send.
 * @param keep makes bytes last that wait for the next chunk, where the socket reads into the same buffer again
 */
export function createFrameReader(
  onFrame: (type: number, call: number, payload: Buffer) => void,
  keep: (bytes: Buffer) => Buffer = (bytes) => bytes,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let have = 0;
  let need = HEADER_BYTES;

  return (chunk) => {
    have += chunk.length;
    if (have < need) {
      parts.push(keep(chunk));
      return;
    }
    const bytes = parts.length === 0 ? chunk : Buffer.concat([...parts, chunk], have);
    let at = 0;
    need = HEADER_BYTES;
    while (bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUInt32LE(at);
      if (length > LONGEST_FRAME) throw new Error(`A frame of ${length} bytes`);
      const end = at + HEADER_BYTES + length;
      if (end > bytes.length) {
        need = HEADER_BYTES + length;
        break;
      }
      onFrame(bytes[at + 4] ?? 0, bytes.readUInt32LE(at + 5), bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    parts = at < bytes.length ? [keep(bytes.subarray(at))] : [];
    have = bytes.length - at;
  };
}
