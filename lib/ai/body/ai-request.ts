import { isUtf8 } from 'node:buffer';
import { HubError } from '../../errors/hub-error.ts';
import type { JsonObject } from '../json.ts';
import { OPERATIONS, type Operation } from '../operations.ts';
import { createMemberFinder, type FoundMembers } from './find-members.ts';

/** Members of a request body that the hub owns (contract §5). */
export const OWNED = [
  'model',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const;
export type OwnedName = (typeof OWNED)[number];

/** A request body after its one and only parse. */
export interface AiRequest {
  readonly operation: Operation;
  /** As the caller sent it. */
  readonly bytes: Buffer;
  readonly document: JsonObject;
  /** Where the owned members lie in `bytes`. */
  readonly members: FoundMembers<OwnedName>;
  /** As asked for; undefined when the body names none. */
  readonly model: string | undefined;
  readonly stream: boolean;
  /** Whether the caller wants the usage-only chunk of a stream. */
  readonly wantsUsage: boolean;
}

const findOwned = createMemberFinder(OWNED);

/**
 * Reads a request body: the one `JSON.parse` of a call.
 * @throws HubError `invalid_json` when it is no JSON or no UTF-8, `invalid_request` with `param` when it is not
 *   an object, an owned member is of the wrong type or occurs twice, or a required array is missing.
 */
export function readAiRequest(operation: Operation, bytes: Buffer): AiRequest {
  const document = parse(bytes);
  const { requiredArray, hasUsageOption } = OPERATIONS[operation];
  const members = findOwned(bytes);
  const { model, stream } = document;
  if (model !== undefined && model !== null && typeof model !== 'string') {
    throw new HubError('invalid_request', '`model` must be a string', { param: 'model' });
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw new HubError('invalid_request', '`stream` must be a boolean', { param: 'stream' });
  }
  if (requiredArray !== undefined && !Array.isArray(document[requiredArray])) {
    throw new HubError('invalid_request', `\`${requiredArray}\` must be an array`, { param: requiredArray });
  }
  const options = document.stream_options as { include_usage?: unknown } | null | undefined;
  return {
    operation,
    bytes,
    document,
    members,
    model: typeof model === 'string' && model !== '' ? model : undefined,
    stream: stream === true && operation !== 'embeddings',
    wantsUsage: !hasUsageOption || options?.include_usage === true,
  };
}

function parse(bytes: Buffer): JsonObject {
  if (bytes.length === 0) throw new HubError('invalid_json', 'The body is empty; it must be a JSON object');
  if (!isUtf8(bytes)) throw new HubError('invalid_json', 'The body is not valid UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new HubError('invalid_json', 'The body is not valid JSON', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HubError('invalid_request', 'The body must be a JSON object');
  }
  return value as JsonObject;
}
