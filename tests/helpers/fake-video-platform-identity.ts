import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestKind } from './fake-video-platform.ts';

/** The identity provider's half: it remembers what it has granted and checks every word of what it is asked. */
export interface FakeIdentity {
  /** Lifetime of access tokens in seconds. */
  lifetime: number;
  /** Scopes that the person ticks; undefined for all that are asked for. */
  granted: string[] | undefined;
  /** What the consent page answers instead of a code. */
  consentError: string | undefined;
  rotatesRefreshTokens: boolean;
  givesRefreshTokens: boolean;
  /** Answers of the token endpoint to come, before it works again. */
  tokenFaults: { status: number; error?: string; description?: string }[];
  revokeFaults: { status: number; error?: string }[];
  /** Redirect URIs that are registered with the client. */
  redirectUris: string[] | undefined;
  /** Calls so far. */
  calls: { authorize: number; exchange: number; refresh: number; revoke: number };
  /** Every token, code and verifier that was ever seen, which must appear nowhere else. */
  secrets: Set<string>;
  /** Tokens for an account that nobody has to authorize first, as its file holds them. */
  issue(options?: { expiresIn?: number; scope?: string }): Record<string, unknown>;
  /** Makes access tokens die before their time. */
  expireAccessTokens(): void;
  /** Takes the grant back, as the user may in his account. */
  revokeAll(): void;
  /** What is wrong with a token for a request, if anything. */
  refusalOf(
    token: string | undefined,
    kind: RequestKind,
  ): { status: number; reason: string; message?: string } | undefined;
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: URLSearchParams,
  ): Promise<boolean>;
}

const BASE = 'https://www.googleapis.com/auth/';
export const SCOPES = {
  upload: `${BASE}youtube.upload`,
  full: `${BASE}youtube`,
  captions: `${BASE}youtube.force-ssl`,
};

interface Grant {
  redirectUri: string;
  challenge: string | undefined;
  scope: string;
}

