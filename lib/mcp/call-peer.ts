/** A progress notification without its token. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** The way back to whoever made a call, for what the server has to say or ask meanwhile. */
export interface CallPeer {
  /** Left out: progress is not asked for. */
  progress?: ((progress: Progress) => void) | undefined;
  /** Takes the raw params of a log message that belongs to the call. */
  log?: ((params: string) => void) | undefined;
  /**
   * Hands on a request of the server (`elicitation/create`, `sampling/createMessage`) with its raw params; the raw
   * result. Left out: nobody there can be asked.
   * @throws RequestRefused
   */
  ask?: ((method: string, params: string) => Promise<string>) | undefined;
}

/** A request that was answered with a JSON-RPC error. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
