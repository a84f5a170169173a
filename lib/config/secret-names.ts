/** Names whose values are secrets (spec §5, contract §8). */
const SECRET_NAME = /password|token|api[_-]?key|secret|authorization|key/i;

/** Keys of our own that match by accident and hold nothing secret (contract §8). */
const HARMLESS = new Set(['token_storage_path', 'token_storage_file', 'unknownKeys']);

/** Secrets shorter than this are not searched for in texts: cutting them out would shred every log. */
export const MIN_SECRET_LENGTH = 8;

/**
 * Whether a field, header, environment variable, query parameter or flag of this name holds a secret.
 * The one predicate for redaction and for collecting what must never appear in a text.
 */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS.has(name);
}

/** The name of a flag-like argument and the value glued to it: `--api-key=abc` is `api-key` and `abc`. */
export interface NamedArgument {
  name: string;
  /** Undefined when the value is the next argument. */
  value: string | undefined;
  /** How much of the argument comes before the value. */
  valueAt: number;
}

/**
 * Reads an argument as a name with a value: `--token`, `--token=abc`, `TOKEN=abc`, `Authorization: Bearer abc`.
 * Undefined for anything else.
 */
export function namedArgument(argument: string): NamedArgument | undefined {
  const glued = /^(-{0,2}[A-Za-z][\w.-]*)(=|:(?!\/\/)\s*)/.exec(argument);
  if (glued?.[1] !== undefined) {
    const valueAt = glued[0].length;
    return { name: glued[1].replace(/^-+/, ''), value: argument.slice(valueAt), valueAt };
  }
  const flag = /^--?([A-Za-z][\w.-]*)$/.exec(argument);
  return flag?.[1] === undefined ? undefined : { name: flag[1], value: undefined, valueAt: argument.length };
}
