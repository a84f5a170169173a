import { createAuthRoutes } from '../lib/auth/routes.ts';
import { createHandler } from './adapter.ts';

/** Signing out of a session. */
export const handler = createHandler((parts) => [createAuthRoutes(parts)]);
