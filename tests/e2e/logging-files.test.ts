import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { defaultConfig, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const withFiles = (types: Record<string, object>) => ({ ...defaultConfig, logging: { types } });
const chat = (hub: HubProcess, target = 'echo') =>
  send(`${hub.url}/v1/chat/completions`, {
    headers: { 'x-target': target },
    json: { messages: [{ role: 'user', content: 'hello' }] },
  });

const today = (): string => new Date().toISOString().slice(0, 10);
const records = (hub: HubProcess, type: string) => {
  const path = join(hub.cwd, 'logs', `app-${type}-${today()}.log`);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
};

test('the hub writes daily files in logs/, those of the companion too, as JSON [S2.1-log-files, S2.1-log-json, S2.1-log-total-tokens, C2-log-one-owner, S6-access-and-error]', async () => {
  const quiet = { console: false, file: true };
  const hub = await startHub({ config: withFiles({ access: quiet, error: quiet, aiLink: quiet }) });
  const answer = await chat(hub);
  expect(answer.status).toBe(200);
  expect((await chat(hub, 'no-such-target')).status).toBe(404);

  const access = await until('the access record', () =>
    records(hub, 'access').find((record) => record.status === 200),
  );
  expect(access).toMatchObject({
    level: 'info',
    module: 'http',
    message: expect.any(String),
    path: '/v1/chat/completions',
  });
  const aiLink = await until('the record of AI-Link', () =>
    records(hub, 'aiLink').find(
      (record) => record.requestId === answer.headers['x-request-id'] && record.totalTokens > 0,
    ),
  );
  expect(aiLink).toMatchObject({
    level: expect.any(String),
    module: expect.any(String),
    message: expect.any(String),
  });
  const { total_tokens: totalTokens } = answer.json().usage;
  expect(aiLink.totalTokens).toBe(totalTokens);
  for (const name of readdirSync(join(hub.cwd, 'logs'))) {
    expect(name).toMatch(/^app-(access|error|aiLink|proxy|videohost|tools)-\d{4}-\d{2}-\d{2}\.log$/);
    expect(statSync(join(hub.cwd, 'logs', name)).mode & 0o137).toBe(0);
  }
  expect(hub.logs()).toEqual([]);
});

test('a query is never logged, nor are credentials [C2-log-no-queries]', async () => {
  const hub = await startHub();
  await send(`${hub.url}/health?token=query-canary`, {
    headers: {
      authorization: 'Bearer header-canary',
      cookie: 'c=cookie-canary',
      'x-admin-key': 'key-canary',
    },
  });
  await send(`${hub.url}/admin/runtime?key=query-canary`, { headers: { 'x-admin-key': 'key-canary' } });
  await send(`${hub.url}/no/such/path?x=query-canary`);
  await until(
    'three access records',
    () => hub.logs().filter((record) => record.message === 'request').length >= 3,
  );
  expect(hub.stdout() + hub.stderr()).not.toMatch(/canary/);
});

test('the access record of a refused request names the code, whichever process refused', async () => {
  const hub = await startHub();
  const chat = { json: { messages: [] }, headers: { 'x-target': 'nobody' } };
  const answers = [await send(`${hub.url}/nowhere`), await send(`${hub.url}/v1/chat/completions`, chat)];
  for (const answer of answers) {
    const record = await until('the access record', () =>
      hub.logs().find((one) => one.requestId === answer.headers['x-request-id'] && one.message === 'request'),
    );
    expect(record).toMatchObject({ status: answer.status, code: answer.json().error.code });
  }
  expect(answers.map((answer) => answer.json().error.code)).toEqual(['not_found', 'target_not_found']);
});

test('log lines written just before the end are not lost', async () => {
  const hub = await startHub({ config: withFiles({ access: { console: true, file: true } }) });
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(`${hub.url}/health`)));
  hub.kill('SIGTERM');
  const { code } = await hub.exited;
  expect(code).toBe(0);
  const ids = answers.map((answer) => answer.headers['x-request-id']);
  expect(records(hub, 'access').map((record) => record.requestId)).toEqual(expect.arrayContaining(ids));
  expect(hub.logs().map((record) => record.requestId)).toEqual(expect.arrayContaining(ids));
});

test('a logs/ that disappears costs no request and comes back', async () => {
  const hub = await startHub({ config: withFiles({ access: { console: false, file: true } }) });
  await send(`${hub.url}/health`);
  await until('the first record', () => records(hub, 'access').length > 0);
  rmSync(join(hub.cwd, 'logs'), { recursive: true });
  await until('records again', async () => {
    expect((await send(`${hub.url}/health`)).status).toBe(200);
    return records(hub, 'access').length > 0;
  });
});
