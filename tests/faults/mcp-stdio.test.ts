import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { mcpForTests, startMcp } from '../helpers/mcp-companion.ts';
import { fixture, isRunning, QUICK, QUICK_PINGS } from '../helpers/mcp-fixture.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';
import { until } from '../helpers/until.ts';

const folder = temporaryFolder();

const mcp = mcpForTests(QUICK);

const textOf = (result: { content: { text: string }[] }) => result.content[0]?.text;

/** A server that is not tried again while a test looks. */
const NO_RETRY = { ...QUICK, backoffBaseMs: 60_000, backoffCapMs: 60_000, retryPatienceMs: 0 };

describe('a process that dies', () => {
  test('in the middle of a call answers it at once, is not asked again, and comes back [C6-invoke-crash C6-stats-exit C6-states]', async () => {
    const { result, stats } = await mcp({ servers: [fixture()] });
    await result('test', 'echo', { message: 'warm' });
    const marker = join(folder, 'calls');
    const startedAt = performance.now();
    const [died, beside] = await Promise.all([
      result('test', 'die', { marker }),
      result('test', 'slow', { ms: 5000 }),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    for (const answer of [died, beside]) {
      expect([answer.isError, textOf(answer)]).toEqual([true, "The tool server's process ended by SIGKILL"]);
    }
    expect(textOf(await result('test', 'echo', { message: 'back' }))).toBe('back');
    expect(readFileSync(marker, 'utf8')).toBe('called\n');
    const healed = await stats('test');
    expect(healed).toMatchObject({
      status: 'connected',
      restarts: 1,
      consecutiveFailures: 0,
      exit: { code: null, signal: 'SIGKILL' },
      lastError: { code: 'exited' },
    });
    expect(healed.errors.transport).toBe(2);
  });

  test('after its answer was written still gives that answer', async () => {
    const { result } = await mcp({ servers: [fixture()] });
    await result('test', 'echo', { message: 'warm' });
    const answers = await Promise.all([result('test', 'pid'), result('test', 'exit', { code: 0 })]);
    expect(Number(textOf(answers[0]))).toBeGreaterThan(1);
    expect(answers[1].isError).toBe(true);
  });

  test('at every start is told with its exit and its own words, and is marked after five times [C6-states C6-invoke-down]', async () => {
    const { result, stats, records } = await mcp({ servers: [fixture(['die-at-start'])] });
    const startedAt = performance.now();
    const failed = await result('test', 'echo', { message: 'x' });
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(textOf(failed)).toBe("test is not available: The tool server's process ended with code 7");
    await until('the crash loop', async () => (await stats('test')).crashLoop === true);
    const looping = await stats('test');
    expect(looping).toMatchObject({
      status: 'backoff',
      healthy: false,
      exit: { code: 7, signal: null },
      consecutiveFailures: 5,
    });
    expect(looping.stderrTail).toContain('no configuration found, giving up');
    // The next try is at least the crash pause away, and calls do not wait for it.
    expect(Date.parse(looping.nextRetryAt) - Date.now()).toBeGreaterThan(1000);
    const waitedFrom = performance.now();
    expect((await result('test', 'echo', { message: 'x' })).isError).toBe(true);
    expect(performance.now() - waitedFrom).toBeLessThan(500);
    const told = records.find(({ message }) => message === 'Tool server is down');
    expect(told).toMatchObject({ level: 'warn', fields: { server: 'test', code: 'exited' } });
    expect(told?.fields.action).toMatch(/stderrTail/);
  });

  test('while it is down answers calls at once [C6-invoke-down]', async () => {
    const { result, stats } = await mcp({ servers: [fixture()], timing: NO_RETRY });
    await result('test', 'exit', { code: 3 });
    await until('backoff', async () => (await stats('test')).status === 'backoff');
    const startedAt = performance.now();
    const down = await result('test', 'echo', { message: 'x' });
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect([down.isError, textOf(down)]).toEqual([
      true,
      "test is not available: The tool server's process ended with code 3",
    ]);
    // What is known to be missing is told apart even now.
    await expect(result('test', 'nowhere')).rejects.toThrow('404');
  });
});

describe('a server that says too much or too little', () => {
  test.each(['big', 'big-id-last'])(
    'with a 20 MB line (%s) fails that call alone [C2-mcp-result-size]',
    async (tool) => {
      const { result, stats } = await mcp({ servers: [fixture()] });
      await result('test', 'echo', { message: 'warm' });
      const { pid } = await stats('test');
      const beside = result('test', 'slow', { ms: 100 });
      const huge = await result('test', tool, { bytes: 20 * 1024 * 1024 });
      expect(huge.isError).toBe(true);
      expect(textOf(huge)).toMatch(/larger than \d+ bytes/);
      expect(textOf(await beside)).toBe('slept');
      expect(await stats('test')).toMatchObject({ pid, restarts: 0, errors: { protocol: 1, transport: 0 } });
    },
    15_000,
  );

  test('on stderr is kept to its last lines, and works', async () => {
    const { result, stats } = await mcp({ servers: [fixture(['flood'])] });
    expect(textOf(await result('test', 'echo', { message: 'still here' }))).toBe('still here');
    const { stderrTail } = await stats('test');
    expect(stderrTail.length).toBeLessThanOrEqual(50);
    expect(JSON.stringify(stderrTail).length).toBeLessThan(60_000);
  }, 15_000);

  test('on stdout by mistake works, and what it said is shown', async () => {
    const { result, stats } = await mcp({ servers: [fixture(['noise'])] });
    expect(textOf(await result('test', 'echo', { message: 'x' }))).toBe('x');
    expect((await stats('test')).stderrTail).toContain('[stdout] listening');
  });

  test('at initialize is given up after connectTimeout [S2.8-connect-timeout]', async () => {
    const { result, stats } = await mcp({
      servers: [fixture(['silent'], { connectTimeout: 250 })],
      timing: NO_RETRY,
    });
    const startedAt = performance.now();
    const failed = await result('test', 'echo', { message: 'x' });
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect(textOf(failed)).toBe('test is not available: No connection within 250 ms');
    expect((await stats('test')).lastError.code).toBe('connect_timeout');
  });

  test('when pinged is degraded, then replaced [C6-states]', async () => {
    const { result, stats, records } = await mcp({ servers: [fixture(['no-pong'])], timing: QUICK_PINGS });
    await result('test', 'echo', { message: 'x' });
    await until('the replacement', async () => (await stats('test')).restarts >= 1);
    const states = records.map(({ fields }) => fields.to).filter((to) => typeof to === 'string');
    expect(states.slice(0, 5)).toEqual(['connecting', 'connected', 'degraded', 'backoff', 'connecting']);
    expect((await stats('test')).lastError.code).toBe('ping_timeout');
  });

  test('because it froze within a call is found out by a ping', async () => {
    const { result, stats } = await mcp({
      servers: [fixture([], { toolTimeout: 200 })],
      // Nothing but the call's own time-out asks for a ping.
      timing: { ...QUICK, pingBudgetMs: 150 },
    });
    await result('test', 'echo', { message: 'x' });
    const frozen = await result('test', 'freeze');
    expect(textOf(frozen)).toBe('No answer within 200 ms');
    await until('the replacement', async () => (await stats('test')).restarts >= 1);
  });

  test('in malformed JSON or without a result fails that call alone', async () => {
    const { result, stats } = await mcp({ servers: [fixture()] });
    for (const tool of ['bad-json', 'bad-result', 'no-result']) {
      expect((await result('test', tool)).isError).toBe(true);
    }
    expect(await stats('test')).toMatchObject({ restarts: 0, errors: { protocol: 3 } });
  });

  test('by asking the client for things is refused politely, and pings are answered', async () => {
    const { result } = await mcp({ servers: [fixture()] });
    const answers = JSON.parse(textOf(await result('test', 'asks-client')) ?? '');
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 77, result: {} });
    expect(answers).toContainEqual({
      jsonrpc: '2.0',
      id: 'from-server',
      error: { code: -32601, message: 'Method not found' },
    });
  });

  test('in another protocol version is an error for the operator, probed by calls', async () => {
    const { result, stats } = await mcp({ servers: [fixture(['old-version'])] });
    expect((await result('test', 'echo', { message: 'x' })).isError).toBe(true);
    expect(await stats('test')).toMatchObject({
      status: 'error',
      nextRetryAt: null,
      lastError: { code: 'bad_protocol_version' },
    });
  });
});

