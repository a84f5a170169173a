import { createVideohostRoutes } from '../lib/videohost/routes.ts';
import { createHandler } from './adapter.ts';

/** Video accounts and uploads. Nothing goes on after an answer: the platform freezes the process. */
export const handler = createHandler((parts) => [
  createVideohostRoutes({ ...parts, outlivesAnswers: false }),
]);
