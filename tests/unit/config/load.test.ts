// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig } from '../../../lib/config/load.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';
import { faultsOf, loadText } from './load-text.ts';

const KEY = 'k3y-0123456789-abcdefghijklmnop-9876';

describe('defaults', () => {
  test('an almost empty file is a complete configuration [C2-defaults C2-health-swagger-defaults C2-log-defaults]', () => {
    const { config, secrets, warnings } = loadText('hub: {}');
    expect(config.hub).toEqual({
      port: 3000,
      shutdownTimeout: 30_000,
      http_client: { timeout: 120_000, maxRedirects: 5 },
      limits: { jsonBody: '10mb', concurrency: 2000, queue: 2000, perCaller: 500 },
      cors: { origins: [] },
      rateLimit: { enabled: false, windowMs: 60_000, max: 300 },
      security: { trustProxy: false },
      tls: { enabled: false },
    });
    expect(config.healthCheck).toEqual({ enabled: true, path: '/health', readinessPath: '/ready' });
    expect(config.swagger).toEqual({ enabled: false, path: 'docs' });
    expect(config.auth.admin).toEqual({ enabled: false, apiKeys: [], allowedNetworks: [] });
    expect(config.auth.session.cookie).toEqual({ name: 'hub.sid', sameSite: 'lax' });
    expect(config.logging.types.tools).toEqual({ enabled: true, console: true, file: false, level: 'info' });
    expect([config.targets, config.proxies, config.tools, config.mcp.servers]).toEqual([[], [], [], []]);
    expect(config).not.toHaveProperty('videohost');
    expect([secrets, warnings]).toEqual([[], []]);
  });

  test('a timeout left out is that of the key it follows', () => {
    const { config } = loadText(
      'hub: {http_client: {timeout: 5000}}\ntargets:\n  - {id: a, provider: echo}\n  - {id: b, provider: echo, requestTimeout: 700}\nproxies: [{id: p, url: "http://localhost"}]',
    );
    expect(config.targets.map((target) => [target.requestTimeout, target.firstTokenTimeout])).toEqual([
      [5000, 5000],
      [700, 700],
    ]);
    expect(config.proxies[0]?.timeout).toBe(5000);
  });

  test('a section with nothing below it is left out', () => {
    const { config } = loadText('hub:\ntargets:\nproxies:\nmcp:\n  servers:\nvideohost:\n');
    expect(config.hub.port).toBe(3000);
    expect(config.mcp.servers).toEqual([]);
  });

  test('anchors and merge keys are understood', () => {
    const { config } = loadText(
      'targets:\n  - &base {id: a, provider: echo, idleTimeout: 5}\n  - {<<: *base, id: b}',
    );
    expect(config.targets.map(({ id, idleTimeout }) => [id, idleTimeout])).toEqual([
      ['a', 5],
      ['b', 5],
    ]);
  });

  test('a key named like a part of every object is an unknown key, not a hole', () => {
    expect(faultsOf('hub: {__proto__: {port: 1}}')[0]).toMatch(/^hub\.__proto__ is not a known key/);
    expect(({} as Record<string, unknown>).port).toBeUndefined();
  });
});

