/**
 * The provider that every system of the `ai` scenario stands in front of: a 600-byte chat completion, or an event
 * stream with its first chunk at once and one more each `chunkMs`. Run as `node provider.mjs <frames> <chunkMs>`.
 */
import { createServer } from 'node:http';

const frames = Number(process.argv[2] ?? 50);
const chunkMs = Number(process.argv[3] ?? 10);
const COMPLETION_BYTES = 600;

const envelope = { id: 'chatcmpl-bench', created: 1_760_000_000, model: 'bench-1' };
const usage = { prompt_tokens: 12, completion_tokens: 90, total_tokens: 102 };

function completionBytes() {
  const build = (content) =>
    JSON.stringify({
      ...envelope,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', logprobs: null }],
      usage,
    });
  const marker = 'whole-answer';
  return Buffer.from(build(marker.padStart(COMPLETION_BYTES - build('').length, 'lorem ipsum ')));
}

const completion = completionBytes();
const chunk = (fields) =>
  `data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', ...fields })}\n\n`;
const [beforeContent, afterContent] = chunk({
  choices: [{ index: 0, delta: { content: '$' }, finish_reason: null }],
}).split('$');
const lastChunk = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usageChunk = chunk({ choices: [], usage });

function monotonicMs() {
  const [seconds, nanos] = process.hrtime();
  return (seconds * 1000 + nanos / 1e6).toFixed(3);
}

function stream(response, withUsage) {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  const startedAt = performance.now();
  let number = 0;
  let timer;
  const send = () => {
    response.write(`${beforeContent}${number}@${monotonicMs()}${afterContent}`);
    number++;
    if (number === frames) {
      response.write(lastChunk);
      if (withUsage) response.write(usageChunk);
      response.end('data: [DONE]\n\n');
      return;
    }
    // Against the start, not the last chunk: lateness must not add up over a stream.
    timer = setTimeout(send, Math.max(1, startedAt + number * chunkMs - performance.now()));
  };
  response.on('close', () => clearTimeout(timer));
  send();
}

const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = parts.length === 1 ? parts[0] : Buffer.concat(parts);
    if (body.includes('"stream":true')) return stream(response, body.includes('"include_usage":true'));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': completion.length });
    response.end(completion);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`provider on ${server.address().port}`));
