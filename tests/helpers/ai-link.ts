import type { AddressInfo } from 'node:net';
import { Value } from '@sinclair/typebox/value';
import { createCompanionServer } from '../../companion/server.ts';
import { type AiLinkDeps, createAiLink } from '../../lib/ai/ai-link.ts';
import { hubSection } from '../../lib/config/schema/hub.ts';
import { type TargetConfig, targetSchema } from '../../lib/config/schema/targets.ts';
import type { LogFields, Logger, Logs } from '../../lib/logging/logger.ts';
import type { UsageEnd, UsageStart } from '../../lib/usage/usage.ts';

/** One counted call. */
export interface CountedCall {
  start: UsageStart;
  /** Every end that was reported; a call must have exactly one. */
  ends: UsageEnd[];
}

export interface LogRecord {
  type: string;
  level: string;
  message: string;
  fields: LogFields;
}

export interface TestAiLink {
  url: string;
  calls: CountedCall[];
  logs: LogRecord[];
  /** Resolves once `count` calls have ended. */
  ended(count: number): Promise<UsageEnd[]>;
  /** A call of the internal API; JSON bodies are serialised, texts and bytes sent as they are. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

const TOKEN = 'a-token-of-the-tests-with-32-characters';

/** What a target of a test may leave out. */
export type TestTarget = Partial<Omit<TargetConfig, 'retry'>> &
  Pick<TargetConfig, 'id' | 'provider'> & { retry?: Partial<TargetConfig['retry']> };

/** Fills a target like the loader does. Tests do not retry unless they say so. */
export function testTarget(target: TestTarget): TargetConfig {
  const requestTimeout = target.requestTimeout ?? 10_000;
  return Value.Default(targetSchema, {
    ...target,
    requestTimeout,
    firstTokenTimeout: target.firstTokenTimeout ?? requestTimeout,
    retry: { attempts: 0, maxDelay: 8000, ...target.retry },
  }) as TargetConfig;
}

/** Runs AI-Link behind the companion's own server on a free port, with usage and logs recorded. */
export async function startAiLink(
  targets: readonly TestTarget[],
  options: {
    hub?: object;
    secrets?: readonly string[];
    outboundProxy?: AiLinkDeps['outboundProxy'];
    connectTimeout?: number;
  } = {},
): Promise<TestAiLink> {
  const calls: CountedCall[] = [];
  const logs: LogRecord[] = [];
  const waiting = new Set<() => void>();
  const aiLink = createAiLink({
    config: {
      targets: targets.map(testTarget),
      hub: Value.Default(hubSection, options.hub ?? {}) as never,
    },
    usage: {
      begin(start) {
        const call: CountedCall = { start, ends: [] };
        calls.push(call);
        return {
          end(end) {
            call.ends.push(end);
            for (const check of waiting) check();
          },
        };
      },
      addProxyCounts() {},
      snapshot: () => {
        throw new Error('not used');
      },
      reset() {},
    },
    logs: recordingLogs(logs),
    mask: (text) =>
      (options.secrets ?? []).reduce((masked, secret) => masked.replaceAll(secret, '[REDACTED]'), text),
    outboundProxy: options.outboundProxy ?? { http: undefined, https: undefined, no: undefined },
    random: () => 0,
    ...(options.connectTimeout !== undefined && { connectTimeout: options.connectTimeout }),
  });
  const { servers } = createCompanionServer({
    token: TOKEN,
    routes: aiLink.routes,
    health: { status: 'ok', pid: process.pid, configHash: '' },
    logger: recordingLogs(logs).logger('error', 'companion'),
  });
  await new Promise<void>((resolve) => servers.port.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(servers.port.address() as AddressInfo).port}`;

  return {
    url,
    calls,
    logs,
    ended: (count) =>
      new Promise((resolve) => {
        const check = () => {
          const ends = calls.flatMap((call) => call.ends);
          if (ends.length < count) return;
          waiting.delete(check);
          resolve(ends);
        };
        waiting.add(check);
        check();
      }),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-ailink-token': TOKEN, ...headers },
        body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    async close() {
      servers.port.closeAllConnections();
      await new Promise((resolve) => servers.port.close(resolve));
      await aiLink.close?.();
    },
  };
}

function recordingLogs(records: LogRecord[]): Logs {
  return {
    logger(type): Logger {
      const write =
        (level: string) =>
        (message: string, fields: LogFields = {}) => {
          records.push({ type, level, message, fields });
        };
      return {
        debug: write('debug'),
        info: write('info'),
        warn: write('warn'),
        error: write('error'),
        enabled: () => true,
      };
    },
    async close() {},
  };
}
