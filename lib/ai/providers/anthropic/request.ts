import { HubError } from '../../../errors/hub-error.ts';
import type { JsonObject } from '../../json.ts';
import { type ChatRequest, defined, readChatRequest } from '../../openai-wire/chat-request.ts';
import type { Part, Turn } from '../../openai-wire/chat-turns.ts';
import { buildCallHeaders } from '../../upstream/call-headers.ts';
import type { ProviderRequest } from '../provider.ts';
import { thinkingFor } from './thinking.ts';

const API_VERSION = '2023-06-01';
/** The protocol demands a limit; this one every model of the last years allows. */
const DEFAULT_MAX_TOKENS = 8192;

/** Anthropic's Messages API (https://docs.anthropic.com/en/api/messages). */
export const request: ProviderRequest = {
  operations: ['chat.completions'],
  defaultBaseUrl: 'https://api.anthropic.com',
  compile(target) {
    const headers = buildCallHeaders(target, {
      'anthropic-version': API_VERSION,
      ...(target.apiKey !== undefined && { 'x-api-key': target.apiKey }),
    });
    return ({ request: { document, stream }, model }) => {
      if (model === undefined) {
        throw new HubError('invalid_request', 'This target has no model of its own: name one', {
          param: 'model',
        });
      }
      const chat = readChatRequest(document, target.options.max_completion_tokens);
      return {
        path: '/v1/messages',
        headers: stream ? headers.stream : headers.whole,
        body: Buffer.from(JSON.stringify(messagesBody(chat, model, stream))),
      };
    };
  },
};

function messagesBody(chat: ChatRequest, model: string, stream: boolean): JsonObject {
  const { thinking, effort, maxTokens } = thinkingFor(chat, model, chat.maxTokens ?? DEFAULT_MAX_TOKENS);
  if (chat.json !== undefined && chat.json.schema === undefined) {
    throw new HubError(
      'invalid_request',
      'This provider needs a schema for JSON answers: use type json_schema',
      {
        param: 'response_format',
      },
    );
  }
  const format = chat.json && { type: 'json_schema', schema: chat.json.schema };
  const outputConfig = defined({ format, effort });
  return {
    ...defined({
      model,
      max_tokens: maxTokens,
      stream: stream || undefined,
      system: chat.system.length === 0 ? undefined : chat.system.join('\n\n'),
      messages: messagesOf(chat.turns),
      ...toolMembers(chat),
      // OpenAI's scale ends at 2. With thinking only the default is allowed.
      temperature:
        thinking === undefined && chat.temperature !== undefined ? Math.min(chat.temperature, 1) : undefined,
      top_p: thinking === undefined ? chat.topP : undefined,
      stop_sequences: chat.stop,
      metadata: chat.user === undefined ? undefined : { user_id: chat.user },
      thinking,
      output_config: Object.keys(outputConfig).length === 0 ? undefined : outputConfig,
    }),
    ...chat.further,
  };
}

function toolMembers({ tools }: ChatRequest): JsonObject {
  if (tools === undefined) return {};
  const { choice, isParallel } = tools;
  const type = typeof choice === 'object' ? 'tool' : choice === 'required' ? 'any' : choice;
  return {
    tools: tools.declarations.map(({ name, description, parameters }) =>
      defined({ name, description, input_schema: parameters }),
    ),
    tool_choice: defined({
      type,
      name: typeof choice === 'object' ? choice.name : undefined,
      disable_parallel_tool_use: isParallel || type === 'none' ? undefined : true,
    }),
  };
}

/** One message a side in turn: tool results are blocks of the user's message, and neighbours of one side are joined. */
function messagesOf(turns: readonly Turn[]): JsonObject[] {
  const messages: { role: string; content: unknown[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(turn);
    if (content.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

function blocksOf(turn: Turn): unknown[] {
  if (turn.role === 'user') return turn.parts.flatMap(blockOf);
  if (turn.role === 'tool') {
    return [{ type: 'tool_result', tool_use_id: turn.callId, content: turn.parts.flatMap(blockOf) }];
  }
  return [
    ...turn.thinkingBlocks,
    ...blockOf({ type: 'text', text: turn.text }),
    ...turn.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ];
}

function blockOf(part: Part): unknown[] {
  if (part.type === 'text') {
    // The API refuses empty text.
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  }
  const source =
    part.type === 'image'
      ? { type: 'base64', media_type: part.mediaType, data: part.data }
      : { type: 'url', url: part.url };
  return [{ type: 'image', source }];
}
