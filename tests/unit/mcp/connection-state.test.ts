import { describe, expect, test } from '@jest/globals';
import {
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionTiming,
  INITIAL_STATE,
  transition,
} from '../../../lib/mcp/connection-state.ts';

const timing: ConnectionTiming = {
  backoffBaseMs: 500,
  backoffCapMs: 60_000,
  steadyAfterMs: 30_000,
  probeEveryMs: 2_000,
  crashExits: 5,
  crashWindowMs: 60_000,
  crashRetryMs: 30_000,
};

const FAILED: ConnectionEvent = { type: 'failed', operator: false, exited: false, sessionLost: false };
const EXITED: ConnectionEvent = { ...FAILED, exited: true };
const OPERATOR: ConnectionEvent = { ...FAILED, operator: true };

/** Runs events one after another, each `at` ms; the last transition. */
function run(events: readonly (ConnectionEvent | [ConnectionEvent, number])[], random = 1) {
  let state: ConnectionState = INITIAL_STATE;
  let effects: unknown[] = [];
  let now = 0;
  for (const entry of events) {
    const [event, at] = Array.isArray(entry) ? entry : [entry, now];
    now = at;
    const next = transition(state, event, { now, random, timing });
    state = next.state;
    effects = next.effect === undefined ? [] : [next.effect];
  }
  return { state, effects };
}

const CONNECTED: ConnectionEvent[] = [{ type: 'wanted' }, { type: 'opened' }];

describe('connecting', () => {
  test('begins when somebody wants the server, once', () => {
    const { state, effects } = run([{ type: 'wanted' }]);
    expect([state.status, effects]).toEqual(['connecting', [{ type: 'open' }]]);
    expect(run([{ type: 'wanted' }, { type: 'wanted' }]).effects).toEqual([]);
    expect(run([...CONNECTED, { type: 'wanted' }]).effects).toEqual([]);
  });

  test('counts restarts from the second connection on', () => {
    expect(run(CONNECTED).state.restarts).toBe(0);
    expect(run([...CONNECTED, FAILED, { type: 'retry-due' }, { type: 'opened' }]).state.restarts).toBe(1);
  });
});

describe('backoff', () => {
  test('is a random share of base × 2ⁿ up to the cap, for ever', () => {
    const waits: unknown[] = [];
    const events: ConnectionEvent[] = [{ type: 'wanted' }];
    for (let count = 0; count < 12; count += 1) {
      events.push(FAILED);
      waits.push(run(events).effects);
      events.push({ type: 'retry-due' });
      expect(run(events).state.status).toBe('connecting');
    }
    expect(waits).toEqual(
      [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000, 60_000].map((inMs) => [
        { type: 'retry', inMs },
      ]),
    );
    expect(run([{ type: 'wanted' }, FAILED], 0.25).effects).toEqual([{ type: 'retry', inMs: 125 }]);
  });

  test('begins anew after one success, or thirty seconds up', () => {
    const troubled: ConnectionEvent[] = [
      { type: 'wanted' },
      FAILED,
      { type: 'retry-due' },
      FAILED,
      { type: 'retry-due' },
      { type: 'opened' },
    ];
    expect(run(troubled).state.failures).toBe(2);
    expect(run([...troubled, { type: 'steady' }]).state.failures).toBe(0);
    expect(run([...troubled, FAILED]).effects).toEqual([{ type: 'retry', inMs: 2000 }]);
    expect(run([...troubled, { type: 'steady' }, FAILED]).effects).toEqual([{ type: 'retry', inMs: 500 }]);
  });

  test('is not shortened by calls', () => {
    expect(run([{ type: 'wanted' }, FAILED, [{ type: 'wanted' }, 400]]).state.status).toBe('backoff');
  });
});

