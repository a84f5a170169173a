import type { CompanionCapability } from '../companion-client/internal-route.ts';
import { INTERNAL_PATHS } from '../companion-client/protocol.ts';
import { HubError } from '../errors/hub-error.ts';
import { parseJson, readBody } from '../http/body.ts';
import { type SharedStore, STORE_SPACES, type StoreSpace } from './shared-store.ts';

/** The largest internal call: a session record is some hundred bytes. */
const MAX_CALL_BYTES = 64 * 1024;

interface Operands {
  space: StoreSpace;
  key: string;
  value: string;
  ttlMs: number;
}

/** Serves a store to gateway and handlers: `POST /store/{get,set,add,remove,count}`, answer `{result}`. */
export function createStoreCapability(store: SharedStore): CompanionCapability {
  const operations: Record<string, (operands: Operands) => Promise<unknown>> = {
    get: ({ space, key }) => store.get(space, key).then((value) => value ?? null),
    set: ({ space, key, value, ttlMs }) => store.set(space, key, value, ttlMs).then(() => true),
    add: ({ space, key, value, ttlMs }) => store.add(space, key, value, ttlMs),
    remove: ({ space, key }) => store.remove(space, key),
    count: ({ space, key, ttlMs }) => store.count(space, key, ttlMs),
  };
  return {
    routes: Object.entries(operations).map(([name, operate]) => ({
      method: 'POST',
      path: `${INTERNAL_PATHS.store}/${name}`,
      async handle(request, response) {
        const result = await operate(checked(parseJson(await readBody(request, { limit: MAX_CALL_BYTES }))));
        const body = JSON.stringify({ result });
        response.writeHead(200, {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        });
        response.end(body);
      },
    })),
    close: () => store.close(),
  };
}

function checked(body: unknown): Operands {
  const { space, key, value = '', ttlMs = 1 } = (body ?? {}) as Partial<Operands>;
  const known = STORE_SPACES.find((name) => name === space);
  const sound = known !== undefined && typeof key === 'string' && typeof value === 'string';
  if (!sound || !Number.isFinite(ttlMs) || ttlMs <= 0) {
    throw new HubError('invalid_request', 'The store call is malformed');
  }
  return { space: known, key, value, ttlMs };
}
