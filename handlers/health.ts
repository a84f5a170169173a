import { createHealthRoutes } from '../lib/health/routes.ts';
import { createHandler } from './adapter.ts';

/** Liveness and readiness; also answers for every path that no other handler takes. */
export const handler = createHandler(({ config, companion }) => [
  // A Lambda is never told that it ends.
  createHealthRoutes({ healthCheck: config.healthCheck, companion, draining: () => false }),
]);
