import { Type } from '@sinclair/typebox';
import { answer, anything, oneOf, orNull, ref, text, time, whole } from './vocabulary.ts';

const section = answer({
  count: whole(),
  items: Type.Array(anything('`id`, and facts that are no secrets.')),
});

export const adminSchemas = {
  Companion: answer({
    status: oneOf(['starting', 'up', 'down']),
    pid: orNull(whole()),
    restarts: whole(),
    since: time(),
    nextRetryAt: orNull(time()),
    configMismatch: Type.Optional(Type.Boolean()),
  }),
  Runtime: answer({
    process: answer({
      pid: whole(),
      hostname: text(),
      nodeVersion: text(),
      uptimeSeconds: whole(),
      platform: text(),
      memoryMb: answer({ rss: whole(), heapUsed: whole(), heapTotal: whole(), external: whole() }),
    }),
    configurationSummary: answer({ targets: section, proxies: section, tools: section, mcp: section }),
    runtimeUsage: orNull(ref('RuntimeUsage')),
    mcpConnections: Type.Array(ref('ToolServer')),
    companion: ref('Companion'),
  }),
};
