import { isObject, type JsonObject } from '../../json.ts';
import { newId } from '../../openai-wire/chat-answer.ts';
import { createChunkWriter } from '../../openai-wire/chat-chunks.ts';
import { createLineReader } from '../../sse/line-reader.ts';
import type { ProviderStream } from '../provider.ts';
import { streamError } from './errors.ts';
import { finishReasonOf, modelOf, toolCallsOf, usageOf } from './response.ts';

/** The lines of a streamed `/api/chat` as chunks. */
export const stream: ProviderStream = {
  createReader(sink, facts, call) {
    const writer = createChunkWriter(sink, facts, call);
    const id = newId('chatcmpl-');
    let hasBegun = false;
    let toolCalls = 0;

    function onObject(object: JsonObject): boolean {
      if (object.error !== undefined) {
        if (hasBegun) writer.error(streamError(object.error));
        else sink.fail(`the first line is an error: ${String(object.error)}`);
        return false;
      }
      const { message } = object;
      if (!isObject(message)) {
        sink.fail('a line without a message');
        return false;
      }
      hasBegun = true;
      writer.begin(id, modelOf(object, call));
      writer.reasoning(String(message.thinking ?? ''));
      writer.text(String(message.content ?? ''));
      for (const toolCall of toolCallsOf(message)) {
        writer.toolCall(toolCalls, toolCall);
        toolCalls += 1;
      }
      if (object.done === true) {
        writer.finish(finishReasonOf(object.done_reason, toolCalls > 0));
        writer.done(usageOf(object));
      }
      return true;
    }

    return createLineReader(sink, onObject, writer.ended);
  },
};
