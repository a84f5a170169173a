import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FakeFault } from '../helpers/fake-video-platform.ts';
import { forgetUploads, sha256, startVideoHub, title, type VideoHub, video } from '../helpers/video.ts';

const CHUNK = 256 * 1024;
/** Five chunks and a rest. */
const content = randomBytes(5 * CHUNK + 12_345);
const LAST = content.length - 1;
const RETRY_FOR = 2000;

let hub: VideoHub;
beforeAll(async () => {
  hub = await startVideoHub({ videohost: { upload: { chunkSize: CHUNK, retryFor: RETRY_FOR } } });
});
beforeEach(() => {
  forgetUploads(hub);
  hub.platform.sessions.clear();
});

/** Everything that lies in the spool but records of uploads that were published. */
function leftovers(): string[] {
  return hub.spooled().filter((file) => !file.endsWith('record.json'));
}

describe.each([
  ['the title before the video', [title, video(content)]],
  ['the video before the title', [video(content), title]],
])('with %s, one identical video comes of', (_order, parts) => {
  test.each<[string, FakeFault[]]>([
    ['an undisturbed platform', []],
    ['503 at the opening', [{ on: 'open', times: 2, do: { answer: 503 } }]],
    ['503 at a chunk', [{ on: 'chunk', after: 2, do: { answer: 503 } }]],
    [
      '503 at a chunk and at the question after it',
      [
        { on: 'chunk', after: 1, do: { answer: 503 } },
        { on: 'query', times: 2, do: { answer: 500 } },
      ],
    ],
    [
      'a 429 that asks to slow down',
      [
        {
          on: 'chunk',
          do: { answer: 429, reason: 'rateLimitExceeded', headers: { 'retry-after': '1' } },
        },
      ],
    ],
    ['userRateLimitExceeded', [{ on: 'chunk', do: { answer: 403, reason: 'userRateLimitExceeded' } }]],
    [
      'a reset within a chunk, its bytes kept',
      [{ on: 'chunk', after: 1, do: { resetAfter: 100_000, keep: true } }],
    ],
    [
      'a reset within a chunk, its bytes lost',
      [{ on: 'chunk', after: 1, do: { resetAfter: 100_000, keep: false } }],
    ],
    ['resets one after the other', [{ on: 'chunk', times: 3, do: { resetAfter: 200_000, keep: true } }]],
    ['a reset before the first byte', [{ on: 'chunk', do: { resetAfter: 0, keep: false } }]],
    ['a chunk that is kept in part', [{ on: 'chunk', after: 1, times: 2, do: { keepOnly: 100_000 } }]],
    ['a first chunk of which nothing is kept', [{ on: 'chunk', do: { keepOnly: 0 } }]],
    ['an answer that is lost in the middle', [{ on: 'chunk', after: 2, do: 'lose-answer' }]],
    ['the final answer lost', [{ on: 'chunk', from: LAST, do: 'lose-answer' }]],
    [
      'the final answer lost, and the platform down after it',
      [
        { on: 'chunk', from: LAST, do: 'lose-answer' },
        { on: 'query', times: 2, do: { answer: 503 } },
      ],
    ],
    ['a reset within the last chunk', [{ on: 'chunk', from: LAST, do: { resetAfter: 5000, keep: true } }]],
    ['a session that has died', [{ on: 'chunk', after: 2, do: 'forget-session' }]],
    [
      'a session that died unnoticed',
      [
        { on: 'chunk', after: 2, do: { answer: 503 } },
        { on: 'query', do: 'forget-session' },
      ],
    ],
    ['a platform that falls silent', [{ on: 'chunk', after: 1, do: 'silence' }]],
  ])('%s [C7-resumable, C7-any-order]', async (_what, faults) => {
    hub.platform.faults.push(...faults);
    const answer = await hub.upload(parts);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"success":true')]);
    expect(hub.platform.faults).toEqual([]);
    expect(hub.platform.videos.map(({ bytes, sha256: hash }) => [bytes, hash])).toEqual([
      [content.length, sha256(content)],
    ]);
    expect(answer.json().videoId).toBe(hub.platform.videos[0]?.id);
    expect(leftovers()).toEqual([]);
  });

  test('a token that dies in the middle [C7-resumable, S3-auto-refresh]', async () => {
    const { identity } = hub.platform;
    hub.platform.faults.push({ on: 'chunk', after: 2, do: () => identity.expireAccessTokens() });
    const before = identity.calls.refresh;
    const answer = await hub.upload(parts);
    expect(answer.status).toBe(200);
    expect(identity.calls.refresh).toBe(before + 1);
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  });

  test('a token that dies while the identity provider is down for a moment [C7-resumable]', async () => {
    const { identity } = hub.platform;
    hub.platform.faults.push({ on: 'chunk', after: 2, do: () => identity.expireAccessTokens() });
    identity.tokenFaults.push({ status: 503 }, { status: 503 }, { status: 503 });
    expect((await hub.upload(parts)).status).toBe(200);
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  });
});

