import type { CallFacts, ReportedUsage } from '../call-facts.ts';
import type { ProviderCall, StreamSink } from '../providers/provider.ts';
import { type AnsweredToolCall, seconds, toolCall, usageObject } from './chat-answer.ts';

/** Writes a streamed answer in OpenAI's chunks. */
export interface ChunkWriter {
  /** Begins the answer: from now on it is a success in progress. Only the first call has an effect. */
  begin(id: string, model: string): void;
  text(text: string): void;
  reasoning(text: string): void;
  /** A whole block of reasoning in the provider's own form. */
  thinkingBlock(block: unknown): void;
  /** Begins tool call number `index`. */
  toolCall(index: number, call: AnsweredToolCall): void;
  /** Continues the arguments of tool call number `index`. */
  arguments(index: number, text: string): void;
  finish(reason: string): void;
  /** The provider's own error in the middle of the stream, which ends here. */
  error(error: object): void;
  /** Ends a complete answer: its usage, where the caller wants it, and `[DONE]`. */
  done(usage: ReportedUsage | undefined): void;
  /** The provider's stream has ended: an answer that is not complete by then has failed. */
  ended(): void;
}

/** Creates the writer of one stream; it notes what passes in `facts`. */
export function createChunkWriter(sink: StreamSink, facts: CallFacts, call: ProviderCall): ChunkWriter {
  let envelope: object | undefined;

  function send(members: object): void {
    sink.write(Buffer.from(`data: ${JSON.stringify({ ...envelope, ...members })}\n\n`));
  }

  function delta(delta: object, finishReason: string | null = null): void {
    send({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] });
  }

  return {
    begin(id, model) {
      if (envelope !== undefined) return;
      facts.model = model;
      envelope = { id, object: 'chat.completion.chunk', created: seconds(), model };
      sink.open();
      delta({ role: 'assistant', content: '' });
    },
    text(text) {
      if (text === '') return;
      facts.completionChars += text.length;
      delta({ content: text });
    },
    reasoning(text) {
      if (text === '') return;
      facts.completionChars += text.length;
      delta({ reasoning_content: text });
    },
    thinkingBlock: (block) => delta({ thinking_blocks: [block] }),
    toolCall(index, started) {
      facts.completionChars += started.arguments.length;
      delta({ tool_calls: [{ index, ...toolCall(started) }] });
    },
    arguments(index, text) {
      if (text === '') return;
      facts.completionChars += text.length;
      delta({ tool_calls: [{ index, function: { arguments: text } }] });
    },
    finish(reason) {
      facts.finishReasons.push(reason);
      delta({}, reason);
    },
    error(error) {
      facts.hasFailed = true;
      sink.write(Buffer.from(`data: ${sink.mask(JSON.stringify({ error }))}\n\n`));
      sink.end();
    },
    done(usage) {
      facts.usage = usage;
      facts.isComplete = true;
      if (call.request.wantsUsage && usage !== undefined) send({ choices: [], usage: usageObject(usage) });
      sink.write(Buffer.from('data: [DONE]\n\n'));
    },
    ended() {
      if (envelope === undefined || facts.isComplete || facts.hasFailed) return;
      sink.fail('the stream ended before the answer was complete');
    },
  };
}
