import type { Request, Response } from 'express';
import type { Config } from '../config/schema/config-schema.ts';
import { HubError, toHubError } from '../errors/hub-error.ts';
import { sendJson, sendText } from '../http/json-response.ts';
import type { Route, RouteGroup, RouteHandler } from '../http/route.ts';
import type { OutboundProxy } from '../http-client/outbound-proxy.ts';
import type { Logs } from '../logging/logger.ts';
import type { VideoAccount } from './accounts.ts';
import { type CallbackPage, grantedPage, refusedPage } from './callback-page.ts';
import { createChunkSender } from './sender/chunk-sender.ts';
import { createSenderThread } from './sender/sender-thread.ts';
import type { Staging } from './staging/s3.ts';
import { createVideohost } from './videohost.ts';

export interface VideohostRoutesDeps {
  config: Pick<Config, 'videohost'>;
  logs: Logs;
  outboundProxy: OutboundProxy;
  /** Whether work may go on after its answer; false on platforms that freeze the process (contract §11). */
  outlivesAnswers?: boolean;
  /** Script of a thread that sends videos; without one they are sent in this thread. */
  senderEntry?: URL;
}

const CALLBACK = '/videohost/auth/idp/callback';
const NO_STORE = { 'cache-control': 'no-store' };

/** The video routes (spec §4.2, contract §7). */
export function createVideohostRoutes(deps: VideohostRoutesDeps): RouteGroup {
  const { config, logs, outboundProxy, outlivesAnswers = true, senderEntry } = deps;
  const sender =
    senderEntry === undefined ? createChunkSender(outboundProxy) : createSenderThread(senderEntry);
  const videohost = createVideohost(
    config.videohost,
    logs.logger('videohost', 'videohost'),
    sender,
    outboundProxy,
  );
  const { accounts, uploads, staging } = videohost;

  /** The account that `x-target` names, noted in the access record. */
  function accountOf(request: Request): VideoAccount {
    const target = request.headers['x-target'];
    const account = accounts.require(typeof target === 'string' ? target : undefined);
    request.hub.log.target = account.id;
    return account;
  }

  async function takeCallback(request: Request): Promise<VideoAccount> {
    const query = new URL(request.url, 'http://hub').searchParams;
    const account = accounts.require(query.get('target') ?? undefined, 'target');
    request.hub.log.target = account.id;
    await videohost.of(account).authorization.finish(query, request.hub.signal);
    return account;
  }

  /** A place for a video past a platform that takes no large bodies; the upload then names it as `staged`. */
  function stagingRoute(bucket: Staging): Route {
    return {
      method: 'POST',
      path: '/videohost/staging',
      async handler(request, response) {
        const { id } = accountOf(request);
        const place = await bucket.create(id, request.hub.caller.id ?? null);
        sendJson(response, 201, { ...place, method: 'PUT' }, NO_STORE);
      },
    };
  }

  const get = (path: string, handler: RouteHandler): Route => ({ method: 'GET', path, handler });
  const routes: Route[] = [
    get('/videohost/auth/idp', async (request, response) => {
      const { authorization } = videohost.of(accountOf(request));
      const captions = request.query.captions === 'true';
      sendJson(response, 200, { authUrl: await authorization.begin({ captions }) }, NO_STORE);
    }),
    {
      method: 'GET',
      path: CALLBACK,
      access: 'public',
      async handler(request, response) {
        try {
          const { id } = await takeCallback(request);
          if (prefersJson(request)) sendJson(response, 200, { success: true, target: id }, NO_STORE);
          else sendPage(response, 200, grantedPage(id));
        } catch (thrown) {
          const error = toHubError(thrown);
          if (!asksForPage(request) || error.code === 'internal_error') throw thrown;
          request.hub.log.code = error.code;
          sendPage(response, error.status, refusedPage(error.message, error.extra?.hint));
        }
      },
    },
    get('/videohost/auth/status', async (request, response) => {
      const account = accountOf(request);
      const authenticated = await videohost.of(account).tokens.isAuthenticated();
      sendJson(response, 200, { authenticated, target: account.id }, NO_STORE);
    }),
    {
      method: 'POST',
      path: '/videohost/auth/logout',
      async handler(request, response) {
        const { tokens } = videohost.of(accountOf(request));
        const outcome = await tokens.logout(request.hub.signal);
        sendJson(response, 200, { success: true, message: LOGOUT_MESSAGES[outcome] }, NO_STORE);
      },
    },
    {
      method: 'POST',
      path: '/videohost/upload',
      async handler(request, response) {
        const account = accountOf(request);
        const begun = await uploads.upload(account.id, request, {
          callerId: request.hub.caller.id,
          signal: request.hub.signal,
          respondAsync: outlivesAnswers && wantsAsync(request),
          key: idempotencyKeyOf(request, account.id),
        });
        if (begun.kind === 'result') {
          request.hub.log.uploadId = begun.result.uploadId;
          sendJson(response, 200, begun.result);
          return;
        }
        request.hub.log.uploadId = begun.uploadId;
        const statusUrl = `/videohost/uploads/${begun.uploadId}`;
        sendJson(
          response,
          202,
          { uploadId: begun.uploadId, statusUrl },
          { location: statusUrl, 'preference-applied': 'respond-async' },
        );
      },
    },
    ...(staging === undefined ? [] : [stagingRoute(staging)]),
    get('/videohost/uploads', async (request, response) => {
      sendJson(response, 200, { uploads: await uploads.list(request.hub.caller.id) }, NO_STORE);
    }),
    get('/videohost/uploads/:uploadId', async (request, response) => {
      const upload = await uploads.find(String(request.params.uploadId), request.hub.caller.id);
      sendJson(response, 200, upload, NO_STORE);
    }),
    {
      method: 'DELETE',
      path: '/videohost/uploads/:uploadId',
      async handler(request, response) {
        const upload = await uploads.cancel(String(request.params.uploadId), request.hub.caller.id);
        sendJson(response, 200, upload, NO_STORE);
      },
    },
  ];
  return {
    name: 'videohost',
    prefixes: [{ path: '/videohost', access: 'main' }],
    routes,
    start: () => (accounts.all.length === 0 ? undefined : uploads.start()),
    close: () => videohost.close(),
  };
}

