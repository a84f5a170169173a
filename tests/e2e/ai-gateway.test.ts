import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { open, send } from '../helpers/http.ts';
import {
  hangs,
  type MisbehavingProvider,
  startMisbehavingProvider,
} from '../helpers/misbehaving-provider.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

/** The AI routes of the whole hub, where gateway and companion meet. */
let hub: HubProcess;
let silent: MisbehavingProvider;

const question = { messages: [{ role: 'user', content: 'one two three' }] };

beforeAll(async () => {
  silent = await startMisbehavingProvider(hangs);
  hub = await startHub({
    config: {
      hub: { http_client: { timeout: 300 }, limits: { jsonBody: '4kb' } },
      targets: [
        { id: 'echo', provider: 'echo', options: { model: 'echo-1' } },
        { id: 'silent', provider: 'openai-compatible', baseUrl: silent.baseUrl, apiKey: 'k' },
      ],
      auth: { admin: { enabled: true, apiKeys: ['test-admin-key-0123456789-0123456789'] } },
    },
  });
});

afterAll(async () => {
  await hub?.stop();
  await silent?.close();
});

const chat = (options: Parameters<typeof send>[1]) => send(`${hub.url}/v1/chat/completions`, options);

describe('the AI routes of the hub', () => {
  test('a provider that says nothing is 504 after hub.http_client.timeout [S2.1-http-client-timeout] [S7-provider-502]', async () => {
    const answer = await chat({ json: question, headers: { 'x-target': 'silent' } });
    expect(answer.status).toBe(504);
    expect(answer.json().error).toMatchObject({ type: 'timeout_error', code: 'upstream_timeout' });
  });

  test('a body that is encoded, of another type or too large never reaches AI-Link [C5-body-encoding]', async () => {
    const headers = { 'x-target': 'echo', 'content-type': 'application/json' };
    const encoded = await chat({
      body: gzipSync(JSON.stringify(question)),
      headers: { ...headers, 'content-encoding': 'gzip' },
    });
    expect([encoded.status, encoded.json().error.code]).toEqual([415, 'unsupported_media_type']);
    const text = await chat({ body: 'hi', headers: { ...headers, 'content-type': 'text/plain' } });
    expect(text.status).toBe(415);
    const large = await chat({ json: { ...question, x: 'y'.repeat(5000) }, headers });
    expect([large.status, large.json().error.code]).toEqual([413, 'body_too_large']);
    const none = await chat({ method: 'POST', headers: { 'x-target': 'echo' } });
    expect([none.status, none.json().error.code]).toEqual([400, 'invalid_json']);
  });

  test('the target is in the access record', async () => {
    await chat({ json: question, headers: { 'x-target': 'echo', 'x-request-id': 'access-of-echo' } });
    const record = await until('the access record', () =>
      hub
        .logs()
        .find((line) => line.requestId === 'access-of-echo' && line.target !== undefined && 'path' in line),
    );
    expect(record.target).toBe('echo');
  });

  test('a caller that leaves a stream is counted as aborted within the hub [C5-stream-abort]', async () => {
    const answer = await open(`${hub.url}/v1/chat/completions`, {
      json: { ...question, stream: true, echo_delay_ms: 200 },
      headers: { 'x-target': 'echo', 'x-request-id': 'left-early' },
    });
    await new Promise((resolve) => answer.message.once('data', resolve));
    answer.leave();
    const record = await until('the record of the call', () =>
      hub.logs().find((line) => line.requestId === 'left-early' && 'outcome' in line),
    );
    expect(record).toMatchObject({ outcome: 'aborted', streaming: true });
  });

  test('AI-Link gone is 502 ailink_unavailable without x-should-retry [C5-err-ailink] [C5-should-retry-absent]', async () => {
    const [, companion] = hub.pids();
    if (companion === undefined) throw new Error('the hub has no child');
    process.kill(companion, 'SIGKILL');
    const answer = await until('the refusal', async () => {
      const given = await chat({ json: question, headers: { 'x-target': 'echo' } });
      return given.status === 502 && given;
    });
    expect(answer.json().error).toMatchObject({ type: 'upstream_error', code: 'ailink_unavailable' });
    expect(answer.headers['x-should-retry']).toBeUndefined();
  });
});