test('a caller who falls silent for longer than retryFor does not use up its time [C2-upload-retry-for]', async () => {
  hub.platform.faults.push({ on: 'chunk', after: 1, do: { answer: 503 } });
  const flowing = new PassThrough();
  const answer = hub.upload([title, video(flowing)]);
  flowing.write(content.subarray(0, CHUNK + 1));
  await sleep(RETRY_FOR + 200);
  flowing.end(content.subarray(CHUNK + 1));
  expect((await answer).status).toBe(200);
  expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
});

test('nothing that was acknowledged is sent again [C7-resumable]', async () => {
  hub.platform.faults.push({ on: 'chunk', after: 3, do: { resetAfter: 100_000, keep: true } });
  await hub.upload([title, video(content)]);
  const ranges = hub.platform.requests.flatMap(({ kind, range }) => (kind === 'chunk' ? [range] : []));
  const starts = ranges.map((range) => Number(/^bytes (\d+)-/.exec(range ?? '')?.[1]));
  expect(starts).toEqual([0, 1, 2, 3, 3, 4].map((n, index) => n * CHUNK + (index > 3 ? 100_000 : 0)));
  expect(hub.platform.requests.filter(({ kind }) => kind === 'query')).toHaveLength(1);
});

describe('an upload fails without a video and with an empty spool at', () => {
  const pacific = (at: number) =>
    new Date(at).toLocaleTimeString('en-GB', { timeZone: 'America/Los_Angeles' });

  test.each<[string, number, number, string, string, string]>([
    ['quotaExceeded', 403, 429, 'quotaExceeded', 'quotaExceeded', 'C7-quota, S7-quota-exceeded'],
    ['dailyLimitExceeded', 403, 429, 'quotaExceeded', 'quotaExceeded', 'C7-quota'],
    ['uploadLimitExceeded', 400, 429, 'uploadLimitExceeded', 'uploadLimitExceeded', 'C7-upload-limit'],
    [
      'insufficientPermissions',
      403,
      403,
      'insufficient_permissions',
      'Insufficient permissions',
      'C7-insufficient-permissions',
    ],
    [
      'youtubeSignupRequired',
      401,
      403,
      'insufficient_permissions',
      'Insufficient permissions',
      'C7-insufficient-permissions',
    ],
    [
      'forbidden',
      403,
      403,
      'insufficient_permissions',
      'Insufficient permissions',
      'C7-insufficient-permissions',
    ],
    ['accessNotConfigured', 403, 502, 'oauth_failed', 'OAuth authentication failed', 'C7-oauth-client'],
    [
      'invalidDescription',
      400,
      400,
      'invalid_request',
      'The platform refuses the field description',
      'C7-field-errors',
    ],
  ])(
    '%s (%d) as %d %s [C7-quota, S7-quota-exceeded, C7-upload-limit, C7-insufficient-permissions, C7-oauth-client, S7-upload-failure, C7-nothing-left]',
    async (reason, status, expected, code, message) => {
      for (const fault of [
        { on: 'open', do: { answer: status, reason } },
        { on: 'chunk', after: 1, do: { answer: status, reason } },
      ] as FakeFault[]) {
        hub.platform.faults.push(fault);
        const begun = Date.now();
        const answer = await hub.upload([title, video(content)]);
        expect([answer.status, answer.json().error]).toEqual([
          expected,
          expect.objectContaining({
            code,
            message: expect.stringContaining(message),
            target: 'main',
            reason,
            hint: expect.stringMatching(/./),
          }),
        ]);
        expect(answer.text).not.toMatch(/<a|href/);
        if (code === 'quotaExceeded') {
          const end = begun + Number(answer.headers['retry-after']) * 1000;
          expect(pacific(end + 2000)).toMatch(/^00:00:0/);
        }
        expect(hub.platform.videos).toEqual([]);
        expect(hub.platform.faults).toEqual([]);
        expect(leftovers()).toEqual([]);
      }
    },
  );

  test('a 429 that names uploads a day, which is not tried again [C7-quota]', async () => {
    const message =
      "Quota exceeded for quota metric 'Video Uploads' and limit 'Video Uploads per day' of service";
    hub.platform.faults.push({ on: 'open', do: { answer: 429, reason: 'rateLimitExceeded', message } });
    const answer = await hub.upload([title, video(content)]);
    expect([answer.status, answer.json().error.code]).toEqual([429, 'quotaExceeded']);
    expect(hub.platform.requests.map(({ kind }) => kind)).toEqual(['open']);
  });

  test.each([
    ['is down', { answer: 503 }],
    ['answers nothing', 'silence'],
  ] as [string, FakeFault['do']][])(
    'a platform that %s for longer than retryFor [C7-upstream, C2-upload-retry-for]',
    async (_what, act) => {
      hub.platform.faults.push({ on: 'chunk', after: 2, times: 1000, do: act });
      hub.platform.faults.push({ on: 'query', times: 1000, do: act });
      const begun = performance.now();
      const answer = await hub.upload([title, video(content)]);
      expect([answer.status, answer.json().error]).toEqual([
        502,
        expect.objectContaining({ code: 'upstream_unavailable', type: 'upstream_error' }),
      ]);
      expect(performance.now() - begun).toBeGreaterThan(RETRY_FOR * 0.9);
      expect(hub.platform.videos).toEqual([]);
      expect(leftovers()).toEqual([]);
      expect((await hub.ask('/videohost/auth/status')).json().authenticated).toBe(true);
    },
  );

  test('a grant that is taken back in the middle [C7-token-expired]', async () => {
    const { identity } = hub.platform;
    hub.platform.faults.push({ on: 'chunk', after: 2, do: () => identity.revokeAll() });
    const answer = await hub.upload([title, video(content)]);
    expect([answer.status, answer.json().error.code]).toEqual([401, 'token_expired']);
    expect(hub.platform.videos).toEqual([]);
    expect(leftovers()).toEqual([]);
  });

  test('a platform that stays down after the last byte: whether there is a video is said to be unknown [C7-upstream]', async () => {
    hub.platform.faults.push({ on: 'chunk', from: LAST, do: 'lose-answer' });
    hub.platform.faults.push({ on: 'query', times: 1000, do: { answer: 503 } });
    const answer = await hub.upload([title, video(content)]);
    expect([answer.status, answer.json().error]).toEqual([
      502,
      expect.objectContaining({ code: 'upstream_unavailable', reason: 'outcome_unknown' }),
    ]);
    expect(hub.platform.requests.map(({ kind }) => kind)).not.toContain('cancel');
    expect(leftovers()).toEqual([]);
  });

  test('a session that is gone after its last byte: the hub does not risk a second video [C7-resumable]', async () => {
    hub.platform.faults.push({ on: 'chunk', from: LAST, do: 'lose-answer' });
    hub.platform.faults.push({ on: 'query', do: 'forget-session' });
    const answer = await hub.upload([title, video(content)]);
    expect([answer.status, answer.json().error.reason]).toEqual([502, 'outcome_unknown']);
    expect(answer.json().error.hint).toMatch(/Look for the video on the channel/);
    expect(hub.platform.videos).toHaveLength(1);
    expect(leftovers()).toEqual([]);
  });
});
