import { createProxyRoutes } from '../lib/proxy/routes.ts';
import { createHandler } from './adapter.ts';

/** The reverse proxies; their answers stream where the platform does. A Lambda may sleep before a timer runs. */
export const handler = createHandler((parts) => [createProxyRoutes({ ...parts, handOverAfterMs: 0 })], {
  streams: true,
});
