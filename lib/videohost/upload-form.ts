import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import busboy from 'busboy';
import { HubError, toHubError } from '../errors/hub-error.ts';
import { hasBody } from '../http/body.ts';
import { createDelimiterWatch } from './delimiter-watch.ts';
import { createFormFile, type FileSink, type FormFile, lazySink } from './form-file.ts';
import { missing } from './metadata.ts';
import { formError, videoError } from './video-errors.ts';

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
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Reads a multipart form (RFC 7578) in constant memory, its parts in any order. Resolves when the form and all its
 * sinks have ended.
 *
 * busboy reads what a form is made of. The midst of a file holds nothing for it to find, and goes past it: that halves
 * what a large video costs here.
 * @throws HubError naming the part that is at fault, or what a handler or sink threw
 */
export async function readForm(
  request: IncomingMessage,
  options: FormOptions,
  handlers: FormHandlers,
): Promise<void> {
  const { target, maxFileSize, signal, idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const parser = createParser(request, target);
  const isContent = createDelimiterWatch();
  const writing: Promise<void>[] = [];
  /** The part whose bytes are coming. */
  let current: FormFile | undefined;
  let cleanUp = () => {};

  try {
    await new Promise<void>((resolve, reject) => {
      const idle = setTimeout(() => {
        reject(new HubError('request_timeout', 'The form did not arrive in time'));
      }, idleTimeoutMs);
      const leave = () => reject(signal.aborted ? signal.reason : callerLeft());
      const onClose = () => {
        if (!request.readableEnded) leave();
      };
      const tooMany = () => reject(formError(target, 'form', 'The form has too many parts'));

      /** Slows the caller down while parser or disk are behind. */
      const flow = () => {
        if (isBehind()) request.pause();
        else request.resume();
      };
      const isBehind = () => parser.writableNeedDrain || current?.isFull === true;
      const onData = (chunk: Buffer) => {
        idle.refresh();
        // Unless something waits within the parser, which must come first.
        if (isContent(chunk) && current !== undefined && parser.writableLength === 0) current.take(chunk);
        else parser.write(chunk);
        if (isBehind()) request.pause();
      };
      const onEnd = () => {
        parser.end();
        // busboy would wait for good for the end of a file that has none.
        if (current !== undefined) malformed();
      };
      const malformed = () => reject(formError(target, 'form', 'The form is malformed or cut off'));
      cleanUp = () => {
        clearTimeout(idle);
        signal.removeEventListener('abort', leave);
        request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', leave);
        // What is left of a refused form is for others to read over.
        if (!request.readableEnded) request.pause();
        // A file part that is cut off reports it on its own stream too.
        parser
          .off('drain', flow)
          .on('error', () => {})
          .destroy();
      };

      parser.on('field', (name: string | undefined, value, { valueTruncated }) => {
        attempt(() => {
          if (name === undefined) throw formError(target, 'form', 'A part of the form has no name');
          if (valueTruncated) throw tooLarge(target, name, LONGEST_FIELD);
          handlers.onField(name, value);
        });
      });
      parser.on('file', (name: string | undefined, stream, { mimeType, filename }) => {
        stream.on('error', () => {});
        attempt(() => {
          if (name === undefined) throw formError(target, 'form', 'A part of the form has no name');
          const open = () => handlers.onFile(name, mimeType);
          // A browser sends a file input that was left empty as a file without name and content.
          const sink = filename === undefined || filename === '' ? lazySink(open) : open();
          const file = createFormFile(sink, {
            maxSize: maxFileSize,
            onTooLarge: () => reject(tooLarge(target, name, maxFileSize)),
            onWritten: () => void idle.refresh(),
            onRoom: flow,
          });
          current = file;
          writing.push(file.done);
          file.done.catch(reject);
          // What busboy pushes is taken where it comes from, so that it stays in line with what goes past busboy.
          stream.push = (chunk: Buffer | null) => {
            if (chunk !== null) {
              file.take(chunk);
              return true;
            }
            current = undefined;
            file.end();
            return Readable.prototype.push.call(stream, null);
          };
          stream.once('close', () => file.cut(callerLeft()));
          stream.resume();
        });
      });
      parser.on('fieldsLimit', tooMany).on('filesLimit', tooMany);
      parser.on('error', malformed);
      parser.on('close', () => Promise.all(writing).then(() => resolve(), reject));
      parser.on('drain', flow);
      signal.addEventListener('abort', leave, { once: true });
      request.on('close', onClose).on('error', leave);
      if (signal.aborted) leave();
      else request.on('data', onData).on('end', onEnd);

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

function createParser(request: IncomingMessage, target: string): busboy.Busboy {
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
      // The size of files is counted where they are taken.
      limits: {
        fieldNameSize: 256,
        // It counts a field that just fits as cut off.
        fieldSize: LONGEST_FIELD + 1,
        fields: MOST_FIELDS,
        files: MOST_FILES,
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
