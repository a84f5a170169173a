import type { JsonObject } from '../../json.ts';
import type { Operation } from '../../operations.ts';
import type { UpstreamCall } from '../../upstream/upstream.ts';
import type { ProviderCall } from '../provider.ts';

/** What echo answers, before it is put into words of a protocol. */
export interface EchoReply {
  operation: Operation;
  model: string;
  stream: boolean;
  /** Whether a stream ends with a chunk that holds only the usage. */
  tellsUsage: boolean;
  /** One text a choice (or an input, of embeddings). */
  texts: string[];
  finishReason: 'stop' | 'length' | 'tool_calls';
  toolCall: { name: string; arguments: string } | undefined;
  promptTokens: number;
  completionTokens: number;
  /** Length of each vector, of embeddings. */
  dimensions: number;
  isBase64: boolean;
  /** ms before each event of a stream, or before the whole answer. */
  delayMs: number;
}

/** A call of echo carries its answer with it: nothing is serialised on the way to a provider that is built in. */
export interface EchoCall extends UpstreamCall {
  reply: EchoReply;
}

const DEFAULT_MODEL = 'echo-1';
const DEFAULT_DIMENSIONS = 64;
const MOST_DIMENSIONS = 4096;
const MOST_CHOICES = 8;
const LONGEST_DELAY_MS = 60_000;

/**
 * Works out the answer: the text of the last message, once a choice; cut to the body's limit, counting a word as a
 * token. With a forced `tool_choice` it is a call of that tool with the text as its arguments (when it is a JSON
 * object, else `{"input": text}`), until a tool's result is the last message.
 * `echo_delay_ms`, at most 60000, slows the answer down: each event of a stream, or the whole.
 */
export function echoReply(
  { request, model, hidesUsage }: ProviderCall,
  defaultLimit: number | undefined,
): EchoReply {
  const { operation, document, stream } = request;
  const prompts = promptsOf(operation, document);
  const promptTokens = prompts.counted.reduce((sum, text) => sum + countWords(text), 0);
  const limit = intOf(
    document.max_completion_tokens ?? document.max_tokens ?? document.max_output_tokens ?? defaultLimit,
  );
  const toolCall = forcedTool(document, prompts);
  const choices = operation === 'chat.completions' ? Math.min(intOf(document.n) ?? 1, MOST_CHOICES) : 1;
  const whole = Array.from({ length: Math.max(1, choices) }, () => prompts.echoed).flat();
  const texts =
    operation === 'embeddings' || limit === undefined ? whole : whole.map((text) => cut(text, limit));
  const isCut = texts.some((text, index) => text !== whole[index]);
  return {
    operation,
    model: model ?? DEFAULT_MODEL,
    stream,
    tellsUsage: hidesUsage || request.wantsUsage,
    texts,
    finishReason: toolCall !== undefined ? 'tool_calls' : isCut ? 'length' : 'stop',
    toolCall,
    promptTokens,
    completionTokens: texts.reduce((sum, text) => sum + countWords(text), 0),
    dimensions: Math.min(intOf(document.dimensions) ?? DEFAULT_DIMENSIONS, MOST_DIMENSIONS),
    isBase64: document.encoding_format === 'base64',
    delayMs: Math.min(intOf(document.echo_delay_ms) ?? 0, LONGEST_DELAY_MS),
  };
}

/** A text as the tokens of a stream: words with the white space behind them. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*\S+\s*?(?=\s\S|$)|\s+/g) ?? [];
}

interface Prompts {
  /** Counted as prompt tokens. */
  counted: string[];
  /** Sent back. */
  echoed: string[];
  endsWithToolResult: boolean;
}

function promptsOf(operation: Operation, document: JsonObject): Prompts {
  const list = operation === 'completions' ? document.prompt : (document.messages ?? document.input);
  if (operation === 'chat.completions' || (operation === 'responses' && Array.isArray(list))) {
    const messages = (Array.isArray(list) ? list : []) as ({ role?: unknown; content?: unknown } | null)[];
    const last = messages.findLast((message) => message?.role === 'user') ?? messages.at(-1);
    const isToolResult = messages.at(-1)?.role === 'tool';
    return {
      counted: messages.map((message) => textOf(message?.content)),
      echoed: [textOf((isToolResult ? messages.at(-1) : last)?.content)],
      endsWithToolResult: isToolResult,
    };
  }
  const isTokens = Array.isArray(list) && typeof list[0] === 'number';
  const texts = (Array.isArray(list) && !isTokens ? list : [list]).map(textOf);
  return { counted: texts, echoed: texts, endsWithToolResult: false };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => {
      if (typeof part === 'number') return `${part} `;
      const text = (part as { text?: unknown } | null)?.text;
      return typeof text === 'string' ? text : '';
    })
    .join('');
}

function forcedTool(document: JsonObject, prompts: Prompts): EchoReply['toolCall'] {
  const { tool_choice: choice, tools } = document;
  if (prompts.endsWithToolResult || !Array.isArray(tools)) return undefined;
  const named = (choice as { function?: { name?: unknown } } | null | undefined)?.function?.name;
  const first = (tools[0] as { function?: { name?: unknown } } | undefined)?.function?.name;
  const name = choice === 'required' ? first : named;
  if (typeof name !== 'string') return undefined;
  const text = prompts.echoed[0] ?? '';
  return { name, arguments: isJsonObject(text) ? text : JSON.stringify({ input: text }) };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function cut(text: string, words: number): string {
  return wordsOf(text).slice(0, words).join('');
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

function intOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}
