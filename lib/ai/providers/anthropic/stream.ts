import { isObject, type JsonObject } from '../../json.ts';
import { createChunkWriter } from '../../openai-wire/chat-chunks.ts';
import { createEventReader } from '../../sse/event-reader.ts';
import type { ProviderStream } from '../provider.ts';
import { streamError } from './errors.ts';
import { finishReasonOf, usageOf } from './response.ts';

/**
 * Events of a streamed message (https://docs.anthropic.com/en/docs/build-with-claude/streaming) as chunks. `ping` says
 * nothing, so it does not begin the answer.
 */
export const stream: ProviderStream = {
  createReader(sink, facts, call) {
    const writer = createChunkWriter(sink, facts, call);
    /** Counts so far: the first event has the prompt's, later ones the answer's. */
    let usage: JsonObject = {};
    let hasBegun = false;
    let toolCalls = 0;
    let thinking: JsonObject | undefined;

    function onEvent(event: JsonObject): boolean {
      switch (event.type) {
        case 'message_start': {
          const { message } = event;
          if (!isObject(message)) break;
          hasBegun = true;
          if (isObject(message.usage)) usage = message.usage;
          writer.begin(String(message.id), String(message.model));
          facts.usage = usageOf(usage);
          break;
        }
        case 'content_block_start':
          if (isObject(event.content_block)) onBlock(event.content_block);
          break;
        case 'content_block_delta':
          if (isObject(event.delta)) onDelta(event.delta);
          break;
        case 'content_block_stop':
          if (thinking !== undefined) writer.thinkingBlock(thinking);
          thinking = undefined;
          break;
        case 'message_delta':
          if (isObject(event.usage)) usage = { ...usage, ...event.usage };
          facts.usage = usageOf(usage);
          if (isObject(event.delta)) writer.finish(finishReasonOf(event.delta.stop_reason));
          break;
        case 'message_stop':
          writer.done(usageOf(usage));
          break;
        case 'error':
          if (hasBegun) writer.error(streamError(event.error));
          else sink.fail(`the first event is an error: ${JSON.stringify(event.error)}`);
          return false;
      }
      return true;
    }

    function onBlock(block: JsonObject): void {
      if (block.type === 'text') writer.text(String(block.text ?? ''));
      else if (block.type === 'tool_use') {
        writer.toolCall(toolCalls, { id: String(block.id), name: String(block.name), arguments: '' });
        toolCalls += 1;
      } else if (block.type === 'thinking' || block.type === 'redacted_thinking') thinking = { ...block };
    }

    function onDelta(delta: JsonObject): void {
      if (delta.type === 'text_delta') writer.text(String(delta.text));
      else if (delta.type === 'input_json_delta') writer.arguments(toolCalls - 1, String(delta.partial_json));
      else if (delta.type === 'thinking_delta') {
        writer.reasoning(String(delta.thinking));
        if (thinking !== undefined) thinking.thinking = `${thinking.thinking ?? ''}${delta.thinking}`;
      } else if (delta.type === 'signature_delta' && thinking !== undefined)
        thinking.signature = delta.signature;
    }

    return createEventReader(sink, onEvent, writer.ended);
  },
};