describe('faults', () => {
  test('all of them are reported together, in the order of the file [C2-all-faults C2-fault-line C2-array-paths]', () => {
    const faults = faultsOf(
      [
        'hub:',
        '  port: abc',
        'targets:',
        '  - id: a',
        '    provider: openai',
        '    apiKey: ${MISSING}',
        '  - id: a',
        '    provider: echo',
        'mcp:',
        '  servers:',
        '    - name: files',
        '      command: bash',
        '      args: [x, ../y]',
        'auth:',
        '  admin: {enabled: true, apiKeys: [short]}',
      ].join('\n'),
      { HUB_PORT: 'x', AILINK_PORT: '70000' },
    );
    expect(faults).toEqual([
      'HUB_PORT must be a number',
      'AILINK_PORT must be at most 65535',
      'hub.port must be a number (config.yaml:2)',
      'targets[0].apiKey needs the environment variable MISSING, which is not set (config.yaml:6)',
      'targets[1].id repeats the id of targets[0] (config.yaml:7)',
      'mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx (config.yaml:12)',
      'mcp.servers[0].args[1] must not hold a path traversal (..) (config.yaml:13)',
      'auth.admin.apiKeys[0] must be at least 32 characters (config.yaml:15)',
    ]);
  });

  test('the error holds one line a fault [S2.1-validation-failed]', () => {
    const error = new ConfigError(['hub.port must be a number (config.yaml:3)', 'hub.host must be a string']);
    expect(error.lines).toEqual([
      'Configuration validation failed: hub.port must be a number (config.yaml:3)',
      'Configuration validation failed: hub.host must be a string',
    ]);
  });

  test('no fault shows a value: it may be a secret', () => {
    const secret = 'sk-verySecret-0123456789-verySecret';
    const files = [
      `hub: {port: "${secret}"}`,
      `hub: {host: "http://${secret}:1"}`,
      `auth: {enabled: "${secret}"}`,
      `targets: [{id: a, provider: "${secret}"}]`,
      `targets: [{id: a, provider: openai, apiKey: {value: "${secret}"}}]`,
      `targets: [{id: a, provider: openai, apiKey: "${secret}\\n"}]`,
      `auth: {admin: {enabled: true, apiKeys: ["${secret.slice(0, 20)}"]}}`,
      `mcp: {servers: [{name: a, command: "${secret}"}]}`,
      `mcp: {servers: [{name: a, command: node, args: ["../${secret}"]}]}`,
      `mcp: {servers: [{name: a, transport: http, url: "${secret}"}]}`,
      `auth: {session: {redis_url: "${secret}"}}`,
      `hub: {security: {trustProxy: "${secret}"}}`,
      `hub: "${secret}" x`,
      `hub: [${secret}`,
      `${secret}`,
      `targets: *${secret}`,
      'hub: {port: "${V}"}',
    ];
    for (const file of files) {
      const faults = faultsOf(file, { V: secret });
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.join()).not.toContain(secret.slice(0, 20));
    }
  });

  test('a secret in the place of a key is cut out of the fault', () => {
    const file = 'targets: [{id: a, provider: openai, apiKey: "${KEY}"}]\nsk-0123456789-abcdef: 1';
    expect(faultsOf(file, { KEY: 'sk-0123456789-abcdef' })).toEqual([
      '[REDACTED] is not a known key; known here: validation, hub, targets, proxies, tools, mcp, videohost, auth, healthCheck, swagger, logging (config.yaml:2)',
    ]);
  });

  test('a missing file is one line that names it [C1-no-config]', () => {
    expect(() => loadConfig({ path: './no/such/hub.yaml', env: {} })).toThrow(
      'Configuration validation failed: hub.yaml does not exist: no configuration file at ./no/such/hub.yaml',
    );
  });

  test('a directory, and bytes that are no text, are faults', () => {
    expect(() => loadConfig({ path: temporaryFolder(), env: {} })).toThrow(
      'is a directory, not a configuration file',
    );
    expect(faultsOf(Buffer.from([0x68, 0xff, 0xfe]))).toEqual(['config.yaml is not UTF-8 text']);
  });
});

describe('unknown keys', () => {
  test('become warnings where the file is shared with another version [C2-unknown-keys-warn]', () => {
    const { config, warnings } = loadText('validation: {unknownKeys: warn}\nhub:\n  prot: 1\nnewer: {a: b}');
    expect(warnings).toEqual([
      'hub.prot is not a known key; did you mean hub.port? (config.yaml:3)',
      'newer is not a known key; known here: validation, hub, targets, proxies, tools, mcp, videohost, auth, healthCheck, swagger, logging (config.yaml:4)',
    ]);
    expect(config.hub).not.toHaveProperty('prot');
    expect(config).not.toHaveProperty('newer');
  });
});

