import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { defaultConfig, root, runHubProcess, startHub } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';

const withAuth = {
  ...defaultConfig,
  auth: {
    ...defaultConfig.auth,
    enabled: true,
    type: 'apiKey',
    apiKeys: [{ id: 'me', sha256: 'a'.repeat(64) }],
    session: { cookie: { secret: 's'.repeat(40) } },
  },
};

/** A chain of three: a root that clients trust, an intermediate, and the hub's own certificate. */
function makeCertificates(directory: string): {
  root: string;
  intermediate: string;
  cert: string;
  key: string;
} {
  const path = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  writeFileSync(path('ca.ext'), 'basicConstraints=critical,CA:true\n');
  writeFileSync(path('leaf.ext'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'root.key',
    '-out',
    'root.pem',
    '-subj',
    '/CN=root',
    '-days',
    '2',
  );
  for (const [name, issuer, extension] of [
    ['intermediate', 'root', 'ca.ext'],
    ['leaf', 'intermediate', 'leaf.ext'],
  ] as const) {
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`],
      ...['-CAcreateserial', '-out', `${name}.pem`, '-days', '2', '-extfile', extension],
    );
  }
  return {
    root: path('root.pem'),
    intermediate: path('intermediate.pem'),
    cert: path('leaf.pem'),
    key: path('leaf.key'),
  };
}

test.each([
  ['HUB_PORT', 'hub', 3000],
  ['AILINK_PORT', 'ai-link', 3100],
])(
  'without %s the %s listens on its default port %i [S1-default-port, S1-ailink-port, C1-ailink-port]',
  async (name, listener, port) => {
    const started = await startHub({ env: { [name]: undefined } }).then(
      async (hub) => {
        const output = hub.stdout();
        await hub.stop();
        return output;
      },
      (error: Error) => error.message,
    );
    // Where somebody else has that port on this machine, the refusal names it.
    expect(started).toMatch(
      new RegExp(
        `^${listener} listening on http://127\\.0\\.0\\.1:${port}$|127\\.0\\.0\\.1:${port} is in use`,
        'm',
      ),
    );
  },
);

test('the bind address is 127.0.0.1 while auth is off and 0.0.0.0 while it is on [C1-host-default]', async () => {
  expect((await startHub()).url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const open = await startHub({ config: withAuth });
  expect(open.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
  expect(open.ailinkUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

test.each([
  ['HUB_HOST', { env: { HUB_HOST: '0.0.0.0' } }],
  ['hub.host', { config: { ...defaultConfig, hub: { host: '0.0.0.0' } } }],
])(
  '%s wins, with a warning that an unauthenticated hub is exposed [C1-host-explicit]',
  async (_name, options) => {
    const hub = await startHub(options);
    expect(hub.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
    expect(hub.logs()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: expect.stringMatching(/(HUB_HOST|hub\.host) exposes/),
      }),
    );
    const address = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    if (address !== undefined) {
      expect((await send(`http://${address}:${new URL(hub.url).port}/health`)).status).toBe(200);
    }
  },
);

test('HUB_HOST wins over hub.host, and a loopback address needs no warning [C1-host-explicit]', async () => {
  const hub = await startHub({
    env: { HUB_HOST: '127.0.0.1' },
    config: { ...defaultConfig, hub: { host: '0.0.0.0' } },
  });
  expect(hub.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  expect(hub.logs().filter((record) => /exposes/.test(record.message))).toEqual([]);
});

test('hub.tls serves HTTPS with the whole chain, and HSTS [S2.1-tls, C3-hsts]', async () => {
  const directory = temporaryFolder();
  const { root: ca, intermediate, cert, key } = makeCertificates(directory);
  const hub = await startHub({
    config: { ...defaultConfig, hub: { tls: { enabled: true, cert, key, ca: intermediate } } },
  });
  expect(hub.stdout()).toMatch(/^hub listening on https:\/\/127\.0\.0\.1:\d+$/m);
  const answer = await send(`${hub.url}/ready`, { tls: { ca: readFileSync(ca) } });
  expect(answer.status).toBe(200);
  expect(answer.headers['strict-transport-security']).toMatch(/max-age=\d{8}/);
  expect((await hub.stop()).code).toBe(0);
});

test.each(['cert', 'key', 'ca'])(
  'an unreadable hub.tls.%s is one line naming the file and exit 1 [C1-tls-unreadable]',
  async (name) => {
    const directory = temporaryFolder();
    const { cert, key, intermediate } = makeCertificates(directory);
    const missing = join(directory, 'missing.pem');
    const ended = await runHubProcess({
      config: {
        ...defaultConfig,
        hub: { tls: { enabled: true, cert, key, ca: intermediate, [name]: missing } },
      },
    });
    expect(ended.code).toBe(1);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
    expect(ended.stderr).toContain(missing);
    expect(ended.stdout).not.toMatch(/listening/);
  },
);

test('a TLS file that holds no PEM is one line naming it and exit 1 [C1-tls-unreadable]', async () => {
  const directory = temporaryFolder();
  const { key } = makeCertificates(directory);
  const cert = join(directory, 'empty.pem');
  writeFileSync(cert, 'nothing of use\n');
  const ended = await runHubProcess({
    config: { ...defaultConfig, hub: { tls: { enabled: true, cert, key } } },
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  expect(ended.stderr).toContain(cert);
});

test("a first start with the repository's own configuration writes .env and never prints the key [C1-first-start-setup]", async () => {
  const cwd = temporaryFolder();
  symlinkSync(join(root, 'node_modules'), join(cwd, 'node_modules'));
  const hub = await startHub({ cwd, config: readFileSync(join(root, 'config.yaml'), 'utf8') });
  const env = readFileSync(join(cwd, '.env'), 'utf8');
  const key = /^ADMIN_API_KEY=(.+)$/m.exec(env)?.[1] ?? '';
  expect(key.length).toBeGreaterThanOrEqual(32);
  expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600);
  expect(hub.stdout()).toMatch(/first start.*\.env/i);
  const answer = await send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': key } });
  expect(answer.status).toBe(200);
  await hub.stop();
  expect(hub.stdout() + hub.stderr()).not.toContain(key);
  const again = await startHub({ cwd, config: readFileSync(join(root, 'config.yaml'), 'utf8') });
  expect(again.stdout()).not.toMatch(/first start/i);
  expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe(env);
  await again.stop();
});

test('npm start builds what is older than its sources [C1-start-builds]', async () => {
  const stamp = join(root, 'dist/.built');
  const before = statSync(stamp);
  utimesSync(stamp, new Date(0), new Date(0));
  await (await startHub({ readyTimeoutMs: 30_000 })).stop();
  expect(statSync(stamp).mtimeMs).toBeGreaterThan(before.mtimeMs - 1);
  expect(existsSync(join(root, 'dist/gateway.mjs'))).toBe(true);
});

test('a reader of the output that leaves does not end the hub', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'config.yaml'), JSON.stringify(defaultConfig));
  const child = spawn(process.execPath, [join(root, 'scripts/run.mjs'), 'hub'], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH, TMPDIR: cwd, HUB_PORT: '0', AILINK_PORT: '0' },
  });
  const output = child.stdout.setEncoding('utf8');
  let text = '';
  for await (const chunk of output) {
    text += chunk;
    if (/hub listening on \S+\n/.test(text)) break;
  }
  output.destroy();
  const url = /hub listening on (\S+)/.exec(text)?.[1];
  for (let round = 0; round < 3; round += 1) expect((await send(`${url}/health`)).status).toBe(200);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
});
