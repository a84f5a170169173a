import type { ProviderRequest } from '../provider.ts';
import { createEchoUpstream } from './echo-upstream.ts';
import { type EchoCall, echoReply } from './reply.ts';

const NOTHING = Buffer.alloc(0);

/** The provider that is built in: it answers locally, so that a fresh clone works without a key. */
export const request: ProviderRequest = {
  operations: ['chat.completions', 'completions', 'embeddings', 'responses'],
  createUpstream: createEchoUpstream,
  compile(target) {
    return (call): EchoCall => ({
      path: '/',
      headers: [],
      body: NOTHING,
      reply: echoReply(call, target.options.max_completion_tokens),
    });
  },
};
