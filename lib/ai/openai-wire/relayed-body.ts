import type { TargetConfig } from '../../config/schema/targets.ts';
import { editBody } from '../body/edit-body.ts';
import type { ProviderCall } from '../providers/provider.ts';

/** The caller's body with the target's defaults written into it. */
export function relayedBody(target: TargetConfig, { request, model, hidesUsage }: ProviderCall): Buffer {
  return editBody(request, {
    model: model === request.model ? undefined : model,
    maxTokens: target.options.max_completion_tokens,
    maxTokensField: target.maxTokensField,
    askUsage: hidesUsage,
  });
}
