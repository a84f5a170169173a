import { HubError } from '../../../errors/hub-error.ts';
import type { AiRequest } from '../../body/ai-request.ts';
import { isObject, type JsonObject } from '../../json.ts';
import { type ChatRequest, defined, readChatRequest } from '../../openai-wire/chat-request.ts';
import { type Part, type Turn, textOf } from '../../openai-wire/chat-turns.ts';
import { buildCallHeaders } from '../../upstream/call-headers.ts';
import type { ProviderRequest } from '../provider.ts';

/** Google's Gemini API (https://ai.google.dev/api). The key goes into a header, never into the URL. */
export const request: ProviderRequest = {
  operations: ['chat.completions', 'embeddings'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  compile(target) {
    const headers = buildCallHeaders(
      target,
      target.apiKey === undefined ? {} : { 'x-goog-api-key': target.apiKey },
    );
    return ({ request: asked, model }) => {
      if (model === undefined) {
        throw new HubError('invalid_request', 'This target has no model of its own: name one', {
          param: 'model',
        });
      }
      const path = `/v1beta/models/${encodeURIComponent(model.replace(/^models\//, ''))}`;
      if (asked.operation === 'embeddings') {
        const body = Buffer.from(JSON.stringify(embeddingsBody(asked, model)));
        return { path: `${path}:batchEmbedContents`, headers: headers.whole, body };
      }
      const chat = readChatRequest(asked.document, target.options.max_completion_tokens);
      return {
        path: path + (asked.stream ? ':streamGenerateContent?alt=sse' : ':generateContent'),
        headers: asked.stream ? headers.stream : headers.whole,
        body: Buffer.from(JSON.stringify(generateBody(chat))),
      };
    };
  },
};

function generateBody(chat: ChatRequest): JsonObject {
  const generationConfig = defined({
    maxOutputTokens: chat.maxTokens,
    temperature: chat.temperature,
    topP: chat.topP,
    stopSequences: chat.stop,
    seed: chat.seed,
    frequencyPenalty: chat.frequencyPenalty,
    presencePenalty: chat.presencePenalty,
    responseMimeType: chat.json === undefined ? undefined : 'application/json',
    responseJsonSchema: chat.json?.schema,
    thinkingConfig: thinkingOf(chat.reasoningEffort),
  });
  return {
    ...defined({
      contents: contentsOf(chat.turns),
      systemInstruction:
        chat.system.length === 0 ? undefined : { parts: chat.system.map((text) => ({ text })) },
      ...toolMembers(chat),
      generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
    }),
    ...chat.further,
  };
}

/** Efforts as budgets of thinking tokens, as Google's own OpenAI endpoint maps them. */
const BUDGETS: Record<string, number> = { none: 0, minimal: 1024, low: 1024, medium: 8192, high: 24_576 };

function thinkingOf(effort: string | undefined): JsonObject | undefined {
  const thinkingBudget = effort === undefined ? undefined : BUDGETS[effort];
  return thinkingBudget === undefined ? undefined : { thinkingBudget, includeThoughts: thinkingBudget > 0 };
}

function toolMembers({ tools }: ChatRequest): JsonObject {
  if (tools === undefined) return {};
  const { choice } = tools;
  const mode = choice === 'auto' ? 'AUTO' : choice === 'none' ? 'NONE' : 'ANY';
  return {
    tools: [
      {
        functionDeclarations: tools.declarations.map(({ name, description, parameters }) =>
          defined({ name, description, parametersJsonSchema: parameters }),
        ),
      },
    ],
    toolConfig: {
      functionCallingConfig: defined({
        mode,
        allowedFunctionNames: typeof choice === 'object' ? [choice.name] : undefined,
      }),
    },
  };
}

/** Neighbours of one side are joined: the answers to parallel calls belong into one content. */
function contentsOf(turns: readonly Turn[]): JsonObject[] {
  const contents: { role: string; parts: JsonObject[] }[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'model' : 'user';
    const parts = partsOf(turn);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  return contents;
}

function partsOf(turn: Turn): JsonObject[] {
  if (turn.role === 'user') return turn.parts.map(partOf);
  if (turn.role === 'tool') {
    if (turn.name === undefined) {
      throw new HubError('invalid_request', 'A tool message answers a call that is not among the messages', {
        param: 'messages',
      });
    }
    const images = turn.parts.filter((part) => part.type !== 'text');
    return [
      { functionResponse: { id: turn.callId, name: turn.name, response: toolResult(textOf(turn.parts)) } },
      ...images.map(partOf),
    ];
  }
  return [
    ...(turn.text === '' ? [] : [{ text: turn.text }]),
    ...turn.toolCalls.map(({ id, name, input, extra }) =>
      defined({ functionCall: { id, name, args: input }, thoughtSignature: signatureOf(extra) }),
    ),
  ];
}

/** A result must be an object. */
function toolResult(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Plain text, wrapped below.
  }
  return { result: text };
}

/** The signature that came with a call, which newer models demand back (OpenAI shape: `extra_content.google`). */
function signatureOf(extra: unknown): unknown {
  const google = isObject(extra) ? extra.google : undefined;
  return isObject(google) ? google.thought_signature : undefined;
}

const MEDIA_TYPES: Record<string, string> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

function partOf(part: Part): JsonObject {
  if (part.type === 'text') return { text: part.text };
  if (part.type === 'image') return { inlineData: { mimeType: part.mediaType, data: part.data } };
  const extension = /\.(\w+)(?:[?#]|$)/.exec(part.url)?.[1]?.toLowerCase() ?? '';
  return { fileData: { mimeType: MEDIA_TYPES[extension] ?? 'image/jpeg', fileUri: part.url } };
}

function embeddingsBody({ document }: AiRequest, model: string): JsonObject {
  const { input, dimensions } = document;
  const texts = Array.isArray(input) ? input : [input];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) {
    throw new HubError('invalid_request', '`input` must be a string or a list of strings', {
      param: 'input',
    });
  }
  return {
    requests: texts.map((text) =>
      defined({
        model: `models/${model.replace(/^models\//, '')}`,
        content: { parts: [{ text }] },
        outputDimensionality: typeof dimensions === 'number' ? dimensions : undefined,
      }),
    ),
  };
}
