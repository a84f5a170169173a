// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { root, runHubProcess } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';

let directory: string;
beforeEach(() => {
  directory = temporaryFolder();
});

const faulty = `hub:
  host: localhost
  port: abc
targets:
  - id: a
    provider: openai
    apiKey: \${MISSING}
mcp:
  servers:
    - name: files
      command: bash
      args: [x, ../y]
auth:
  admin:
    enabled: true
    apiKeys: [short]
`;

const faults = [
  'Configuration validation failed: hub.port must be a number (config.yaml:3)',
  'Configuration validation failed: targets[0].apiKey needs the environment variable MISSING, which is not set (config.yaml:7)',
  'Configuration validation failed: mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx (config.yaml:11)',
  'Configuration validation failed: mcp.servers[0].args[1] must not hold a path traversal (..) (config.yaml:12)',
  'Configuration validation failed: auth.admin.apiKeys[0] must be at least 32 characters (config.yaml:16)',
];

describe('check', () => {
  test('names every fault at once on the standard error, and exits 1 [C1-check C2-all-faults C2-fault-line C2-array-paths S2.1-validation-failed]', async () => {
    const run = await runHubProcess({ command: 'check', config: faulty, cwd: directory });
    expect(run.code).toBe(1);
    expect(run.stdout).toBe('');
    expect(run.stderr.trimEnd().split('\n')).toEqual(faults);
  });

  test('accepts a good file, prints its warnings and exits 0 [C1-check]', async () => {
    const config = 'auth: {admin: {enabled: true, apiKeys: [k3y-0123456789-abcdefghijklmnop-98]}}';
    const run = await runHubProcess({ command: 'check', config, cwd: directory });
    expect(run).toMatchObject({ code: 0, stdout: expect.stringMatching(/config\.yaml is valid: 0 targets/) });
    expect(run.stderr).toBe(
      'Configuration warning: auth.admin.apiKeys[0] is a secret written into the file; take it from an environment variable instead (config.yaml:1)\n',
    );
  });

  test('takes a path relative to the working directory [C1-check C1-relative-paths]', async () => {
    writeFileSync(join(directory, 'other.yaml'), 'hub: {port: x}');
    const run = await runHubProcess({ command: 'check', args: ['./other.yaml'], cwd: directory });
    expect(run.stderr).toBe('Configuration validation failed: hub.port must be a number (other.yaml:1)\n');
  });

  test('names a file that is not there [C1-no-config C1-hub-config]', async () => {
    const run = await runHubProcess({ command: 'check', env: { HUB_CONFIG: 'none.yaml' }, cwd: directory });
    expect(run).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'Configuration validation failed: none.yaml does not exist: no configuration file at none.yaml\n',
    });
  });

  test('reads .env, over which the environment wins [C1-dotenv]', async () => {
    writeFileSync(join(directory, '.env'), 'FIRST=1\nSECOND=not a number\n');
    const config = 'hub: {port: "${FIRST}", limits: {queue: "${SECOND}"}}';
    const run = await runHubProcess({ command: 'check', config, cwd: directory });
    expect(run.stderr).toBe(
      'Configuration validation failed: hub.limits.queue must be a number (config.yaml:1)\n',
    );
    const env = { SECOND: '5' };
    expect((await runHubProcess({ command: 'check', config, cwd: directory, env })).code).toBe(0);
  });
});

describe('setup', () => {
  test('writes strong secrets once, for the owner alone, and shows none [C1-setup C1-setup-no-overwrite]', async () => {
    const run = await runHubProcess({ command: 'setup', cwd: directory });
    expect(run).toMatchObject({ code: 0, stderr: '' });
    const path = join(directory, '.env');
    const text = readFileSync(path, 'utf8');
    const values = [...text.matchAll(/^(ADMIN_API_KEY|SESSION_SECRET)=([\w-]{43})$/gm)].map(
      (match) => match[2],
    );
    expect(new Set(values).size).toBe(2);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    for (const value of values) expect(run.stdout).not.toContain(value);

    const again = await runHubProcess({ command: 'setup', cwd: directory });
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('stays as it is');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test("makes the repository's own configuration load [S5.6-no-secrets-in-file]", async () => {
    copyFileSync(join(root, 'config.yaml'), join(directory, 'own.yaml'));
    const check = () => runHubProcess({ command: 'check', args: ['own.yaml'], cwd: directory });
    expect((await check()).stderr).toMatch(
      /^Configuration validation failed: auth\.admin\.apiKeys\[0\] needs the environment variable ADMIN_API_KEY, which is not set; `npm run setup` writes it into \.env \(own\.yaml:\d+\)\n$/,
    );
    await runHubProcess({ command: 'setup', cwd: directory });
    expect(await check()).toMatchObject({ code: 0, stderr: '' });
  });
});

test('a hub with a faulty configuration says all of it and does not start [C2-exit S7-startup-fault]', async () => {
  const run = await runHubProcess({ config: faulty, cwd: directory });
  expect(run.code).toBe(1);
  expect(run.stdout).toBe('');
  expect(run.stderr.trimEnd().split('\n')).toEqual(faults);
});
