import type { Config } from '../config/schema/config-schema.ts';
import { sendText } from '../http/json-response.ts';
import { createPage } from '../http/page.ts';
import type { RouteGroup } from '../http/route.ts';
import { VERSION } from '../process/version.ts';
import { page } from './docs-page.ts';
import { openApiDocument } from './openapi.ts';

export interface DocsRoutesDeps {
  config: Pick<Config, 'swagger' | 'healthCheck'>;
}

/** The interactive API docs and their document (contract §10); no routes at all while they are off. */
export function createDocsRoutes({ config }: DocsRoutesDeps): RouteGroup {
  const { swagger, healthCheck } = config;
  if (!swagger.enabled) return { name: 'docs', prefixes: [], routes: [] };
  const path = `/${swagger.path.replaceAll(/^\/+|\/+$/g, '')}`;
  // Relative, so that it holds behind whatever address the hub is reached by.
  const serverUrl = '../'.repeat(path.split('/').length - 1);
  const document = JSON.stringify(openApiDocument({ version: VERSION, healthCheck, serverUrl }));
  return {
    name: 'docs',
    prefixes: [],
    routes: [
      { method: 'GET', path, access: 'public', handler: createPage(page) },
      {
        method: 'GET',
        path: `${path}/openapi.json`,
        access: 'public',
        handler: (_request, response) =>
          sendText(response, 200, 'application/json; charset=utf-8', document, {
            'cache-control': 'no-cache',
          }),
      },
    ],
  };
}
