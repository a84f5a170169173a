import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from '@jest/globals';
import type { HubToolConfig, McpServerConfig } from '../../lib/config/schema/tools.ts';
import { errorBody, toHubError } from '../../lib/errors/hub-error.ts';
import type { LogFields, Logger, Logs } from '../../lib/logging/logger.ts';
import { createMask } from '../../lib/logging/mask.ts';
import { createMcpGateway, type McpGateway, type McpTiming } from '../../lib/mcp/mcp-gateway.ts';
import { type Answer, send } from './http.ts';
import { stopAfterFile, temporaryFolder } from './temp-folder.ts';

export interface LogRecord {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields: LogFields;
}

export interface McpCompanion {
  url: string;
  gateway: McpGateway;
  records: LogRecord[];
  invoke(server: string, tool: unknown, args?: unknown, options?: { signal?: AbortSignal }): Promise<Answer>;
  /** The parsed result of an invocation that must be a 200. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results whose shape is what they test
  result(server: string, tool: string, args?: unknown): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  get(path: string): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: likewise
  stats(server: string): Promise<any>;
  stop(): Promise<void>;
}

/** Starts tool gateways for the tests of a file, with `timing`; each ends with its test. */
export function mcpForTests(
  timing: Partial<McpTiming>,
): (options: McpCompanionOptions) => Promise<McpCompanion> {
  const running: McpCompanion[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((companion) => companion.stop()));
  });
  return async (options) => {
    const started = await startMcp({ timing, ...options });
    running.push(started);
    return started;
  };
}

export interface McpCompanionOptions {
  servers?: readonly Partial<McpServerConfig>[];
  tools?: readonly HubToolConfig[];
  timing?: Partial<McpTiming>;
  secrets?: readonly string[];
  bodyLimit?: number;
  /** The caller whom the gateway would name; per request by the header x-test-caller. */
  caller?: string;
}

const SERVER_DEFAULTS: Omit<McpServerConfig, 'name'> = {
  transport: 'stdio',
  autoConnect: false,
  connectTimeout: 10_000,
  toolTimeout: 10_000,
  allowedTools: [],
  ignoredTools: [],
  args: [],
  env: {},
  headers: {},
  maxConcurrency: 16,
  maxQueue: 64,
  maxResultSize: '16mb',
};

/**
 * The tool gateway behind a bare HTTP server: the companion's side without its process. Ended with the test file at the
 * latest.
 */
export async function startMcp(options: McpCompanionOptions = {}): Promise<McpCompanion> {
  const records: LogRecord[] = [];
  const gateway = createMcpGateway({
    mcp: {
      servers: (options.servers ?? []).map((server) => ({ name: 'test', ...SERVER_DEFAULTS, ...server })),
      security: { strict: false },
    },
    tools: options.tools ?? [],
    bodyLimit: options.bodyLimit ?? 10 * 1024 * 1024,
    logs: recordingLogs(records),
    mask: createMask(options.secrets ?? []),
    version: '0.0.0-test',
    runDirectory: temporaryFolder(),
    ...(options.timing !== undefined && { timing: options.timing }),
  });

  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    const route = gateway.routes.find((known) => known.path === path && known.method === request.method);
    const asked = request.headers['x-test-caller'];
    const caller = typeof asked === 'string' ? asked : (options.caller ?? 'tester');
    Promise.resolve()
      .then(() => route?.handle(request, response, { requestId: 'req-1', caller, traceparent: undefined }))
      .catch((error: unknown) => {
        const known = toHubError(error);
        if (known.code === 'internal_error') console.error(known.cause);
        if (response.headersSent) response.destroy();
        else {
          response.writeHead(known.status, { ...known.headers, 'content-type': 'application/json' });
          response.end(JSON.stringify(errorBody(known)));
        }
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway.start();

  const invoke: McpCompanion['invoke'] = (name, tool, args, extra) =>
    send(`${url}/mcp/invoke`, {
      method: 'POST',
      headers: { 'x-target': name },
      json: { tool, ...(args !== undefined && { arguments: args }) },
      ...extra,
    });
  const get = async (path: string) => (await send(url + path)).json();
  let ending: Promise<void> | undefined;
  const stop = () => {
    ending ??= (async () => {
      await gateway.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    })();
    return ending;
  };
  stopAfterFile(stop);

  return {
    url,
    gateway,
    records,
    invoke,
    get,
    async result(name, tool, args) {
      const answer = await invoke(name, tool, args);
      if (answer.status !== 200) throw new Error(`HTTP ${answer.status}: ${answer.text}`);
      return answer.json();
    },
    async stats(name) {
      const { servers } = await get('/mcp/stats');
      return servers.find((entry: { name: string }) => entry.name === name);
    },
    stop,
  };
}

function recordingLogs(records: LogRecord[]): Logs {
  const write =
    (level: LogRecord['level']) =>
    (message: string, fields: LogFields = {}) => {
      records.push({ level, message, fields });
    };
  const logger: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    enabled: () => true,
  };
  return { logger: () => logger, close: async () => {} };
}
