import type { InternalResponse, InternalRoute } from '../companion-client/internal-route.ts';
import { HubError } from '../errors/hub-error.ts';
import type { Target } from './targets.ts';

const PREFIX = '/v1/models/';

/** `GET /v1/models` and `/v1/models/{id}`: the targets, in the shape of OpenAI's models. */
export function createModelRoutes(targets: ReadonlyMap<string, Target>, startedAt: Date): InternalRoute[] {
  const created = Math.floor(startedAt.getTime() / 1000);
  const models = new Map(
    [...targets.values()].map(({ id, config }) => [
      id,
      { id, object: 'model', created, owned_by: config.provider },
    ]),
  );
  const list = JSON.stringify({ object: 'list', data: [...models.values()] });

  return [
    { method: 'GET', path: '/v1/models', handle: (_request, response) => answer(response, list) },
    {
      method: 'GET',
      path: `${PREFIX}*`,
      handle(request, response) {
        const path = (request.url ?? '').split('?', 1)[0] ?? '';
        const model = models.get(decoded(path.slice(PREFIX.length)));
        if (model === undefined)
          throw new HubError('model_not_found', 'There is no such model', { param: 'model' });
        answer(response, JSON.stringify(model));
      },
    },
  ];
}

function answer(response: InternalResponse, json: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) });
  response.end(json);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
