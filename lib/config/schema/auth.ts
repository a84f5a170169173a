import { type Static, Type } from '@sinclair/typebox';
import { filledSection, flag, milliseconds, oneOf, section, text, textList } from './build.ts';

/** Main and admin authentication (spec §2.2, §2.3; contract §2, §4). */
export const authSection = filledSection(
  {
    enabled: flag('Turn main authentication on.', false),
    type: oneOf('How a bearer token is checked.', ['edapi', 'jwt', 'apiKey'] as const, 'edapi'),
    edapi_url: Type.Optional(text('Identity API, for type edapi.', { format: 'http-url' })),
    jwt: Type.Optional(
      section(
        {
          issuer: text('Expected `iss`.'),
          audience: text('Expected `aud`.'),
          jwks_uri: text('Address of the key set.', { format: 'http-url' }),
        },
        'For type jwt.',
      ),
    ),
    apiKeys: Type.Array(
      section({
        id: text('Identity of whoever holds the key.'),
        sha256: text('SHA-256 of the key, 64 hex digits.', {
          pattern: '^[0-9a-fA-F]{64}$',
          expected: '64 hex digits',
        }),
      }),
      { default: [], description: 'Hashed keys, for type apiKey.' },
    ),
    cacheTtl: milliseconds('How long a positive answer is trusted; 0 asks each time.', {
      default: 60_000,
      minimum: 0,
    }),
    timeout: milliseconds('How long the identity API may take.', { default: 5000 }),
    session: filledSection(
      {
        store: oneOf('Where sessions live.', ['memory', 'redis'] as const, 'memory'),
        redis_url: Type.Optional(text('Address of Redis, for store redis.', { format: 'redis-url' })),
        ttl: milliseconds('Lifetime of a session.', { default: 28_800_000 }),
        cookie: filledSection(
          {
            secret: Type.Optional(
              text('Signs the session cookie; at least 32 characters.', { minLength: 0 }),
            ),
            name: text('Name of the cookie.', { default: 'hub.sid', format: 'header-token' }),
            sameSite: oneOf('SameSite attribute.', ['strict', 'lax', 'none'] as const, 'lax'),
          },
          'The session cookie.',
        ),
      },
      'Sessions.',
    ),
    admin: filledSection(
      {
        enabled: flag('Turn admin authentication, and with it the admin API, on.', false),
        apiKeys: textList('Keys of at least 32 characters; several for rotation.'),
        allowedNetworks: textList('Addresses or CIDR ranges; empty allows all.'),
      },
      'The admin API.',
    ),
  },
  'Who may come in.',
);

export type AuthConfig = Static<typeof authSection>;
