import { createHealthRoutes } from '../lib/health/routes.ts';
import { createHandler } from './adapter.ts';

/** Liveness and readiness; also answers for every path that no other handler takes. */
export const handler = createHandler(({ config, ...parts }) => [
  createHealthRoutes({ healthCheck: config.healthCheck, ...parts }),
]);
