import type { JsonObject } from '../../json.ts';
import { createChunkWriter } from '../../openai-wire/chat-chunks.ts';
import { createEventReader } from '../../sse/event-reader.ts';
import type { ProviderStream } from '../provider.ts';
import { streamError } from './errors.ts';
import { candidateOf, idOf, modelOf, usageOf } from './response.ts';

/**
 * A streamed GenerateContentResponse as chunks. Nothing but the end of the stream tells that it is complete, so that
 * `[DONE]` is written there, and only if a finish reason came before it.
 */
export const stream: ProviderStream = {
  createReader(sink, facts, call) {
    const writer = createChunkWriter(sink, facts, call);
    let hasBegun = false;
    let toolCalls = 0;
    let finishReason: string | undefined;

    function onEvent(event: JsonObject): boolean {
      if (event.error !== undefined) {
        if (hasBegun) writer.error(streamError(event.error));
        else sink.fail(`the first event is an error: ${JSON.stringify(event.error)}`);
        return false;
      }
      facts.usage = usageOf(event.usageMetadata) ?? facts.usage;
      const candidate = candidateOf(event, toolCalls > 0);
      if (candidate === undefined) return true;
      hasBegun = true;
      writer.begin(idOf(event), modelOf(event, call));
      writer.reasoning(candidate.reasoning);
      writer.text(candidate.text);
      for (const toolCall of candidate.toolCalls) {
        writer.toolCall(toolCalls, toolCall);
        toolCalls += 1;
      }
      finishReason = candidate.finishReason ?? finishReason;
      return true;
    }

    return createEventReader(sink, onEvent, () => {
      if (finishReason !== undefined && !facts.hasFailed) {
        writer.finish(finishReason);
        writer.done(facts.usage);
      }
      writer.ended();
    });
  },
};
