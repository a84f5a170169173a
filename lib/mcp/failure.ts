/** Classes by which failed invocations are counted (contract §6). */
export type FailureClass = 'tool' | 'timeout' | 'transport' | 'protocol' | 'cancelled';

/** What is known beside class, code and message. */
export interface ToolFailureOptions {
  /** True when the call provably never reached the server, so that it may be sent again. */
  neverSent?: boolean;
  /** True when only the operator can mend it (missing program, refused credentials): no automatic retries. */
  operator?: boolean;
  /** Exit of the server's process, when it died. */
  exit?: ProcessExit;
  cause?: unknown;
}

/** How a tool server's process ended. */
export interface ProcessExit {
  code: number | null;
  signal: string | null;
}

/**
 * A call, a connection or an attempt to connect that failed. `code` is a stable snake_case word that goes into
 * `lastError`; the message is for callers and operators and is masked before it leaves the hub.
 */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly kind: FailureClass;
  readonly code: string;
  readonly neverSent: boolean;
  readonly operator: boolean;
  readonly exit: ProcessExit | undefined;

  constructor(kind: FailureClass, code: string, message: string, options: ToolFailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.neverSent = options.neverSent ?? false;
    this.operator = options.operator ?? false;
    this.exit = options.exit;
  }
}

/** The one funnel of this capability: what is not a ToolFailure yet becomes a transport failure. */
export function toToolFailure(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ToolFailure('transport', 'connection_failed', message, { cause: error });
}

/** What failed last on a connection, as operators are told. */
export interface LastError {
  code: string;
  /** Masked. */
  message: string;
  at: string;
}

/** The caller left, or took the call back. */
export function cancelledFailure(): ToolFailure {
  return new ToolFailure('cancelled', 'cancelled', 'The call was cancelled');
}

/** The failure of an answer past a size limit. */
export function oversized(limit: number): ToolFailure {
  return new ToolFailure('protocol', 'result_too_large', `The result is larger than ${limit} bytes`);
}
