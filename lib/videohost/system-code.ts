/** The system's code (`ENOENT`, `ECONNRESET`, …) of a failure, looked for along its causes. */
export function systemCodeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}