describe('an error that only the operator can mend', () => {
  test('is not retried by itself', () => {
    const { state, effects } = run([{ type: 'wanted' }, OPERATOR]);
    expect([state.status, state.nextRetryAt, effects]).toEqual(['error', null, []]);
    expect(run([{ type: 'wanted' }, OPERATOR, { type: 'retry-due' }]).state.status).toBe('error');
  });

  test('is probed by the next call, every two seconds at most', () => {
    const failed: ConnectionEvent[] = [{ type: 'wanted' }, OPERATOR];
    expect(run([...failed, [{ type: 'wanted' }, 1999]]).state.status).toBe('error');
    expect(run([...failed, [{ type: 'wanted' }, 2000]]).state.status).toBe('connecting');
  });
});

describe('a crash loop', () => {
  const crashes = (count: number, everyMs: number): [ConnectionEvent, number][] =>
    Array.from({ length: count }, (_, index): [ConnectionEvent, number][] => [
      [index === 0 ? { type: 'wanted' } : { type: 'retry-due' }, index * everyMs],
      [EXITED, index * everyMs],
    ]).flat();

  test('is five exits within a minute, and waits thirty seconds at least', () => {
    expect(run(crashes(4, 1000), 0).state.crashLoop).toBe(false);
    const { state, effects } = run(crashes(5, 1000), 0);
    expect([state.crashLoop, effects]).toEqual([true, [{ type: 'retry', inMs: 30_000 }]]);
    expect(run(crashes(5, 20_000), 0).state.crashLoop).toBe(false);
  });

  test('is over when the server stays up, not with one good call', () => {
    const looping = [...crashes(5, 1000), [{ type: 'retry-due' }, 40_000], [{ type: 'opened' }, 40_000]] as [
      ConnectionEvent,
      number,
    ][];
    expect(run([...looping, [{ type: 'steady' }, 41_000]]).state).toMatchObject({
      crashLoop: true,
      failures: 0,
    });
    expect(run([...looping, [{ type: 'steady' }, 70_000]]).state).toMatchObject({
      crashLoop: false,
      exits: [],
    });
  });
});

describe('pings', () => {
  test('unanswered once degrade the connection, twice end it', () => {
    expect(run([...CONNECTED, { type: 'ping-missed' }])).toMatchObject({
      state: { status: 'degraded' },
      effects: [],
    });
    const { effects } = run([...CONNECTED, { type: 'ping-missed' }, { type: 'ping-missed' }]);
    expect(effects).toEqual([{ type: 'drop' }]);
  });

  test('answered again restore it', () => {
    const { state } = run([
      ...CONNECTED,
      { type: 'ping-missed' },
      { type: 'ping-answered' },
      { type: 'ping-missed' },
    ]);
    expect(state).toMatchObject({ status: 'degraded', missedPings: 1 });
  });
});

test('a lost session is opened anew at once, but only from a steady connection', () => {
  const lost: ConnectionEvent = { ...FAILED, sessionLost: true };
  expect(run([...CONNECTED, lost])).toMatchObject({
    state: { status: 'connecting' },
    effects: [{ type: 'open' }],
  });
  expect(run([...CONNECTED, lost, { type: 'opened' }, lost]).state.status).toBe('backoff');
});

test('closing is the end: nothing that happens meanwhile starts anything', () => {
  const closing: ConnectionEvent[] = [...CONNECTED, { type: 'close' }];
  expect(run(closing).state.status).toBe('closing');
  for (const event of [
    FAILED,
    EXITED,
    { type: 'wanted' },
    { type: 'retry-due' },
    { type: 'opened' },
  ] as const) {
    expect(run([...closing, event])).toMatchObject({ state: { status: 'closing' }, effects: [] });
  }
  expect(run([...closing, { type: 'closed' }]).state).toMatchObject({
    status: 'disconnected',
    connectedAt: null,
  });
});

test('news of an attempt that is over changes nothing', () => {
  const waiting = run([{ type: 'wanted' }, FAILED]).state;
  expect(run([{ type: 'wanted' }, FAILED, FAILED]).state).toEqual(waiting);
  expect(run([{ type: 'wanted' }, FAILED, { type: 'opened' }]).state).toEqual(waiting);
});
