import { type Static, Type } from '@sinclair/typebox';
import {
  count,
  filledSection,
  flag,
  milliseconds,
  oneOf,
  section,
  text,
  textList,
  textMap,
} from './build.ts';

export const PROVIDERS = [
  'openai',
  'azure',
  'anthropic',
  'gemini',
  'ollama',
  'openai-compatible',
  'echo',
] as const;

/** One AI target (spec §2.1, contract §2). */
export const targetSchema = section({
  id: text('Name of the target, the value of `x-target`.', { format: 'target-id' }),
  provider: oneOf('Which protocol the target speaks.', PROVIDERS),
  apiKey: Type.Optional(text('Key of the provider, normally a reference to the environment.')),
  baseUrl: Type.Optional(
    text(
      "Default: the provider's public address. openai, openai-compatible: with its `/v1`; azure, anthropic, gemini, ollama: the bare origin.",
      { format: 'http-url' },
    ),
  ),
  options: filledSection(
    {
      model: Type.Optional(text('Model asked for when the body names none.')),
      max_completion_tokens: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Default for a body that sets no limit itself.' }),
      ),
    },
    'Defaults of a request.',
  ),
  headers: textMap('Headers added upstream.'),
  models: textList('Model names a caller may ask for; empty allows any.'),
  askUsage: flag('Ask a streaming provider for usage (`stream_options.include_usage`).', true),
  maxTokensField: oneOf(
    'The name of the limit that the provider knows.',
    ['max_completion_tokens', 'max_tokens'] as const,
    'max_completion_tokens',
  ),
  azureDeploymentId: Type.Optional(text('Deployment, for provider azure.')),
  azureApiVersion: text('API version, for provider azure.', { default: '2024-10-21' }),
  maxConcurrency: count('Calls in flight to this target.', { default: 1000 }),
  maxQueue: count('Calls waiting for a place; past them 503.', { default: 1000, minimum: 0 }),
  requestTimeout: milliseconds(
    'The whole of an unstreamed call, retries included; of a stream the time to its first event.',
    { derived: 'hub.http_client.timeout' },
  ),
  firstTokenTimeout: milliseconds('Streams: time to the first event of one attempt.', {
    derived: 'targets[].requestTimeout',
  }),
  idleTimeout: milliseconds('Streams: longest silence after the first event.', { default: 60_000 }),
  retry: filledSection(
    {
      attempts: Type.Integer({
        minimum: 0,
        maximum: 10,
        default: 2,
        description: 'Retries after the first call; 0 = none.',
      }),
      maxDelay: milliseconds('Longest wait before a retry; a Retry-After past it means no retry.', {
        default: 8000,
      }),
    },
    'Retries before the first byte, on 429, 5xx, refused and reset.',
  ),
  fallback: textList('Target ids tried in order before the first byte.'),
  price: Type.Optional(
    section(
      {
        prompt: Type.Number({ minimum: 0, description: 'Per million prompt tokens.' }),
        completion: Type.Number({ minimum: 0, description: 'Per million completion tokens.' }),
      },
      'Gives cost in usage.',
    ),
  ),
});

export type TargetConfig = Static<typeof targetSchema>;
export type Provider = (typeof PROVIDERS)[number];