describe('a tool list', () => {
  test('of three pages is read whole', async () => {
    const { get } = await mcp({
      servers: [fixture([], { name: 'one' }), fixture(['three-pages'], { name: 'three' })],
    });
    const { servers } = await get('/mcp/tools');
    expect(servers[1].toolCount).toBe(servers[0].toolCount);
  });

  test('that never ends is refused', async () => {
    const { stats, get } = await mcp({ servers: [fixture(['endless-pages'])], timing: NO_RETRY });
    await get('/mcp/tools');
    expect((await stats('test')).lastError.code).toBe('bad_tool_list');
  });

  test('with bad tools keeps the good ones, and says why the others are missing', async () => {
    const { get, result, stats, invoke } = await mcp({ servers: [fixture(['bad-schema'])] });
    const names = (await get('/mcp/tools')).tools.map(({ name }: { name: string }) => name);
    expect(names).toContain('echo');
    expect(names).not.toContain('broken-schema');
    expect((await stats('test')).invalidTools).toEqual([
      { name: 'broken-schema', reason: expect.stringMatching(/schema is invalid/) },
      { name: 'no-schema', reason: 'inputSchema is missing or not an object' },
      { name: '(unnamed)', reason: 'it has no name' },
      { name: 'dangling', reason: expect.stringMatching(/can't resolve reference/) },
    ]);
    expect((await invoke('test', 'broken-schema', {})).status).toBe(404);
    // The older dialect, not named as such, is understood.
    expect((await result('test', 'old-dialect', { pair: ['a', 1] })).isError).toBe(false);
    expect((await result('test', 'old-dialect', { pair: [1, 'a'] })).isError).toBe(true);
  });
});

describe('processes', () => {
  test('see a minimal environment and their own [S2.8-stdio]', async () => {
    const { result } = await mcp({ servers: [fixture([], { env: { OWN: 'yes', PATH: '/nowhere' } })] });
    const seen = JSON.parse(textOf(await result('test', 'env')) ?? '');
    // The program was found by the hub's PATH all the same.
    expect(seen).toMatchObject({ OWN: 'yes', PATH: '/nowhere' });
    expect(seen.NODE_OPTIONS).toBeUndefined();
    expect(seen.JEST_WORKER_ID).toBeUndefined();
  });

  test('are all gone after a stop, stubborn ones and their children too', async () => {
    const companion = await startMcp({ timing: QUICK, servers: [fixture(['stubborn', 'grandchild'])] });
    await companion.result('test', 'echo', { message: 'x' });
    const { pid, stderrTail } = await companion.stats('test');
    const grandchild = Number(/grandchild (\d+)/.exec(stderrTail.join('\n'))?.[1]);
    expect([isRunning(pid), isRunning(grandchild)]).toEqual([true, true]);
    const startedAt = performance.now();
    await companion.stop();
    expect(performance.now() - startedAt).toBeLessThan(2000);
    await until('both processes gone', () => !isRunning(pid) && !isRunning(grandchild), { timeoutMs: 1000 });
  });

  test('below a process that died go with it', async () => {
    const { result, stats } = await mcp({ servers: [fixture(['grandchild'])], timing: NO_RETRY });
    await result('test', 'echo', { message: 'x' });
    const { stderrTail } = await stats('test');
    const grandchild = Number(/grandchild (\d+)/.exec(stderrTail.join('\n'))?.[1]);
    expect(isRunning(grandchild)).toBe(true);
    await result('test', 'die');
    await until('the grandchild gone', () => !isRunning(grandchild), { timeoutMs: 2000 });
  });

  test('that are not installed leave the server in error, tried again by a call [C6-missing-command C6-states]', async () => {
    const searchPath = process.env.PATH;
    process.env.PATH = folder;
    try {
      const { result, stats } = await mcp({ servers: [fixture()] });
      const failed = await result('test', 'echo', { message: 'x' });
      expect(textOf(failed)).toBe('test is not available: The command node is not installed');
      expect(await stats('test')).toMatchObject({
        status: 'error',
        healthy: false,
        lastError: { code: 'command_not_found' },
      });
    } finally {
      process.env.PATH = searchPath;
    }
  });

  test('of other commands are never started, whatever the configuration check let through', async () => {
    const { result, stats } = await mcp({
      servers: [fixture([], { command: 'bash', args: ['-c', 'sleep 5'] })],
    });
    expect((await result('test', 'echo', { message: 'x' })).isError).toBe(true);
    expect((await stats('test')).lastError.code).toBe('command_not_allowed');
  });
});
