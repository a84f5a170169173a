import type { LoadedConfig } from '../config/loaded.ts';

/** Paths of the unix sockets between a gateway and the companion that it spawned. */
export interface PrivateSockets {
  /** The internal API over HTTP, for small calls. */
  http: string;
  /** The channel of relayed calls. */
  calls: string;
}

/**
 * What a gateway and the companion that it spawned tell each other over their ipc channel. Everything secret
 * goes this way: neither the arguments nor the environment of a process are private.
 */
export type ToCompanion =
  /** The first message: all that the companion needs, so that it never runs another configuration than its gateway. */
  | {
      type: 'start';
      loaded: LoadedConfig;
      token: string;
      sockets: PrivateSockets | null;
      host: string;
      port: number;
    }
  /** Heartbeat; answered by `pong`. */
  | { type: 'ping' }
  /** The gateway drains: from now on signals are its business, and what never ends by itself is ended. */
  | { type: 'stopping' }
  /** Finish the calls in flight within `timeoutMs`, end the tool servers, exit 0. */
  | { type: 'stop'; timeoutMs: number };

export type FromCompanion =
  /** It listens; the address of its TCP port as bound. */
  | { type: 'ready'; host: string; port: number }
  /** It cannot start, and why, in one line for the operator. */
  | { type: 'fatal'; message: string }
  | { type: 'pong' }
  /** It was told to end by somebody else: no further calls, please. */
  | { type: 'leaving' };
