import { describe, expect, test } from '@jest/globals';
import { clientOf, servers } from '../helpers/contract.ts';

describe.each(servers)('$name', (server) => {
  const ask = clientOf(server);

  test('liveness is 200 with status ok, for everybody [S4.1-health, S2.11-liveness, S1-health-endpoints, S2.1-health-path]', async () => {
    const answer = await ask('/health');
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ status: 'ok' });
  });

  test('readiness is 200 with status ready while AI-Link answers [S4.1-ready, S2.11-readiness, S2.1-readiness-path]', async () => {
    const answer = await ask('/ready');
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ status: 'ready' });
  });

  test('neither may be cached [S4.1-health]', async () => {
    for (const path of ['/health', '/ready']) {
      expect((await ask(path)).headers['cache-control']).toMatch(/no-store/);
    }
  });
});
