import { toToolFailure } from './failure.ts';
import type { RpcClient } from './rpc-client.ts';

/** Watches over one open connection. */
export interface Heartbeat {
  /** Pings now, unless a ping is under way. */
  check(): void;
  stop(): void;
}

export interface HeartbeatDeps {
  client: RpcClient;
  /** Quiet time in ms after which the connection is pinged, and how long the answer may take. */
  everyMs: number;
  budgetMs: number;
  answered(ms: number): void;
  /** A ping went unanswered; true asks for another one at once. */
  missed(): boolean;
}

/** Pings a connection that has been quiet for a while: a dead HTTP server or a frozen process tells nobody. */
export function createHeartbeat({ client, everyMs, budgetMs, answered, missed }: HeartbeatDeps): Heartbeat {
  let timer: NodeJS.Timeout | undefined;
  let isPinging = false;
  let isOver = false;

  function watch(): void {
    const quiet = performance.now() - client.lastHeardAt();
    // Calls in flight have their own time-outs, and a server that works on one may be slow to answer a ping.
    if (quiet >= everyMs && client.inFlight() === 0) void ping();
    timer = setTimeout(watch, Math.max(everyMs - quiet, everyMs / 4)).unref();
  }

  async function ping(): Promise<void> {
    if (isPinging || isOver) return;
    isPinging = true;
    const startedAt = performance.now();
    let isAlive = true;
    try {
      await client.request('ping', '{}', { timeout: budgetMs });
    } catch (error) {
      // A refusal is an answer too.
      isAlive = toToolFailure(error).kind === 'tool';
    }
    isPinging = false;
    if (isOver) return;
    if (isAlive) answered(Math.round((performance.now() - startedAt) * 1000) / 1000);
    else if (missed()) void ping();
  }

  watch();
  return {
    check: () => void ping(),
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
