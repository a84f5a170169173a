import type { Writable } from 'node:stream';
import type { HubClient } from './hub-client.ts';

/** What a command works with. */
export interface CommandContext {
  /** The hub at an address, or at the default one. */
  client(url: string | undefined): HubClient;
  /** Takes the result. */
  out: Writable;
  /** Takes what is for a person only. */
  terminal: Writable & { isTTY?: boolean; columns?: number };
  /** Aborts when the user stops the command. */
  signal: AbortSignal;
}
