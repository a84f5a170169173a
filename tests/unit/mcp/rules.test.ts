import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createSchemaCompiler } from '../../../lib/mcp/input-schema.ts';
import { createToolFilter } from '../../../lib/mcp/tool-filter.ts';
import { isRefusedAddress, safeLookup } from '../../../lib/mcp/transports/network-rules.ts';
import { resolveCommand } from '../../../lib/mcp/transports/resolve-command.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

describe('addresses', () => {
  test.each([
    '169.254.169.254',
    '169.254.0.1',
    '100.100.100.200',
    '192.0.0.192',
    'fe80::1',
    '[fe80::1%eth0]',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '2002:a9fe:a9fe::1',
  ])('%s is refused', (address) => {
    expect(isRefusedAddress(address)).toBe(true);
  });

  test.each([
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '192.168.1.1',
    '8.8.8.8',
    '100.100.100.201',
    'fd00::1',
    'localhost',
  ])('%s is allowed', (address) => {
    expect(isRefusedAddress(address)).toBe(false);
  });

  test('a name is looked up before it is judged', async () => {
    const look = (options: object) =>
      new Promise((resolve, reject) => {
        safeLookup('localhost', options, (error, address) => (error ? reject(error) : resolve(address)));
      });
    expect(['127.0.0.1', '::1']).toContain(await look({}));
    expect(Array.isArray(await look({ all: true }))).toBe(true);
  });
});

describe('commands', () => {
  const folder = temporaryFolder();
  for (const name of ['plain', 'executable', 'directory']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'plain/node'), '');
  writeFileSync(join(folder, 'executable/node'), '');
  chmodSync(join(folder, 'executable/node'), 0o755);
  mkdirSync(join(folder, 'directory/node'));

  test('are the first executable file on the path', () => {
    const path = ['plain', 'directory', 'executable'].map((name) => join(folder, name)).join(':');
    expect(resolveCommand('node', path)).toBe(join(folder, 'executable/node'));
  });

  test('are never found in the working directory', () => {
    for (const path of ['', '.', ':.:bin']) {
      expect(() => resolveCommand('node', path)).toThrow('is not installed');
    }
  });

  test.each(['bash', 'node ', 'Node', './node', '/usr/bin/node', 'node.exe', ''])(
    '%j is not allowed [S2.8-allowlist]',
    (command) => {
      expect(() => resolveCommand(command, join(folder, 'executable'))).toThrow('is not allowed');
    },
  );
});

test('ignoredTools wins over allowedTools; no list allows all [C6-filter-order]', () => {
  const filter = createToolFilter(['a', 'b'], ['b']);
  expect(['a', 'b', 'c'].map(filter)).toEqual([true, false, false]);
  expect(['a', 'b'].map(createToolFilter([], ['b']))).toEqual([true, false]);
});

describe('inputSchemas', () => {
  const compiler = createSchemaCompiler();

  test.each([
    ['draft 2020-12', { prefixItems: [{ type: 'string' }] }, [7], undefined],
    ['draft-07 by name', { items: [{ type: 'string' }] }, [7], 'http://json-schema.org/draft-07/schema#'],
    ['draft-07 without a name', { items: [{ type: 'string' }] }, [7], undefined],
    ['2019-09', { items: [{ type: 'string' }] }, [7], 'https://json-schema.org/draft/2019-09/schema'],
    ['an unknown dialect', { prefixItems: [{ type: 'string' }] }, [7], 'https://example.org/own'],
  ])('of %s are understood', (_name, list, bad, $schema) => {
    const check = compiler.compile({
      ...($schema && { $schema }),
      type: 'object',
      properties: { list: { type: 'array', ...list } },
    });
    expect(check({ list: ['x'] })).toBeUndefined();
    expect(check({ list: bad })).toBe('arguments/list/0 must be string');
  });

  test('with the same $id do not disturb each other, however often they are listed', () => {
    for (let count = 0; count < 3; count += 1) {
      const check = compiler.compile({
        $id: 'https://example.org/same.json',
        type: 'object',
        required: [`f${count}`],
      });
      expect(check({})).toBe(`arguments must have required property 'f${count}'`);
    }
  });

  test('with unknown keywords and formats are taken as they are', () => {
    const schema = { type: 'object', 'x-order': 1, properties: { at: { type: 'string', format: 'odd' } } };
    expect(compiler.compile(schema)({ at: 'x' })).toBeUndefined();
  });

  test('say which names and values would do, and never what was given', () => {
    const check = compiler.compile({
      type: 'object',
      properties: { mode: { enum: ['a', 'b'] } },
      additionalProperties: false,
    });
    expect(check({ mode: 'private' })).toBe(
      'arguments/mode must be equal to one of the allowed values (a, b)',
    );
    expect(check({ other: 1 })).toBe('arguments must NOT have additional properties (other)');
  });

  test.each([
    [{ type: 'object', properties: { a: { type: 'nonsense' } } }],
    [{ type: 'object', properties: { a: { $ref: 'https://example.org/far.json' } } }],
    [{ type: 'object', properties: { a: { pattern: '(' } } }],
    [{ type: 'object', description: 'x'.repeat(600_000) }],
  ])('that cannot be used are refused', (schema) => {
    expect(() => compiler.compile(schema)).toThrow();
  });
});