export function createFakeIdentity(client: { client_id: string; client_secret: string }): FakeIdentity {
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, string>();
  const accessTokens = new Map<string, { scope: string; expiresAt: number }>();

  const fresh = (kind: string) => {
    const token = `${kind}-${randomBytes(16).toString('hex')}`;
    identity.secrets.add(token);
    return token;
  };

  function authorize(response: ServerResponse, query: URLSearchParams): void {
    identity.calls.authorize += 1;
    const redirectUri = query.get('redirect_uri') ?? '';
    const problems = [
      query.get('client_id') !== client.client_id && 'invalid_client',
      identity.redirectUris !== undefined &&
        !identity.redirectUris.includes(redirectUri) &&
        'redirect_uri_mismatch',
      query.get('response_type') !== 'code' && 'unsupported_response_type',
      query.get('code_challenge') !== null &&
        query.get('code_challenge_method') !== 'S256' &&
        'invalid_request',
      (query.get('scope') ?? '') === '' && 'invalid_scope',
    ].filter((problem) => problem !== false);
    if (problems.length > 0) {
      // The provider shows such an error itself: it must not send anybody to an address that may be an attacker's.
      response.writeHead(400, { 'content-type': 'text/html' });
      response.end(`Error 400: ${problems[0]}`);
      return;
    }
    const back = new URL(redirectUri);
    const state = query.get('state');
    if (state !== null) back.searchParams.set('state', state);
    if (identity.consentError !== undefined) back.searchParams.set('error', identity.consentError);
    else {
      const code = fresh('4/code');
      const scope = (identity.granted ?? (query.get('scope') ?? '').split(' ')).join(' ');
      codes.set(code, { redirectUri, challenge: query.get('code_challenge') ?? undefined, scope });
      back.searchParams.set('code', code);
      back.searchParams.set('scope', scope);
    }
    response.writeHead(302, { location: back.href });
    response.end();
  }

  function exchange(form: URLSearchParams): object | string {
    identity.calls.exchange += 1;
    const grant = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    if (grant === undefined) return 'invalid_grant';
    if (grant.redirectUri !== form.get('redirect_uri')) return 'redirect_uri_mismatch';
    const verifier = form.get('code_verifier');
    if (verifier !== null) identity.secrets.add(verifier);
    const challenge = createHash('sha256')
      .update(verifier ?? '')
      .digest('base64url');
    if (grant.challenge !== undefined && grant.challenge !== challenge) return 'invalid_grant';
    return tokens(grant.scope, identity.givesRefreshTokens ? fresh('refresh') : undefined);
  }

  function refresh(form: URLSearchParams): object | string {
    identity.calls.refresh += 1;
    const old = form.get('refresh_token') ?? '';
    const scope = refreshTokens.get(old);
    if (scope === undefined) return 'invalid_grant';
    if (!identity.rotatesRefreshTokens) return tokens(scope, undefined);
    refreshTokens.delete(old);
    return tokens(scope, fresh('refresh'));
  }

  function tokens(scope: string, refreshToken: string | undefined): object {
    const accessToken = fresh('access');
    accessTokens.set(accessToken, { scope, expiresAt: Date.now() + identity.lifetime * 1000 });
    if (refreshToken !== undefined) refreshTokens.set(refreshToken, scope);
    return {
      access_token: accessToken,
      expires_in: identity.lifetime,
      scope,
      token_type: 'Bearer',
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    };
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await read(request));
    const fault = identity.tokenFaults.shift();
    if (fault !== undefined) {
      send(response, fault.status, {
        ...(fault.error !== undefined && { error: fault.error }),
        error_description: fault.description ?? `About ${form.get('refresh_token') ?? form.get('code')}`,
      });
      return;
    }
    if (form.get('client_id') !== client.client_id || form.get('client_secret') !== client.client_secret) {
      send(response, 401, { error: 'invalid_client', error_description: 'Unauthorized' });
      return;
    }
    const answers: Record<string, (form: URLSearchParams) => object | string> = {
      authorization_code: exchange,
      refresh_token: refresh,
    };
    const answer = answers[form.get('grant_type') ?? '']?.(form) ?? 'unsupported_grant_type';
    if (typeof answer === 'string') send(response, 400, { error: answer, error_description: 'Bad Request' });
    else send(response, 200, answer);
  }

  async function revoke(request: IncomingMessage, response: ServerResponse): Promise<void> {
    identity.calls.revoke += 1;
    const token = new URLSearchParams(await read(request)).get('token') ?? '';
    const fault = identity.revokeFaults.shift();
    if (fault !== undefined) {
      send(response, fault.status, { error: fault.error ?? 'server_error' });
      return;
    }
    const isKnown = refreshTokens.has(token) || accessTokens.has(token);
    identity.revokeAll();
    if (isKnown) send(response, 200, {});
    else send(response, 400, { error: 'invalid_token', error_description: 'Token expired or revoked' });
  }

  const identity: FakeIdentity = {
    lifetime: 3600,
    granted: undefined,
    consentError: undefined,
    rotatesRefreshTokens: false,
    givesRefreshTokens: true,
    tokenFaults: [],
    revokeFaults: [],
    redirectUris: undefined,
    calls: { authorize: 0, exchange: 0, refresh: 0, revoke: 0 },
    secrets: new Set(),
    issue({ expiresIn = 3600, scope = `${SCOPES.upload} ${SCOPES.full}` } = {}) {
      const { expires_in: _lifetime, ...issued } = tokens(scope, fresh('refresh')) as Record<string, unknown>;
      const accessToken = String(issued.access_token);
      accessTokens.set(accessToken, { scope, expiresAt: Date.now() + expiresIn * 1000 });
      return { ...issued, expiry_date: Date.now() + expiresIn * 1000 };
    },
    expireAccessTokens: () => accessTokens.clear(),
    revokeAll() {
      accessTokens.clear();
      refreshTokens.clear();
    },
    refusalOf(token, kind) {
      const known = accessTokens.get(token ?? '');
      if (known === undefined || known.expiresAt <= Date.now()) {
        return { status: 401, reason: 'authError', message: 'Invalid Credentials' };
      }
      const scopes = known.scope.split(' ');
      const needed: string[] =
        kind === 'captions'
          ? [SCOPES.captions]
          : kind === 'playlist'
            ? [SCOPES.full, SCOPES.captions]
            : [SCOPES.upload, SCOPES.full, SCOPES.captions];
      return needed.some((scope) => scopes.includes(scope))
        ? undefined
        : { status: 403, reason: 'insufficientPermissions', message: 'Insufficient Permission' };
    },
    async handle(request, response, path, query) {
      if (path === '/o/oauth2/v2/auth' && request.method === 'GET') authorize(response, query);
      else if (path === '/token' && request.method === 'POST') await token(request, response);
      else if (path === '/revoke' && request.method === 'POST') await revoke(request, response);
      else return false;
      return true;
    },
  };
  return identity;
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
