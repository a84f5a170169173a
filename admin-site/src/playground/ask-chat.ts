import { CallFailure, messageOf } from '../admin-api.ts';
import { eventData } from './event-stream.ts';

export interface ChatQuestion {
  hub: string;
  target: string;
  system: string;
  message: string;
  stream: boolean;
  headers: Record<string, string>;
  signal: AbortSignal;
}

/** An answer as far as it has come. Times are milliseconds since the call began. */
export interface ChatAnswer {
  text: string;
  reasoning: string;
  model: string | undefined;
  /** Who answered, which a fallback may change. */
  target: string | undefined;
  requestId: string | undefined;
  finishReason: string | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  firstTokenMs: number | undefined;
  totalMs: number | undefined;
}

interface Piece {
  model?: string;
  choices?: {
    message?: { content?: string | null; reasoning_content?: string | null };
    delta?: { content?: string | null; reasoning_content?: string | null };
    finish_reason?: string | null;
  }[];
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
  error?: { message?: string };
}

/**
 * Asks `/v1/chat/completions` and tells of the answer as it grows.
 * @throws CallFailure when the hub or the provider refuses, also in the middle of a stream.
 */
export async function askChat(question: ChatQuestion, onChange: (answer: ChatAnswer) => void): Promise<void> {
  const startedAt = performance.now();
  const since = () => performance.now() - startedAt;
  const response = await send(question);
  let answer: ChatAnswer = {
    text: '',
    reasoning: '',
    model: undefined,
    target: response.headers.get('x-hub-target') ?? undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
    finishReason: undefined,
    promptTokens: undefined,
    completionTokens: undefined,
    firstTokenMs: undefined,
    totalMs: undefined,
  };
  const change = (more: Partial<ChatAnswer>) => {
    answer = { ...answer, ...more };
    onChange(answer);
  };
  const take = (piece: Piece) => {
    if (piece.error !== undefined) throw new CallFailure(502, piece.error.message ?? 'The stream broke off');
    const choice = piece.choices?.[0];
    const said = choice?.delta ?? choice?.message;
    const text = said?.content ?? '';
    const reasoning = said?.reasoning_content ?? '';
    const isFirst = answer.firstTokenMs === undefined && question.stream && text + reasoning !== '';
    change({
      text: answer.text + text,
      reasoning: answer.reasoning + reasoning,
      model: piece.model ?? answer.model,
      finishReason: choice?.finish_reason ?? answer.finishReason,
      promptTokens: piece.usage?.prompt_tokens ?? answer.promptTokens,
      completionTokens: piece.usage?.completion_tokens ?? answer.completionTokens,
      ...(isFirst && { firstTokenMs: since() }),
    });
  };
  if (question.stream && response.body !== null) {
    let isComplete = false;
    for await (const data of eventData(response.body)) {
      if (data === '[DONE]') isComplete = true;
      else take(JSON.parse(data) as Piece);
    }
    if (!isComplete && answer.finishReason === undefined) {
      throw new CallFailure(502, 'The stream ended before the answer did');
    }
  } else {
    take((await response.json()) as Piece);
  }
  change({ totalMs: since() });
}

async function send({
  hub,
  target,
  system,
  message,
  stream,
  headers,
  signal,
}: ChatQuestion): Promise<Response> {
  const messages = [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: message },
  ];
  let response: Response;
  try {
    response = await fetch(`${hub}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-target': target, ...headers },
      body: JSON.stringify({ messages, stream, ...(stream && { stream_options: { include_usage: true } }) }),
      credentials: 'omit',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CallFailure(0, 'The hub does not answer');
  }
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  throw new CallFailure(response.status, messageOf(body) ?? `Status ${response.status}`);
}
