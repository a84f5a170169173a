import type { FromCompanion, ToCompanion } from '../lib/companion-client/process-messages.ts';

export type StartMessage = Extract<ToCompanion, { type: 'start' }>;

export interface GatewayLink {
  /** Resolves with the gateway's first message. */
  start: Promise<StartMessage>;
  tell(message: FromCompanion): void;
  /** Says that this companion cannot start, and why, and exits. */
  fail(message: string): void;
  /** Sets what happens at the gateway's further messages, and when the gateway is gone. */
  on(handlers: { stopping(): void; stop(timeoutMs: number): void; gone(): void }): void;
}

/** The companion's end of the ipc channel to the gateway that spawned it. Answers heartbeats by itself. */
export function createGatewayLink(): GatewayLink {
  let handlers: Parameters<GatewayLink['on']>[0] | undefined;

  const tell = (message: FromCompanion) => {
    // A gateway that has just gone is noticed by `disconnect`, not here.
    if (process.connected) process.send?.(message, undefined, {}, () => {});
  };
  const fail = (message: string) => {
    if (!process.connected) process.exit(1);
    process.send?.({ type: 'fatal', message } satisfies FromCompanion, undefined, {}, () => process.exit(1));
  };
  const start = new Promise<StartMessage>((resolve) => {
    process.on('message', (message: ToCompanion) => {
      if (message.type === 'start') resolve(message);
      else if (message.type === 'ping') tell({ type: 'pong' });
      else if (message.type === 'stopping') handlers?.stopping();
      else if (message.type === 'stop') handlers?.stop(message.timeoutMs);
    });
  });
  process.on('disconnect', () => {
    if (handlers === undefined) process.exit(0);
    handlers.gone();
  });
  return {
    start,
    tell,
    fail,
    on(given) {
      handlers = given;
    },
  };
}
