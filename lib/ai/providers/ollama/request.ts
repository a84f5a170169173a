import { HubError } from '../../../errors/hub-error.ts';
import type { JsonObject } from '../../json.ts';
import { type ChatRequest, defined, readChatRequest } from '../../openai-wire/chat-request.ts';
import { type Part, type Turn, textOf } from '../../openai-wire/chat-turns.ts';
import { buildCallHeaders } from '../../upstream/call-headers.ts';
import type { ProviderRequest } from '../provider.ts';

/** Ollama's own API (https://github.com/ollama/ollama/blob/main/docs/api.md). */
export const request: ProviderRequest = {
  operations: ['chat.completions', 'embeddings'],
  defaultBaseUrl: 'http://127.0.0.1:11434',
  compile(target) {
    const headers = buildCallHeaders(
      target,
      target.apiKey === undefined ? {} : { authorization: `Bearer ${target.apiKey}` },
    );
    return ({ request: { operation, document, stream }, model }) => {
      if (model === undefined) {
        throw new HubError('invalid_request', 'This target has no model of its own: name one', {
          param: 'model',
        });
      }
      if (operation === 'embeddings') {
        const { input, dimensions } = document;
        const body = Buffer.from(JSON.stringify(defined({ model, input, dimensions })));
        return { path: '/api/embed', headers: headers.whole, body };
      }
      const chat = readChatRequest(document, target.options.max_completion_tokens);
      return {
        path: '/api/chat',
        headers: headers.whole,
        body: Buffer.from(JSON.stringify(chatBody(chat, model, stream))),
      };
    };
  },
};

function chatBody(chat: ChatRequest, model: string, stream: boolean): JsonObject {
  const { options: ownOptions, ...further } = chat.further;
  const options = {
    ...defined({
      num_predict: chat.maxTokens,
      temperature: chat.temperature,
      top_p: chat.topP,
      stop: chat.stop,
      seed: chat.seed,
      frequency_penalty: chat.frequencyPenalty,
      presence_penalty: chat.presencePenalty,
    }),
    ...(ownOptions as object | undefined),
  };
  return {
    ...defined({
      model,
      stream,
      messages: [
        ...chat.system.map((content) => ({ role: 'system', content })),
        ...chat.turns.map(messageOf),
      ],
      tools: toolsOf(chat),
      format: chat.json === undefined ? undefined : (chat.json.schema ?? 'json'),
      think: thinkOf(chat.reasoningEffort),
      options: Object.keys(options).length === 0 ? undefined : options,
    }),
    ...further,
  };
}

/** Ollama has no `tool_choice`: without tools is the only way to say none, and a forced one it cannot promise. */
function toolsOf({ tools }: ChatRequest): unknown {
  if (tools === undefined || tools.choice === 'none') return undefined;
  if (tools.choice !== 'auto') {
    throw new HubError('invalid_request', "This target's provider cannot be made to call a tool", {
      param: 'tool_choice',
    });
  }
  return tools.declarations.map(({ name, description, parameters }) => ({
    type: 'function',
    function: defined({ name, description, parameters }),
  }));
}

function thinkOf(effort: string | undefined): unknown {
  if (effort === undefined) return undefined;
  if (effort === 'none') return false;
  return effort === 'low' || effort === 'medium' || effort === 'high' ? effort : true;
}

function messageOf(turn: Turn): JsonObject {
  if (turn.role === 'assistant') {
    return defined({
      role: 'assistant',
      content: turn.text,
      thinking: turn.reasoning,
      tool_calls:
        turn.toolCalls.length === 0
          ? undefined
          : turn.toolCalls.map(({ id, name, input }) => ({ id, function: { name, arguments: input } })),
    });
  }
  const images = turn.parts.filter((part) => part.type !== 'text').map(imageOf);
  return defined({
    role: turn.role,
    content: textOf(turn.parts),
    images: images.length === 0 ? undefined : images,
    tool_name: turn.role === 'tool' ? turn.name : undefined,
    tool_call_id: turn.role === 'tool' ? turn.callId : undefined,
  });
}

function imageOf(part: Part): string {
  if (part.type === 'image') return part.data;
  throw new HubError('invalid_request', "This target's provider takes images as base64 data URLs only", {
    param: 'messages',
  });
}