describe('skipSchemaValidation', () => {
  const faulty =
    'hub:\n  port: abc\n  colour: red\nlogging: {maxFiles: weeks}\ntargets:\n  - id: a\n  - {id: b, provider: echo}';

  test.each([
    ['the file', `validation: {skipSchemaValidation: true}\n${faulty}`, {}],
    ['the environment', faulty, { HUB_SKIP_SCHEMA_VALIDATION: 'true' }],
  ])(
    'of %s skips structure and types with a loud warning [C1-skip-validation S2.1-skip-schema]',
    (_who, text, env) => {
      const { config, warnings } = loadText(text, env);
      expect(warnings.join('\n')).toMatch(
        /(validation\.skipSchemaValidation|HUB_SKIP_SCHEMA_VALIDATION) is true: STRUCTURE AND TYPES WERE NOT VALIDATED/,
      );
      expect(warnings.join('\n')).toContain('hub.port must be a number; left out');
      expect(config.hub.port).toBe(3000);
      expect(config.logging.maxFiles).toBe('14d');
      // Half a target could only fail later: it is named in a warning and left out.
      expect(config.targets.map(({ id }) => id)).toEqual(['b']);
    },
  );

  test.each([
    [
      'a short admin key',
      'auth: {admin: {enabled: true, apiKeys: [short]}}',
      'auth.admin.apiKeys[0] must be at least 32 characters (config.yaml:1)',
    ],
    [
      'an admin key that is no text',
      'auth: {admin: {enabled: true, apiKeys: [[1]]}}',
      'auth.admin.apiKeys[0] must be a string (config.yaml:1)',
    ],
    [
      'admin keys that are no list',
      'auth: {admin: {enabled: true, apiKeys: {a: b}}}',
      'auth.admin.apiKeys must be an array (config.yaml:1)',
    ],
    [
      'a switch of authentication that is no boolean',
      'auth: {enabled: maybe}',
      'auth.enabled must be a boolean (config.yaml:1)',
    ],
    [
      'a short session secret',
      'auth: {enabled: true, session: {cookie: {secret: short}}}',
      'auth.session.cookie.secret must be at least 32 characters (config.yaml:1)',
    ],
    [
      'a program outside the allowlist',
      'mcp: {servers: [{name: a, command: bash}]}',
      'mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx (config.yaml:1)',
    ],
    [
      'a program that is no text',
      'mcp: {servers: [{name: a, command: [bash]}]}',
      'mcp.servers[0].command must be a string (config.yaml:1)',
    ],
    [
      'an argument that climbs',
      'mcp: {servers: [{name: a, command: node, args: [../x]}]}',
      'mcp.servers[0].args[0] must not hold a path traversal (..) (config.yaml:1)',
    ],
    [
      'arguments that are no list',
      'mcp: {servers: [{name: a, command: node, args: ../x}]}',
      'mcp.servers[0].args must be an array (config.yaml:1)',
    ],
    [
      'an unset variable',
      'hub: {host: "${NONE}"}',
      'hub.host needs the environment variable NONE, which is not set (config.yaml:1)',
    ],
  ])('does not skip %s [C1-skip-keeps-security]', (_title, text, fault) => {
    expect(faultsOf(text, { HUB_SKIP_SCHEMA_VALIDATION: 'true' })).toEqual([fault]);
  });

  test('survives whatever stands in the place of a section', () => {
    for (const junk of ['1', 'text', '[1, [2]]', '{a: {b: c}}', '[{}, null, {id: {}}]', '.inf']) {
      for (const key of [
        'hub',
        'targets',
        'proxies',
        'tools',
        'mcp',
        'videohost',
        'healthCheck',
        'swagger',
        'logging',
      ]) {
        const { config } = loadText(`${key}: ${junk}`, { HUB_SKIP_SCHEMA_VALIDATION: '1' });
        expect(config.hub.port).toBe(3000);
      }
    }
  });
});

describe('the environment', () => {
  test.each([
    ['HUB_PORT', 'abc', 'HUB_PORT must be a number'],
    ['HUB_PORT', '3000.5', 'HUB_PORT must be a whole number'],
    ['HUB_PORT', '-1', 'HUB_PORT must be at least 0'],
    ['AILINK_PORT', '65536', 'AILINK_PORT must be at most 65535'],
    ['AILINK_PORT', '0x10', 'AILINK_PORT must be a number'],
    ['HUB_HOST', 'http://0.0.0.0', 'HUB_HOST must be an IP address or host name, without scheme and port'],
    ['AILINK_TOKEN', 'short', 'AILINK_TOKEN must be at least 32 characters'],
    ['AILINK_TOKEN', `${KEY} `, 'AILINK_TOKEN must be printable ASCII without spaces'],
    ['HUB_SKIP_SCHEMA_VALIDATION', 'yes', 'HUB_SKIP_SCHEMA_VALIDATION must be true or false'],
  ])('%s=%s is refused [C2-port-variables]', (name, value, fault) => {
    expect(faultsOf('hub: {}', { [name]: value })).toEqual([fault]);
  });

  test('a companion elsewhere needs the shared token', () => {
    expect(faultsOf('hub: {}', { AILINK_URL: 'http://companion:3100' })).toEqual([
      'AILINK_TOKEN is required when AILINK_URL is set',
    ]);
    expect(faultsOf('hub: {}', { AILINK_URL: 'companion', AILINK_TOKEN: KEY })).toEqual([
      'AILINK_URL must be an http:// or https:// address',
    ]);
  });

  test('HUB_PORT and HUB_HOST win, and leave the hash alone [C1-hub-port]', () => {
    const plain = loadText('hub: {port: 4000}');
    const moved = loadText('hub: {port: 4000}', { HUB_PORT: '4001', HUB_HOST: '127.0.0.1' });
    expect([plain.config.hub.port, moved.config.hub.port]).toEqual([4000, 4001]);
    expect(moved.config.hub.host).toBe('127.0.0.1');
    expect(moved.hash).toBe(plain.hash);
  });

  test.each([
    [{ HUB_HOST: '0.0.0.0' }, 'hub: {}', /^HUB_HOST exposes a hub without authentication/],
    [{}, 'hub: {host: "::"}', /^hub\.host exposes a hub without authentication/],
  ])('an explicit address that exposes an open hub is a warning', (env, text, warning) => {
    expect(loadText(text, env).warnings).toEqual([expect.stringMatching(warning)]);
  });

  test.each(['127.0.0.1', '::1', 'localhost'])('a hub on %s is not exposed', (host) => {
    expect(loadText('hub: {}', { HUB_HOST: host }).warnings).toEqual([]);
  });

  test("another program's proxy variable is a warning at most", () => {
    expect(loadText('hub: {}', { HTTPS_PROXY: 'socks5://localhost:1080' }).warnings).toEqual([
      'HTTPS_PROXY is not an http:// or https:// address and is not used',
    ]);
  });
});

