/** Whether a failure came from the system, with a code such as `ENOSPC`. */
export function isErrnoException(error: unknown): error is NodeJS.ErrnoException {
  return (
    typeof error === 'object' && error !== null && typeof (error as { code?: unknown }).code === 'string'
  );
}
