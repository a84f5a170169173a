import { types } from 'node:util';

/** What a log record says of an error. Its other fields (configuration, headers, tokens) never appear. */
export interface ErrorDescription {
  name: string;
  message: string;
  code?: string | number;
  /** Frames only; the message is not repeated. */
  stack?: string;
  cause?: ErrorDescription | string;
  /** The first errors of an AggregateError. */
  errors?: (ErrorDescription | string)[];
}

/** Of message and of stack; each cause gets half of what it caused. */
const LONGEST_TEXT = 4096;
const DEEPEST_CAUSE = 5;
const MOST_ERRORS = 5;

/** Errors of another realm (vm contexts, workers) are errors too. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || types.isNativeError(value);

/** Cuts a long text and says how much is missing. */
export function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more)`;
}

/** A field of a foreign object, whatever reading it does. */
function read(error: Error, name: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

/**
 * Describes an error and its chain of causes in bounded size.
 * @param mask cuts out secrets; applied before cutting, so that no half of a secret is left over.
 */
export function describeError(error: Error, mask: (text: string) => string, depth = 0): ErrorDescription {
  const longest = LONGEST_TEXT >> depth;
  const text = (value: unknown): string => (typeof value === 'string' ? mask(value) : '');
  const name = text(read(error, 'name')) || 'Error';
  const message = text(read(error, 'message'));
  const description: ErrorDescription = { name: cut(name, 128), message: cut(message, longest) };

  const code = read(error, 'code');
  if (typeof code === 'string') description.code = cut(mask(code), 128);
  else if (typeof code === 'number') description.code = code;

  const stack = text(read(error, 'stack'));
  const frames = stack.search(/^ +at /m);
  if (frames !== -1) description.stack = cut(stack.slice(frames), longest);

  if (depth >= DEEPEST_CAUSE) return description;
  const inner = (value: unknown): ErrorDescription | string =>
    isError(value) ? describeError(value, mask, depth + 1) : describeValue(value, mask, longest);
  const cause = read(error, 'cause');
  if (cause !== undefined && cause !== null) description.cause = inner(cause);
  const errors = read(error, 'errors');
  if (Array.isArray(errors)) description.errors = errors.slice(0, MOST_ERRORS).map(inner);
  return description;
}

/** Something thrown or given as a cause that is no error: a text is kept, of anything else only its kind. */
function describeValue(value: unknown, mask: (text: string) => string, longest: number): string {
  if (typeof value === 'string') return cut(mask(value), longest);
  return typeof value === 'object' ? Object.prototype.toString.call(value) : cut(mask(String(value)), 128);
}
