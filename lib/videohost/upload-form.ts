import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { HubError, toHubError } from '../errors/hub-error.ts';
import { hasBody } from '../http/body.ts';
import { missing } from './metadata.ts';
import { formError, videoError } from './video-errors.ts';

/** Where the bytes of a file part go. A rejection ends the form with that error. */
export interface FileSink {
  write(chunks: readonly Buffer[]): Promise<void>;
  /** The part is whole. */
  end(): void | Promise<void>;
}

export interface FormHandlers {
  /** A text field, whole. May throw. */
  onField(name: string, value: string): void;
  /** A file part begins: gives its sink, or throws where it must not be there. */
  onFile(name: string, contentType: string): FileSink;
}

export interface FormOptions {
  target: string;
  /** Largest file of the form, in bytes. */
  maxFileSize: number;
  /** Milliseconds without a byte after which the form counts as abandoned; default 60,000. */
  idleTimeoutMs?: number;
  signal: AbortSignal;
}

/** A text field may hold this many bytes (contract §2). */
const LONGEST_FIELD = 64 * 1024;
const MOST_FIELDS = 64;
const MOST_FILES = 8;
/** Bytes that are gathered for one write: each costs a turn of the thread pool. */
const BATCH_SIZE = 1024 * 1024;
/** Bytes that may wait for the disk before the caller is slowed down. */
const MOST_WAITING = 4 * 1024 * 1024;
/** Bytes that busboy may hold; its default of 16 kB costs a turn of the event loop for each chunk of the socket. */
const BUFFER_SIZE = 1024 * 1024;
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Reads a multipart form (RFC 7578) in constant memory, its parts in any order. Resolves when the form and all its
 * sinks have ended.
 * @throws HubError naming the part that is at fault, or what a handler or sink threw
 */
export async function readForm(
  request: IncomingMessage,
  options: FormOptions,
  handlers: FormHandlers,
): Promise<void> {
  const { target, maxFileSize, signal, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const parser = createParser(request, target, maxFileSize);
  const writing: Promise<void>[] = [];
  let cleanUp = () => {};

  try {
    await new Promise<void>((resolve, reject) => {
      const idle = setTimeout(() => {
        reject(new HubError('request_timeout', 'The form did not arrive in time'));
      }, idleTimeoutMs);
      const stir = () => void idle.refresh();
      const leave = () => reject(signal.aborted ? signal.reason : callerLeft());
      const onClose = () => {
        if (!request.readableEnded) leave();
      };
      const tooMany = () => reject(formError(target, 'form', 'The form has too many parts'));
      cleanUp = () => {
        clearTimeout(idle);
        signal.removeEventListener('abort', leave);
        request.off('data', stir).off('close', onClose).off('error', leave);
        request.unpipe(parser);
        // A file part that is cut off reports it on its own stream too.
        parser.on('error', () => {}).destroy();
      };

      parser.on('field', (name: string | undefined, value, { valueTruncated }) => {
        attempt(() => {
          if (name === undefined) throw formError(target, 'form', 'A part of the form has no name');
          if (valueTruncated) throw tooLarge(target, name, LONGEST_FIELD);
          handlers.onField(name, value);
        });
      });
      parser.on('file', (name: string | undefined, file, { mimeType, filename }) => {
        file.on('error', () => {});
        file.on('limit', () => reject(tooLarge(target, name ?? 'form', maxFileSize)));
        attempt(() => {
          if (name === undefined) throw formError(target, 'form', 'A part of the form has no name');
          const open = () => handlers.onFile(name, mimeType);
          // A browser sends a file input that was left empty as a file without name and content.
          const sink = filename === undefined || filename === '' ? lazily(open) : open();
          const done = pour(file, sink, stir);
          writing.push(done);
          done.catch(reject);
        });
      });
      parser.on('fieldsLimit', tooMany).on('filesLimit', tooMany);
      parser.on('error', () => reject(formError(target, 'form', 'The form is malformed or cut off')));
      parser.on('close', () => Promise.all(writing).then(() => resolve(), reject));
      signal.addEventListener('abort', leave, { once: true });
      request.on('data', stir).on('close', onClose).on('error', leave);
      if (signal.aborted) leave();
      else request.pipe(parser);

      function attempt(work: () => void): void {
        try {
          work();
        } catch (error) {
          reject(error);
        }
      }
    });
  } catch (error) {
    throw error instanceof HubError ? error : toHubError(error);
  } finally {
    cleanUp();
    await Promise.allSettled(writing);
  }
}

function createParser(request: IncomingMessage, target: string, maxFileSize: number): busboy.Busboy {
  if (!hasBody(request)) throw missing(target, 'video');
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!/^multipart\/form-data\s*;/i.test(type) || encoding.toLowerCase() !== 'identity') {
    throw new HubError('unsupported_media_type', 'An upload is a form of type multipart/form-data', {
      param: encoding.toLowerCase() === 'identity' ? 'content-type' : 'content-encoding',
    });
  }
  try {
    return busboy({
      headers: request.headers,
      defParamCharset: 'utf8',
      highWaterMark: BUFFER_SIZE,
      fileHwm: BUFFER_SIZE,
      // It counts a part that just fits as cut off.
      limits: {
        fieldNameSize: 256,
        fieldSize: LONGEST_FIELD + 1,
        fields: MOST_FIELDS,
        files: MOST_FILES,
        fileSize: maxFileSize + 1,
        headerPairs: 32,
      },
    });
  } catch (cause) {
    throw videoError('invalid_request', 'The content type of the form lacks its boundary', {
      target,
      param: 'content-type',
      reason: 'invalid_form',
      hint: 'Let the client write the Content-Type of the form itself.',
      cause,
    });
  }
}

/** A part that is over its limit. */
export function tooLarge(target: string, param: string, limit: number): HubError {
  return videoError('body_too_large', `The field ${param} is larger than ${limit} bytes`, {
    target,
    param,
    details: { limit },
    reason: 'too_large',
    hint: `Send a smaller ${param}, or raise its limit under videohost.upload.`,
  });
}

function callerLeft(): HubError {
  return new HubError('client_closed_request', 'The caller left while sending the form');
}

/** A sink that is opened by its first byte; without one there was no file. */
function lazily(open: () => FileSink): FileSink {
  let sink: FileSink | undefined;
  return {
    async write(chunks) {
      sink ??= open();
      await sink.write(chunks);
    },
    async end() {
      await sink?.end();
    },
  };
}

/** Writes a file part to its sink, many chunks at once, and slows the caller down while the disk is behind. */
function pour(file: Readable, sink: FileSink, onWritten: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    let isWriting = false;
    let isScheduled = false;
    let hasEnded = false;

    async function write(): Promise<void> {
      isWriting = true;
      while (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        waitingBytes = 0;
        file.resume();
        await sink.write(batch);
        onWritten();
      }
      isWriting = false;
      if (!hasEnded) return;
      await sink.end();
      resolve();
    }
    const start = () => {
      if (!isWriting) write().catch(fail);
    };
    const fail = (error: unknown) => {
      file.off('data', onData);
      file.resume();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes >= MOST_WAITING) file.pause();
      if (waitingBytes >= BATCH_SIZE) start();
      else if (!isScheduled) {
        // What else this turn of the event loop brings goes into the same write.
        isScheduled = true;
        setImmediate(() => {
          isScheduled = false;
          start();
        });
      }
    };
    file.on('data', onData);
    file.once('end', () => {
      hasEnded = true;
      start();
    });
    file.once('close', () => {
      if (!hasEnded) fail(callerLeft());
    });
  });
}
