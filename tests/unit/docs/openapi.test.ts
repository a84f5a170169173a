import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { composeGroups } from '../../../gateway/compose-groups.ts';
import type { HubParts } from '../../../lib/app/hub-app.ts';
import { configSchema } from '../../../lib/config/schema/config-schema.ts';
import { openApiDocument, renderDocument } from '../../../lib/docs/openapi.ts';
import { createDocsRoutes } from '../../../lib/docs/routes.ts';

const healthCheck = { enabled: true, path: '/alive', readinessPath: '/can-serve' };
// biome-ignore lint/suspicious/noExplicitAny: a document
const document = openApiDocument({ version: '1.2.3', healthCheck, serverUrl: '/' }) as any;

test('docs/openapi.json is what `npm run docs` writes [C10-openapi]', () => {
  const written = readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8');
  expect(written).toBe(renderDocument());
});

describe('the document', () => {
  test('is OpenAPI 3.1 with the version and the health paths of the hub [C10-openapi]', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('1.2.3');
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/alive', '/can-serve']));
  });

  test('refers only to what it holds, and names each operation once', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect([name, document.components.schemas[String(name)]]).toEqual([name, expect.anything()]);
    }
    const operations = Object.values<Record<string, { operationId: string }>>(document.paths).flatMap(
      Object.values,
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('takes the configuration from the schema that validates it [C10-openapi]', () => {
    const { Config, Targets } = document.components.schemas;
    expect(Object.keys(Config.properties)).toEqual(Object.keys(configSchema.properties));
    const target = configSchema.properties.targets.items.properties;
    expect(Object.keys(Targets.items.properties)).toEqual(Object.keys(target));
    expect(Targets.items.properties.provider.enum).toEqual(target.provider.enum);
    expect(Targets.items.properties.apiKey.const).toBe('[REDACTED]');
    expect(Targets.items.properties.options.properties.max_completion_tokens.type).toBe('integer');
  });
});

/** Parts whose getters say at once what a group would do with them. */
function routesOfHub(swagger: { enabled: boolean; path: string }) {
  const nothing = () => undefined;
  const logs = { logger: () => ({ enabled: () => false, info: nothing, warn: nothing, error: nothing }) };
  const config = {
    swagger,
    healthCheck,
    proxies: [],
    hub: { limits: { concurrency: 1 } },
    auth: { session: { cookie: { name: 'hub.sid' } } },
    targets: [],
    tools: [],
    mcp: { servers: [] },
  };
  const parts = { config, loaded: { config, secrets: [] }, logs } as unknown as HubParts;
  return composeGroups(parts, () => false).flatMap(({ routes }) => routes);
}

test('every route of the hub is in the document [C10-openapi]', () => {
  const documented = new Set(
    Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  const missing = routesOfHub({ enabled: false, path: 'docs' })
    // Proxies take every method, which OpenAPI has no word for.
    .filter(({ path }) => !path.startsWith('/proxy'))
    .map(({ method, path }) => `${method} ${path.replaceAll(/[:*](\w+)/g, '{$1}')}`)
    .filter((route) => !documented.has(route));
  expect(missing).toEqual([]);
});

describe('swagger.enabled', () => {
  test('decides whether the page and the document are there [S2.1-swagger-enabled, C10-off]', () => {
    const paths = (enabled: boolean) =>
      createDocsRoutes({ config: { swagger: { enabled, path: 'docs' }, healthCheck } }).routes.map(
        ({ path, access }) => [path, access],
      );
    expect(paths(false)).toEqual([]);
    expect(paths(true)).toEqual([
      ['/docs', 'public'],
      ['/docs/openapi.json', 'public'],
    ]);
  });
});
