import { createMcpRoutes } from '../lib/mcp/routes.ts';
import { createHandler } from './adapter.ts';

/** The tool gateway. Its event stream, which never ends, is for the gateway alone. */
export const handler = createHandler((parts) => [createMcpRoutes({ ...parts, streams: false })]);
