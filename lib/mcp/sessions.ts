import { randomBytes } from 'node:crypto';
import { HubError } from '../errors/hub-error.ts';
import type { EventStream } from './event-stream.ts';
import type { StopControl } from './stop-signal.ts';

/** One client's session at `POST /mcp`. */
export interface Session {
  readonly id: string;
  /** The identity that opened it; nobody else sees it. */
  readonly caller: string;
  readonly protocolVersion: string;
  /** What a server may ask of the client: `elicitation`, `sampling`. */
  readonly askable: ReadonlySet<string>;
  /** Requests of the hub that the client has not answered yet, by id. */
  readonly asked: Map<string, (answer: ClientAnswer) => void>;
  /** Index of the lowest log level that the client wants. */
  logLevel: number;
  /** Calls in flight by the raw text of their request id. */
  readonly calls: Map<string, StopControl>;
  /** Standing event streams, the newest last. */
  readonly streams: Set<EventStream>;
  /** `Date.now()` of the last message. */
  seenAt: number;
}

/** What a client answered: the raw result, or its refusal. */
export type ClientAnswer = { result: string } | { error: { code: number; message: string } };

/** What is known when a session begins. */
export type SessionFacts = Pick<Session, 'caller' | 'protocolVersion' | 'askable'>;

/** Sessions of all clients: bounded in number and ended when idle. */
export interface Sessions {
  /** @throws HubError `overloaded` when the hub is full of busy sessions. */
  open(facts: SessionFacts): Session;
  /** @throws HubError `invalid_request` without an id, `session_not_found` for an unknown or another's. */
  find(id: string | undefined, caller: string): Session;
  end(session: Session): void;
  all(): Iterable<Session>;
  close(): void;
}

export interface SessionsOptions {
  idleMs: number;
  maxSessions: number;
  maxPerCaller: number;
  now?(): number;
}

export function createSessions(options: SessionsOptions): Sessions {
  const { idleMs, now = Date.now } = options;
  // Ordered by last use: the longest idle comes first.
  const sessions = new Map<string, Session>();
  const sweeper = setInterval(sweep, Math.min(idleMs, 60_000)).unref();

  function isBusy(session: Session): boolean {
    return session.calls.size > 0 || session.streams.size > 0;
  }

  function sweep(): void {
    for (const session of [...sessions.values()]) {
      if (!isBusy(session) && now() - session.seenAt >= idleMs) end(session);
    }
  }

  function end(session: Session): void {
    sessions.delete(session.id);
    for (const call of session.calls.values()) call.abort();
    for (const stream of session.streams) stream.end();
  }

  /** Clients often forget to say goodbye: the longest idle session makes room. */
  function makeRoom(among: Session[], limit: number): void {
    if (among.length < limit) return;
    const idle = among.find((session) => session.calls.size === 0);
    if (idle === undefined) {
      throw new HubError('overloaded', 'Too many MCP sessions are open', { headers: { 'retry-after': '5' } });
    }
    end(idle);
  }

  return {
    open(facts) {
      makeRoom(
        [...sessions.values()].filter((session) => session.caller === facts.caller),
        options.maxPerCaller,
      );
      makeRoom([...sessions.values()], options.maxSessions);
      const session: Session = {
        id: randomBytes(24).toString('base64url'),
        ...facts,
        asked: new Map(),
        logLevel: 0,
        calls: new Map(),
        streams: new Set(),
        seenAt: now(),
      };
      sessions.set(session.id, session);
      return session;
    },
    find(id, caller) {
      if (id === undefined || id === '') {
        throw new HubError('invalid_request', 'The header mcp-session-id is needed after initialize', {
          param: 'mcp-session-id',
        });
      }
      const session = sessions.get(id);
      const expired = session !== undefined && !isBusy(session) && now() - session.seenAt >= idleMs;
      if (expired) end(session);
      if (session === undefined || expired || session.caller !== caller) {
        throw new HubError('session_not_found', 'There is no such MCP session');
      }
      session.seenAt = now();
      sessions.delete(session.id);
      sessions.set(session.id, session);
      return session;
    },
    end,
    all: () => sessions.values(),
    close() {
      clearInterval(sweeper);
      for (const session of [...sessions.values()]) end(session);
    },
  };
}
