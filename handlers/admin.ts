import { createAdminRoutes } from '../lib/admin/routes.ts';
import { createHandler } from './adapter.ts';

/** The admin API, the panel and the metrics. */
export const handler = createHandler((parts) => [createAdminRoutes(parts)]);
