import { HubError } from '../../../errors/hub-error.ts';
import { OPENAI_PATHS } from '../../openai-wire/paths.ts';
import { relayedBody } from '../../openai-wire/relayed-body.ts';
import { buildCallHeaders } from '../../upstream/call-headers.ts';
import type { ProviderRequest } from '../provider.ts';

/**
 * Azure OpenAI (https://learn.microsoft.com/azure/ai-services/openai/reference): the deployment is part of the path
 * and decides the model; only the responses route takes it from the body.
 */
export const request: ProviderRequest = {
  operations: ['chat.completions', 'completions', 'embeddings', 'responses'],
  compile(target) {
    const headers = buildCallHeaders(target, target.apiKey === undefined ? {} : { 'api-key': target.apiKey });
    const version = `?api-version=${encodeURIComponent(target.azureApiVersion)}`;
    return (call) => {
      const { operation, stream } = call.request;
      const deployment = target.azureDeploymentId ?? call.model;
      if (deployment === undefined) {
        throw new HubError(
          'invalid_request',
          'This target has no deployment of its own: name one as `model`',
          {
            param: 'model',
          },
        );
      }
      const base =
        operation === 'responses' ? '/openai' : `/openai/deployments/${encodeURIComponent(deployment)}`;
      return {
        path: base + OPENAI_PATHS[operation] + version,
        headers: stream ? headers.stream : headers.whole,
        body: relayedBody(target, operation === 'responses' ? { ...call, model: deployment } : call),
      };
    };
  },
};
