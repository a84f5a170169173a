import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { send } from '../helpers/http.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';

const session = { cookie: { secret: 'session-secret-0123456789-abcdefghijkl' } };
const targets = [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }];
const env = { HUB_HOST: '127.0.0.1' };

async function ask(hub: HubProcess, token: string) {
  const answer = await send(`${hub.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
  return { ...answer, code: answer.status === 200 ? undefined : answer.json().error.code };
}

describe('auth.type jwt', () => {
  const ISSUER = 'https://issuer.example';
  const AUDIENCE = 'hub';
  let keys: Server;
  let jwks: JWK[] = [];
  let fetched = 0;
  let broken = false;
  let hub: HubProcess;
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;
  let stranger: Awaited<ReturnType<typeof generateKeyPair>>;

  beforeAll(async () => {
    pair = await generateKeyPair('RS256', { extractable: true });
    stranger = await generateKeyPair('RS256', { extractable: true });
    jwks = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
    keys = createServer((_request, response) => {
      fetched += 1;
      if (broken) response.writeHead(500).end();
      else
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: jwks }));
    });
    keys.listen(0, '127.0.0.1');
    await once(keys, 'listening');
    const jwksUri = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks.json`;
    hub = await startHub({
      config: {
        targets,
        auth: {
          enabled: true,
          type: 'jwt',
          jwt: { issuer: ISSUER, audience: AUDIENCE, jwks_uri: jwksUri },
          session,
        },
      },
      env,
    });
  });
  afterAll(() => {
    keys.closeAllConnections();
    keys.close();
  });

  const sign = (
    claims: JWTPayload,
    {
      key = pair.privateKey,
      kid = 'one',
      expires = '1h',
    }: { key?: CryptoKey; kid?: string; expires?: string } = {},
  ) =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'anna', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuedAt()
      .setExpirationTime(expires)
      .sign(key as never);

  test('an unreachable or broken key set is 503, never let in', async () => {
    broken = true;
    expect(await ask(hub, await sign({}))).toMatchObject({ status: 503, code: 'identity_unavailable' });
    broken = false;
  });

  test('a token of the issuer for this audience is let in, the key set fetched once [C2-auth-types C2-auth-jwt]', async () => {
    fetched = 0;
    for (const sub of ['anna', 'bert', 'carl']) {
      const answer = await ask(hub, await sign({ sub }));
      expect(answer.status).toBe(200);
      expect(answer.headers['set-cookie']?.[0]).toMatch(/^hub\.sid=/);
    }
    expect(fetched).toBe(1);
  });

  test('a token of another issuer, audience, key or time is refused [C2-auth-jwt S7-main-401]', async () => {
    const good = await sign({});
    const [head, body, signature] = good.split('.');
    const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'anna', exp: Math.floor(Date.now() / 1000) + 3600 };
    const wrong = {
      issuer: await sign({ iss: 'https://other.example' }),
      audience: await sign({ aud: 'another' }),
      'key of a stranger': await sign({}, { key: stranger.privateKey }),
      'unknown key id': await sign({}, { kid: 'two' }),
      expired: await sign({}, { expires: '-1m' }),
      'not yet good': await sign({ nbf: Math.floor(Date.now() / 1000) + 600 }),
      'changed body': `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')}.${signature}`,
      'without identity': await sign({ sub: undefined as never }),
      'no signature': new UnsecuredJWT(claims).encode(),
      'signed with the public key as a secret': await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .sign(Buffer.from(JSON.stringify(jwks[0]))),
      'cut signature': `${head}.${body}.`,
      'not a token': 'just-some-text',
    };
    for (const [name, token] of Object.entries(wrong)) {
      expect([name, await ask(hub, token)]).toEqual([
        name,
        expect.objectContaining({ status: 401, code: 'unauthorized' }),
      ]);
    }
    expect((await ask(hub, good)).status).toBe(200);
  });

  test('a token that names no key is good when any key of the set made it', async () => {
    const [first] = jwks;
    jwks = [{ ...(await exportJWK(stranger.publicKey)), kid: 'zero', alg: 'RS256' }, first as JWK];
    const second = await startHub({
      config: {
        targets,
        auth: {
          enabled: true,
          type: 'jwt',
          jwt: {
            issuer: ISSUER,
            audience: AUDIENCE,
            jwks_uri: `http://127.0.0.1:${(keys.address() as AddressInfo).port}/jwks.json`,
          },
          session,
        },
      },
      env,
    });
    const nameless = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'anna' })
      .setProtectedHeader({ alg: 'RS256' })
      .setExpirationTime('1h')
      .sign(pair.privateKey);
    expect((await ask(second, nameless)).status).toBe(200);
    const { privateKey } = await generateKeyPair('RS256');
    const foreign = await new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: 'anna' })
      .setProtectedHeader({ alg: 'RS256' })
      .setExpirationTime('1h')
      .sign(privateKey);
    expect(await ask(second, foreign)).toMatchObject({ status: 401, code: 'unauthorized' });
    await second.stop();
  });
});

test('auth.type apiKey lets in who knows a key whose SHA-256 is configured [C2-auth-types C2-auth-api-keys]', async () => {
  const key = 'key-of-anna-0123456789';
  const sha256 = createHash('sha256').update(key).digest('hex');
  const hub = await startHub({
    config: {
      targets,
      auth: {
        enabled: true,
        type: 'apiKey',
        apiKeys: [{ id: 'anna', sha256: sha256.toUpperCase() }],
        session,
      },
    },
    env,
  });
  const answer = await ask(hub, key);
  expect(answer.status).toBe(200);
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  expect((await send(`${hub.url}/v1/models`, { headers: { cookie } })).status).toBe(200);
  for (const wrong of [`${key}x`, sha256, 'anna']) {
    expect(await ask(hub, wrong)).toMatchObject({ status: 401, code: 'unauthorized' });
  }
});
