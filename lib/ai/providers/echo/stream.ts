import { type EchoReply, wordsOf } from './reply.ts';
import { newId, outputMessage, responseObject, seconds, usageOf } from './response.ts';

export { relayedStream as stream } from '../../openai-wire/relayed-stream.ts';

/** The events of a streamed answer, word by word. */
export function streamEvents(reply: EchoReply): Generator<string, void, undefined> {
  return reply.operation === 'responses' ? responseEvents(reply) : chunkEvents(reply);
}

function* chunkEvents(reply: EchoReply): Generator<string, void, undefined> {
  const isChat = reply.operation === 'chat.completions';
  const envelope = {
    id: newId(isChat ? 'chatcmpl-' : 'cmpl-'),
    object: isChat ? 'chat.completion.chunk' : 'text_completion',
    created: seconds(),
    model: reply.model,
  };
  const chunk = (index: number, delta: object, finishReason: string | null = null) =>
    `data: ${JSON.stringify({
      ...envelope,
      choices: [{ index, ...(isChat ? { delta } : delta), logprobs: null, finish_reason: finishReason }],
    })}\n\n`;

  for (const [index, text] of reply.texts.entries()) {
    if (isChat) yield chunk(index, { role: 'assistant', content: '' });
    if (reply.toolCall !== undefined) {
      const call = { index: 0, id: newId('call_'), type: 'function', function: reply.toolCall };
      yield chunk(index, { tool_calls: [call] });
    } else {
      for (const word of wordsOf(text)) yield chunk(index, isChat ? { content: word } : { text: word });
    }
    yield chunk(index, isChat ? {} : { text: '' }, reply.finishReason);
  }
  if (reply.tellsUsage) {
    yield `data: ${JSON.stringify({ ...envelope, choices: [], usage: usageOf(reply) })}\n\n`;
  }
  yield 'data: [DONE]\n\n';
}

function* responseEvents(reply: EchoReply): Generator<string, void, undefined> {
  const id = newId('resp_');
  const item = newId('msg_');
  let sequence = 0;
  const event = (type: string, fields: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`;
  const place = { item_id: item, output_index: 0, content_index: 0 };
  const part = { type: 'output_text', text: reply.texts[0] ?? '', annotations: [] };
  const message = outputMessage(reply, item);

  yield event('response.created', { response: responseObject(reply, id, []) });
  yield event('response.in_progress', { response: responseObject(reply, id, []) });
  yield event('response.output_item.added', {
    output_index: 0,
    item: { ...message, status: 'in_progress', content: [] },
  });
  yield event('response.content_part.added', { ...place, part: { ...part, text: '' } });
  for (const delta of wordsOf(part.text)) yield event('response.output_text.delta', { ...place, delta });
  yield event('response.output_text.done', { ...place, text: part.text });
  yield event('response.content_part.done', { ...place, part });
  yield event('response.output_item.done', { output_index: 0, item: message });
  const end = reply.finishReason === 'length' ? 'response.incomplete' : 'response.completed';
  yield event(end, { response: responseObject(reply, id, [message]) });
}
