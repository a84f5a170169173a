import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import type { VideoAccount } from '../accounts.ts';
import type { IdentityProvider } from '../platform.ts';
import type { Tokens } from '../token-store/token-store.ts';
import { platformUnavailable } from '../video-errors.ts';
import { translateOAuthFailure } from './errors.ts';
import { callHttp, type HttpAnswer } from './http.ts';

/** The video platform's scopes: upload, and everything else (thumbnails, playlists). */
export const UPLOAD_SCOPE = 'https://www.googleapis.com/auth/youtube.upload';
export const FULL_SCOPE = 'https://www.googleapis.com/auth/youtube';
/** Captions alone ask for this one, so that it is asked for only on demand. */
export const CAPTIONS_SCOPE = 'https://www.googleapis.com/auth/youtube.force-ssl';

export interface GoogleIdentityDeps {
  account: VideoAccount;
  endpoints: { authorize: string; token: string; revoke: string };
  dispatcher: Dispatcher;
  now?: () => number;
  /** Milliseconds that one call may take; default 10,000. */
  timeoutMs?: number;
  /** Calls after the first one that failed in passing; default 2. */
  retries?: number;
  /** Milliseconds before the first of them, doubled each time; default 250. */
  retryDelayMs?: number;
}

/** What OAuth2Client asks of its transporter. */
interface TransportRequest {
  method?: string;
  url?: string | URL;
  data?: unknown;
}

/** Loaded at first use: most starts of the hub never authorize anybody. */
const library = () => import('googleapis/build/src/apis/youtube/index.js');

/**
 * Google's identity provider. The library makes the requests; they travel by a transporter of the hub's own, because
 * the library's has no time limit, retries what must not be repeated and puts tokens into its errors.
 */
export function createGoogleIdentity(deps: GoogleIdentityDeps): IdentityProvider {
  const { account, endpoints, dispatcher, now = Date.now } = deps;
  const { timeoutMs = 10_000, retries = 2, retryDelayMs = 250 } = deps;

  async function clientFor(transport: (request: TransportRequest) => Promise<{ data: unknown }>) {
    const { auth } = await library();
    return new auth.OAuth2({
      clientId: account.clientId,
      clientSecret: account.clientSecret,
      redirectUri: account.redirectUri,
      endpoints: { oauth2AuthBaseUrl: endpoints.authorize, oauth2TokenUrl: endpoints.token },
      useAuthRequestParameters: false,
      transporter: { request: transport } as never,
    });
  }

  /** One call, again where the provider is down. An authorization code is good once, but a 5xx did not use it up. */
  async function post(url: string | URL, form: string, signal: AbortSignal): Promise<HttpAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      let failure: unknown;
      try {
        const answer = await callHttp(dispatcher, {
          method: 'POST',
          url,
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: form,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        const isPassing = answer.status >= 500 || answer.status === 429;
        if (!isPassing || attempt >= retries) return withoutEcho(answer, form);
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
      }
      if (attempt >= retries) {
        throw platformUnavailable(account.id, 'identity provider', 'unreachable', failure);
      }
      await sleep(retryDelayMs * 2 ** attempt * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }

  /** Runs `ask` on the library's client and gives what the token endpoint answered. */
  async function requestTokens(
    stage: 'exchange' | 'refresh',
    signal: AbortSignal,
    ask: (client: Awaited<ReturnType<typeof clientFor>>) => Promise<unknown>,
  ): Promise<Tokens> {
    let tokens: Tokens | undefined;
    const client = await clientFor(async ({ url, data }) => {
      const answer = await post(url ?? endpoints.token, String(data), signal);
      if (answer.status !== 200) throw translateOAuthFailure(account, stage, answer.status, answer.text);
      tokens = readTokens(answer.text);
      // A copy: the library changes what it gets.
      return { data: { ...tokens } };
    });
    await ask(client);
    if (tokens === undefined) throw new Error('the identity provider was not asked');
    return tokens;
  }

  function readTokens(text: string): Tokens {
    const answer = tokenAnswer(text);
    if (answer === undefined) {
      throw platformUnavailable(account.id, 'identity provider', 'bad_response');
    }
    const lifetime = Number(answer.expires_in);
    return {
      access_token: answer.access_token,
      ...(typeof answer.refresh_token === 'string' &&
        answer.refresh_token !== '' && { refresh_token: answer.refresh_token }),
      // RFC 6749 §5.1: left out where all that was asked for is granted.
      scope: typeof answer.scope === 'string' ? answer.scope : '',
      token_type: typeof answer.token_type === 'string' ? answer.token_type : 'Bearer',
      expiry_date: now() + (Number.isFinite(lifetime) ? lifetime : 3600) * 1000,
    };
  }

  return {
    async authorizationUrl({ state, challenge, captions }) {
      const client = await clientFor(() => Promise.reject(new Error('no request is needed')));
      return client.generateAuthUrl({
        access_type: 'offline',
        prompt: 'consent select_account',
        scope: [UPLOAD_SCOPE, FULL_SCOPE, ...(captions ? [CAPTIONS_SCOPE] : [])],
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256' as never,
      });
    },
    async exchange({ code, verifier }, signal) {
      const tokens = await requestTokens('exchange', signal, (client) =>
        client.getToken({ code, ...(verifier !== undefined && { codeVerifier: verifier }) }),
      );
      return tokens.scope === '' ? { ...tokens, scope: `${UPLOAD_SCOPE} ${FULL_SCOPE}` } : tokens;
    },
    refresh: (refreshToken, signal) =>
      requestTokens('refresh', signal, (client) => {
        client.setCredentials({ refresh_token: refreshToken });
        return client.refreshAccessToken();
      }),
    // Not the library's: it puts the token into the URL, where proxies log it. RFC 7009 §2.1 wants a form.
    async revoke(token, signal) {
      const answer = await post(endpoints.revoke, new URLSearchParams({ token }).toString(), signal);
      const isGone = answer.status === 400 && /"invalid_token"/.test(answer.text);
      if (answer.status >= 300 && !isGone) {
        throw translateOAuthFailure(account, 'revoke', answer.status, answer.text);
      }
    },
  };
}

/** A refusal may quote what it was sent; whatever is made of it must not. */
function withoutEcho(answer: HttpAnswer, form: string): HttpAnswer {
  if (answer.status < 300) return answer;
  const sent = [...new URLSearchParams(form).values()].filter((value) => value.length >= 8);
  return { ...answer, text: sent.reduce((text, value) => text.replaceAll(value, '[REDACTED]'), answer.text) };
}

interface TokenAnswer {
  access_token: string;
  refresh_token?: unknown;
  scope?: unknown;
  token_type?: unknown;
  expires_in?: unknown;
}

function tokenAnswer(text: string): TokenAnswer | undefined {
  try {
    const value = JSON.parse(text) as Partial<TokenAnswer> | null;
    return typeof value?.access_token === 'string' && value.access_token !== ''
      ? (value as TokenAnswer)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether granted scopes let the hub upload. The full scope includes the upload scope. */
export function allowsUploads(scope: string): boolean {
  const granted = scope.split(/\s+/);
  return granted.includes(UPLOAD_SCOPE) || granted.includes(FULL_SCOPE);
}
