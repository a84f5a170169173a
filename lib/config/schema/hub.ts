import { type Static, Type } from '@sinclair/typebox';
import { count, filledSection, flag, milliseconds, section, size, text, textList, textMap } from './build.ts';

/** `hub`, `validation`, `healthCheck` and `swagger` (spec §2.1, contract §2). */
export const validationSection = filledSection(
  {
    skipSchemaValidation: flag('Skip structure and type validation. Never true in production.', false),
    unknownKeys: Type.Unsafe<'error' | 'warn'>({
      type: 'string',
      enum: ['error', 'warn'],
      default: 'error',
      description: '`warn` turns unknown keys into warnings, for a file shared with another version.',
    }),
  },
  'How this file is checked.',
);

export const hubSection = filledSection(
  {
    port: Type.Integer({
      minimum: 0,
      maximum: 65535,
      default: 3000,
      description: 'API port; `HUB_PORT` wins over it. 0 takes a free one.',
    }),
    host: Type.Optional(
      text(
        'Bind address; `HUB_HOST` wins over it. Default: 127.0.0.1 while `auth.enabled` is false, 0.0.0.0 while it is true.',
        { format: 'host' },
      ),
    ),
    publicUrl: Type.Optional(
      text(
        "The hub's own origin, e.g. https://hub.example.org. Default: from Host and trusted X-Forwarded headers.",
        {
          format: 'http-url',
        },
      ),
    ),
    shutdownTimeout: milliseconds('How long requests in flight may finish after SIGTERM.', {
      default: 30_000,
    }),
    http_client: filledSection(
      {
        timeout: milliseconds('HTTP client timeout for AI requests.', { default: 120_000 }),
        maxRedirects: Type.Integer({
          minimum: 0,
          maximum: 20,
          default: 5,
          description: 'Redirects followed at most; 0 never follows.',
        }),
      },
      'Outbound calls to AI providers.',
    ),
    limits: filledSection(
      {
        jsonBody: size('Largest AI, tool or admin body; over it 413.', '10mb'),
        concurrency: count('Requests in flight in the gateway.', { default: 2000 }),
        queue: count('Requests waiting past `concurrency`; past them 503.', { default: 2000, minimum: 0 }),
        perCaller: count('Requests in flight of one caller; past them 429.', { default: 500 }),
      },
      'Limits of the gateway.',
    ),
    cors: filledSection(
      { origins: textList('Browser origins allowed to call the hub, e.g. https://app.example.org.') },
      'Browsers on other origins.',
    ),
    rateLimit: filledSection(
      {
        enabled: flag('Limit requests per caller (identity, else client IP).', false),
        windowMs: milliseconds('Length of the window.', { default: 60_000 }),
        max: count('Requests in one window.', { default: 300 }),
      },
      'Rate limit; shared through Redis when the session store is Redis.',
    ),
    security: filledSection(
      {
        trustProxy: Type.Union([Type.Boolean(), Type.String({ minLength: 1 })], {
          default: false,
          description:
            '`true` trusts the direct peer only; a text is a comma-separated list of addresses and CIDR ranges.',
          expected: 'true, false or a list of addresses and CIDR ranges',
        }),
      },
      'Trust in front of the hub.',
    ),
    tls: filledSection(
      {
        enabled: flag('Serve HTTPS.', false),
        cert: Type.Optional(text('PEM certificate file.')),
        key: Type.Optional(text('PEM key file.')),
        ca: Type.Optional(text('PEM file of further CA certificates.')),
      },
      'HTTPS on the API port.',
    ),
  },
  'The gateway itself.',
);

export const healthCheckSection = filledSection(
  {
    enabled: flag('Serve the health endpoints.', true),
    path: text('Liveness path.', { default: '/health', format: 'url-path' }),
    readinessPath: text('Readiness path.', { default: '/ready', format: 'url-path' }),
  },
  'Health endpoints.',
);

export const swaggerSection = filledSection(
  {
    enabled: flag('Serve interactive API docs. To be disabled in production.', false),
    path: text('Path of the docs, relative to the base address.', { default: 'docs', format: 'docs-path' }),
  },
  'Interactive API docs.',
);

/** Reverse proxies (contract §2, §9). */
export const proxySchema = section({
  id: text('Name of the proxy, the value of `x-target`.', { format: 'id' }),
  url: text('Base address of the service.', { format: 'http-url' }),
  headers: textMap('Headers added upstream.'),
  removeHeaders: textList('Request headers that are not passed on.'),
  removeResponseHeaders: textList('Response headers that are not passed back.'),
  timeout: milliseconds('Time to the first byte of the answer, and between two bytes.', {
    derived: 'hub.http_client.timeout',
  }),
  auth: flag('Require main authentication.', true),
});

export type ProxyConfig = Static<typeof proxySchema>;