describe('warnings', () => {
  test.each([
    [
      'a secret in the file',
      `auth: {admin: {enabled: true, apiKeys: [${KEY}]}}`,
      'auth.admin.apiKeys[0] is a secret written into the file; take it from an environment variable instead (config.yaml:1)',
    ],
    [
      'a reference without braces',
      'targets: [{id: a, provider: openai, apiKey: $OPENAI_API_KEY}]',
      'targets[0].apiKey looks like a reference to the environment but is taken as it stands; write ${NAME} (config.yaml:1)',
    ],
    [
      'inline code',
      'mcp: {servers: [{name: a, command: python3, args: [-c, "print(1)"]}]}',
      'mcp.servers[0].args[0] makes the command run or load code given beside the script (config.yaml:1)',
    ],
    [
      'a loader variable',
      'mcp: {servers: [{name: a, command: node, args: [a.js], env: {LD_PRELOAD: x.so}}]}',
      'mcp.servers[0].env.LD_PRELOAD makes the command load code of its choice (config.yaml:1)',
    ],
    [
      'admin keys that nothing uses',
      'auth: {admin: {apiKeys: ["${KEY-k3y-0123456789-abcdefghijklmnop-98}"]}}',
      'auth.admin.apiKeys are not used: auth.admin.enabled is false (config.yaml:1)',
    ],
    [
      'certificates without TLS',
      'hub: {tls: {cert: a.pem, key: b.pem}}',
      'hub.tls has files but is not enabled: the hub serves plain HTTP (config.yaml:1)',
    ],
    [
      'a rate limit that is off',
      'hub: {rateLimit: {max: 5}}',
      'hub.rateLimit has settings but is not enabled (config.yaml:1)',
    ],
    [
      'a proxy that everybody may use',
      'proxies: [{id: a, url: "http://a", auth: false}]',
      'proxies[0].auth is false: anybody who reaches the hub may use this proxy (config.yaml:1)',
    ],
    [
      'trust in everybody',
      'hub: {security: {trustProxy: 0.0.0.0/0}}',
      'hub.security.trustProxy trusts every address: anybody may claim any client IP (config.yaml:1)',
    ],
    [
      'every origin',
      'hub: {cors: {origins: ["*"]}}',
      'hub.cors.origins[0] lets every web site call the hub (config.yaml:1)',
    ],
    [
      'a callback without its target',
      'videohost: {accounts: [{id: a, client_id: c, client_secret: "${S-s}", redirect_uri: "http://localhost/videohost/auth/idp/callback"}]}',
      'videohost.accounts[0].redirect_uri lacks ?target=a, which the callback needs (config.yaml:1)',
    ],
  ])('%s', (_title, text, warning) => {
    expect(loadText(text).warnings).toEqual([warning]);
  });
});

test('paths that nothing serves may be anything', () => {
  expect(faultsOf('swagger: {path: health}')).toEqual([]);
  expect(faultsOf('swagger: {enabled: true, path: health}\nhealthCheck: {enabled: false}')).toEqual([]);
});

describe('the hash', () => {
  test('is that of the effective configuration, whatever the order of the keys', () => {
    const one = loadText('hub: {port: 1}\nswagger: {enabled: true, path: docs}').hash;
    const same = loadText('# another text\nswagger: {enabled: true}\nhub: {port: 1}').hash;
    const other = loadText('hub: {port: 2}\nswagger: {enabled: true}').hash;
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect([one === same, one === other]).toEqual([true, false]);
  });
});

describe('overrides', () => {
  test('are laid over the file, mapping by mapping', () => {
    const path = join(temporaryFolder(), 'config.yaml');
    writeFileSync(path, 'hub: {port: 1, tls: {enabled: false}}\ntargets: [{id: a, provider: echo}]');
    const { config } = loadConfig({ path, env: {}, overrides: { hub: { port: 2 }, targets: [] } });
    expect([config.hub.port, config.targets]).toEqual([2, []]);
  });
});
