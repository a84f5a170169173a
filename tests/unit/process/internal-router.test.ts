import { expect, test } from '@jest/globals';
import { createInternalRouter } from '../../../companion/router.ts';
import type { InternalRoute } from '../../../lib/companion-client/internal-route.ts';

const route = (method: InternalRoute['method'], path: string): InternalRoute => ({
  method,
  path,
  handle() {},
});

const find = createInternalRouter([
  route('GET', '/v1/models'),
  route('GET', '/v1/models/*'),
  route('POST', '/v1/*'),
  route('POST', '/mcp'),
  route('DELETE', '/mcp'),
]);

test.each([
  ['GET', '/v1/models', '/v1/models'],
  ['GET', '/v1/models/a/b', '/v1/models/*'],
  ['POST', '/v1/chat/completions', '/v1/*'],
  ['DELETE', '/mcp', '/mcp'],
])('%s %s is the route %s', (method, path, expected) => {
  expect(find(method, path).path).toBe(expected);
});

test('an unknown path is not_found, a known one with another method names the methods', () => {
  expect(() => find('GET', '/mcp/')).toThrow(expect.objectContaining({ code: 'not_found' }));
  expect(() => find('GET', '/mcp')).toThrow(
    expect.objectContaining({ code: 'method_not_allowed', headers: { allow: 'POST, DELETE' } }),
  );
});

test('two routes at one place are a mistake of the wiring', () => {
  expect(() => createInternalRouter([route('GET', '/a'), route('GET', '/a')])).toThrow('/a');
});
