import { createDocsRoutes } from '../lib/docs/routes.ts';
import { createHandler } from './adapter.ts';

/** The API docs, where `swagger.enabled` has them. */
export const handler = createHandler((parts) => [createDocsRoutes(parts)]);
