/** The system's code (`ENOENT`, `ECONNRESET`, …) of a failure, looked for along its causes. */
export function systemCodeOf(error: unknown): string | undefined {
  let at = error;
  for (let depth = 0; typeof at === 'object' && at !== null && depth < 5; depth += 1) {
    const { code, cause } = at as { code?: unknown; cause?: unknown };
    if (typeof code === 'string') return code;
    at = cause;
  }
  return undefined;
}
