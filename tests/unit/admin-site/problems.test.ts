import { describe, expect, test } from '@jest/globals';
import { CallFailure, type Runtime } from '../../../admin-site/src/admin-api.ts';
import { findProblems } from '../../../admin-site/src/problems.ts';

const up = { status: 'up', pid: 1, restarts: 0, since: '2026-01-01T00:00:00Z', nextRetryAt: null };
const usage = { errorRate: 0, requests: { total: 0, error: 0 }, proxies: [] };

const runtime = (more: object) =>
  ({ companion: up, mcpConnections: [], runtimeUsage: usage, ...more }) as unknown as Runtime;
const server = (status: string, crashLoop = false) => ({ name: 'files', status, crashLoop });
const texts = (more: object, failure?: CallFailure) =>
  findProblems(runtime(more), failure).map(({ text }) => text);

describe('what needs attention', () => {
  test('is nothing while all is well, a server that was never used included', () => {
    expect(
      texts({ mcpConnections: [server('connected'), server('disconnected'), server('connecting')] }),
    ).toEqual([]);
  });

  test.each([
    ['error', /cannot be started/],
    ['backoff', /is retried/],
    ['degraded', /misses pings/],
  ])('is a tool server in state %s', (status, words) => {
    expect(texts({ mcpConnections: [server(status)] })).toEqual([expect.stringMatching(words)]);
  });

  test('names a crash loop once', () => {
    expect(texts({ mcpConnections: [server('backoff', true)] })).toEqual([
      'Tool server files keeps crashing',
    ]);
  });

  test('is AI-Link that is down, starting, or of another configuration', () => {
    expect(texts({ companion: { ...up, status: 'down' }, runtimeUsage: null })[0]).toMatch(/AI-Link is down/);
    expect(texts({ companion: { ...up, status: 'starting' } })).toEqual(['AI-Link is starting']);
    expect(texts({ companion: { ...up, configMismatch: true } })[0]).toMatch(/another configuration/);
  });

  test('is a high share of errors, once there are enough calls to say so', () => {
    const failing = (total: number) => ({
      ...usage,
      errorRate: 0.5,
      requests: { total, error: total / 2 },
      proxies: [{ id: 'wiki', requests: total, errors: total / 2 }],
    });
    expect(texts({ runtimeUsage: failing(4) })).toEqual([]);
    expect(texts({ runtimeUsage: failing(10) })).toEqual([
      '50 % of the AI requests failed (5 errors)',
      'Proxy wiki failed 50 % of its requests',
    ]);
  });

  test('puts the worst first', () => {
    const found = findProblems(
      runtime({ mcpConnections: [server('degraded')] }),
      new CallFailure(0, 'The hub does not answer'),
    );
    expect(found.map(({ severity }) => severity)).toEqual(['bad', 'warn']);
    expect(findProblems(undefined, undefined)).toEqual([]);
  });
});
