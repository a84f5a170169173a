import { HubError } from '../../errors/hub-error.ts';
import { isObject, type JsonObject } from '../json.ts';
import { readTools, type Tools } from './chat-tools.ts';
import { readTurns, type Turn } from './chat-turns.ts';

/** A chat body as providers with a protocol of their own need it: read once, in neutral words. */
export interface ChatRequest {
  /** System and developer messages, in order. */
  system: string[];
  turns: Turn[];
  tools: Tools | undefined;
  maxTokens: number | undefined;
  temperature: number | undefined;
  topP: number | undefined;
  frequencyPenalty: number | undefined;
  presencePenalty: number | undefined;
  seed: number | undefined;
  stop: string[] | undefined;
  /** The answer must be JSON, perhaps of a schema. */
  json: { schema: JsonObject | undefined } | undefined;
  /** `none`, `minimal`, `low`, `medium`, `high` or a provider's own word. */
  reasoningEffort: string | undefined;
  user: string | undefined;
  /** Members that OpenAI's protocol does not know: the provider's own, passed on as they are. */
  further: JsonObject;
}

/** OpenAI's members of a chat body. Those that are not translated are hints that a provider may do without. */
const KNOWN = new Set([
  ...[
    'audio',
    'frequency_penalty',
    'function_call',
    'functions',
    'logit_bias',
    'logprobs',
    'max_completion_tokens',
  ],
  ...['max_tokens', 'messages', 'metadata', 'modalities', 'model', 'n', 'parallel_tool_calls', 'prediction'],
  ...[
    'presence_penalty',
    'prompt_cache_key',
    'prompt_cache_retention',
    'reasoning_effort',
    'response_format',
  ],
  ...[
    'safety_identifier',
    'seed',
    'service_tier',
    'stop',
    'store',
    'stream',
    'stream_options',
    'temperature',
  ],
  ...['tool_choice', 'tools', 'top_logprobs', 'top_p', 'user', 'verbosity', 'web_search_options'],
]);

/**
 * Reads a chat body for translation.
 * @throws HubError `invalid_request` with `param` for what is malformed, or cannot be expressed in other protocols
 *   without changing what the caller gets.
 */
export function readChatRequest(document: JsonObject, defaultMaxTokens: number | undefined): ChatRequest {
  if (document.n !== undefined && document.n !== null && document.n !== 1)
    throw cannot('n', 'more than one choice');
  if (document.logprobs === true) throw cannot('logprobs', 'log probabilities');
  if (isObject(document.audio)) throw cannot('audio', 'spoken answers');
  if (Array.isArray(document.functions)) throw cannot('functions', '`functions`; use `tools`');
  const { system, turns } = readTurns(document.messages as unknown[]);
  const further: JsonObject = {};
  for (const name in document) if (!KNOWN.has(name)) further[name] = document[name];
  return {
    system,
    turns,
    tools: readTools(document),
    maxTokens:
      numberOf(document, 'max_completion_tokens') ?? numberOf(document, 'max_tokens') ?? defaultMaxTokens,
    temperature: numberOf(document, 'temperature'),
    topP: numberOf(document, 'top_p'),
    frequencyPenalty: numberOf(document, 'frequency_penalty'),
    presencePenalty: numberOf(document, 'presence_penalty'),
    seed: numberOf(document, 'seed'),
    stop: stopOf(document.stop),
    json: jsonOf(document.response_format),
    reasoningEffort: typeof document.reasoning_effort === 'string' ? document.reasoning_effort : undefined,
    user: typeof document.user === 'string' ? document.user : undefined,
    further,
  };
}

/** Leaves out what is undefined, so that a provider is told only what the caller said. */
export function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function cannot(param: string, what: string): HubError {
  return new HubError('invalid_request', `This target's provider does not offer ${what}`, { param });
}

function numberOf(document: JsonObject, param: string): number | undefined {
  const value = document[param];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') {
    throw new HubError('invalid_request', `\`${param}\` must be a number`, { param });
  }
  return value;
}

function stopOf(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const list = Array.isArray(value) ? value : [value];
  if (list.every((entry) => typeof entry === 'string')) return list;
  throw new HubError('invalid_request', '`stop` must be a string or a list of strings', { param: 'stop' });
}

function jsonOf(value: unknown): ChatRequest['json'] {
  if (!isObject(value) || value.type === 'text') return undefined;
  if (value.type === 'json_object') return { schema: undefined };
  const { json_schema: named } = value;
  if (value.type === 'json_schema' && isObject(named) && isObject(named.schema))
    return { schema: named.schema };
  throw new HubError('invalid_request', '`response_format` is not one that the hub knows', {
    param: 'response_format',
  });
}
