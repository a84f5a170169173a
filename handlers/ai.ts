import { createAiRoutes } from '../lib/ai/routes.ts';
import { createHandler } from './adapter.ts';

/** The AI routes; their answers stream where the platform does. */
export const handler = createHandler((parts) => [createAiRoutes(parts)], { streams: true });
