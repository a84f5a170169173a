import { HubError } from '../../errors/hub-error.ts';
import { isObject, type JsonObject } from '../json.ts';

export type Part =
  | { type: 'text'; text: string }
  /** Base64 data. */
  | { type: 'image'; mediaType: string; data: string }
  | { type: 'image-url'; url: string };

export interface ToolCall {
  id: string;
  name: string;
  input: JsonObject;
  /** What the caller sent along, e.g. a provider's signature. */
  extra: unknown;
}

export type Turn =
  | { role: 'user'; parts: Part[] }
  | {
      role: 'assistant';
      text: string;
      toolCalls: ToolCall[];
      /** Reasoning that an earlier answer carried, given back. */
      reasoning: string | undefined;
      /** The provider's own form of that reasoning, with its signatures. */
      thinkingBlocks: unknown[];
    }
  | { role: 'tool'; callId: string; name: string | undefined; parts: Part[] };

/** Reads the messages of a chat body. System and developer messages are taken out, in order. */
export function readTurns(messages: readonly unknown[]): { system: string[]; turns: Turn[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  /** Names of the tools called so far, by the id of the call. */
  const called = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!isObject(message)) throw refusal(at, 'must be an object');
    const { role, content } = message;
    if (role === 'system' || role === 'developer') system.push(textOf(partsOf(content, at)));
    else if (role === 'user') turns.push({ role, parts: partsOf(content, at) });
    else if (role === 'assistant') {
      const toolCalls = toolCallsOf(message.tool_calls, at);
      for (const call of toolCalls) called.set(call.id, call.name);
      const { reasoning_content: reasoning, thinking_blocks: blocks } = message;
      turns.push({
        role,
        text: content === null || content === undefined ? '' : textOf(partsOf(content, at)),
        toolCalls,
        reasoning: typeof reasoning === 'string' ? reasoning : undefined,
        thinkingBlocks: Array.isArray(blocks) ? blocks : [],
      });
    } else if (role === 'tool') {
      const { tool_call_id: callId } = message;
      if (typeof callId !== 'string') throw refusal(`${at}.tool_call_id`, 'must be a string');
      turns.push({ role, callId, name: called.get(callId), parts: partsOf(content, at) });
    } else throw refusal(`${at}.role`, 'must be system, developer, user, assistant or tool');
  }
  return { system, turns };
}

/** The text of some parts. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function partsOf(content: unknown, at: string): Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw refusal(`${at}.content`, 'must be a string or a list of parts');
  return content.map((part, index) => partOf(part, `${at}.content[${index}]`));
}

function partOf(part: unknown, at: string): Part {
  if (isObject(part)) {
    const { type } = part;
    if (type === 'text' && typeof part.text === 'string') return { type, text: part.text };
    if (type === 'refusal' && typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
    const url = type === 'image_url' && isObject(part.image_url) ? part.image_url.url : undefined;
    if (typeof url === 'string') return imageOf(url, at);
  }
  throw refusal(at, 'is of a type that this target cannot take');
}

function imageOf(url: string, at: string): Part {
  const data = /^data:([\w.+-]+\/[\w.+-]+);base64,/i.exec(url);
  if (data !== null) return { type: 'image', mediaType: data[1] ?? '', data: url.slice(data[0].length) };
  if (/^https?:\/\//i.test(url)) return { type: 'image-url', url };
  throw refusal(at, 'must hold an http(s) or a base64 data URL');
}

function toolCallsOf(value: unknown, at: string): ToolCall[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw refusal(`${at}.tool_calls`, 'must be a list');
  return value.map((call, index) => {
    const place = `${at}.tool_calls[${index}]`;
    const called = isObject(call) ? call.function : undefined;
    if (
      !isObject(call) ||
      typeof call.id !== 'string' ||
      !isObject(called) ||
      typeof called.name !== 'string'
    ) {
      throw refusal(place, 'must be a function call with an id and a name');
    }
    return {
      id: call.id,
      name: called.name,
      input: inputOf(called.arguments, `${place}.function.arguments`),
      extra: call.extra_content,
    };
  });
}

function inputOf(value: unknown, at: string): JsonObject {
  if (value === undefined || value === null || value === '') return {};
  try {
    const input: unknown = JSON.parse(String(value));
    if (isObject(input)) return input;
  } catch {
    // Refused below like any other text that is no object.
  }
  throw refusal(at, 'must be the JSON text of an object');
}

function refusal(param: string, what: string): HubError {
  return new HubError('invalid_request', `\`${param}\` ${what}`, { param });
}
