import { OPENAI_PATHS } from '../../openai-wire/paths.ts';
import { relayedBody } from '../../openai-wire/relayed-body.ts';
import { buildCallHeaders } from '../../upstream/call-headers.ts';
import type { ProviderRequest } from '../provider.ts';

/** OpenAI itself (https://platform.openai.com/docs/api-reference). */
export const request: ProviderRequest = {
  operations: ['chat.completions', 'completions', 'embeddings', 'responses'],
  defaultBaseUrl: 'https://api.openai.com/v1',
  compile(target) {
    const headers = buildCallHeaders(
      target,
      target.apiKey === undefined ? {} : { authorization: `Bearer ${target.apiKey}` },
    );
    return (call) => ({
      path: OPENAI_PATHS[call.request.operation],
      headers: call.request.stream ? headers.stream : headers.whole,
      body: relayedBody(target, call),
    });
  },
};
