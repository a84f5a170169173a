/** A reason not to start that the operator can mend; its message is the one line shown before exit 1. */
export class StartFault extends Error {
  override readonly name = 'StartFault';
}

/** The system's error code (`EADDRINUSE`, `ENOENT`, …) of a failure, if it carries one. */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Says in words what the system's error code means, for a line an operator reads. */
export function inWords(error: unknown): string {
  const code = systemCode(error);
  const words: Record<string, string> = {
    EADDRINUSE: 'is in use',
    EADDRNOTAVAIL: 'is not an address of this machine',
    ENOTFOUND: 'is not a known host',
    EACCES: 'is not permitted',
    EPERM: 'is not permitted',
    EROFS: 'is on a read-only file system',
    ENOENT: 'does not exist',
    ENOTDIR: 'is not a directory',
    EEXIST: 'is not a directory',
    EISDIR: 'is a directory',
  };
  return (code !== undefined && words[code]) || (error instanceof Error ? error.message : String(error));
}