const LOGOUT_MESSAGES = {
  nothing: 'There were no stored tokens',
  revoked: 'The tokens were revoked and deleted',
  'not-revoked':
    'The tokens were deleted here, but the identity provider could not be asked to revoke them: remove the access in the account’s own security settings',
} as const;

function sendPage(response: Response, status: number, { html, policy }: CallbackPage): void {
  sendText(response, status, 'text/html; charset=utf-8', html, {
    ...NO_STORE,
    'content-security-policy': policy,
  });
}

function prefersJson({ headers }: Request): boolean {
  const accept = headers.accept ?? '';
  return /application\/json/i.test(accept) && !/text\/html/i.test(accept);
}

/** Whoever shows pages says so; a program that says nothing gets an error as everywhere. */
function asksForPage({ headers }: Request): boolean {
  return /text\/html/i.test(headers.accept ?? '');
}

/** RFC 7240 §4.1 */
function wantsAsync({ headers }: Request): boolean {
  const prefer = headers.prefer;
  const text = Array.isArray(prefer) ? prefer.join(',') : (prefer ?? '');
  return text.split(',').some((preference) => /^\s*respond-async\s*(?:;|$)/i.test(preference));
}

function idempotencyKeyOf({ headers }: Request, target: string): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new HubError('invalid_request', 'Idempotency-Key must be 1 to 255 printable characters', {
    param: 'idempotency-key',
    extra: { target, reason: 'invalid_key', hint: 'Use a fresh UUID for each upload.' },
  });
}
