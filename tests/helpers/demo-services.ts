import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider and a web service on loopback that answer as real ones do, for a hub with something to show. */
export interface DemoServices {
  /** In OpenAI's protocol; the model `forbidden` is refused. */
  providerUrl: string;
  /** Answers `GET /missing` by 404, everything else by 200. */
  serviceUrl: string;
  close(): void;
}

export async function startDemoServices(): Promise<DemoServices> {
  const provider = await serve(answerChat);
  const service = await serve((request, response) => {
    response.statusCode = request.url?.endsWith('/missing') ? 404 : 200;
    response.end('hello');
  });
  return {
    providerUrl: `${provider.url}/v1`,
    serviceUrl: service.url,
    close() {
      for (const { server } of [provider, service]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function serve(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const WORDS = 'The hub is up: one door in front of providers, tools and video accounts.'.split(/(?<= )/);

async function answerChat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { model = 'demo-large', stream } = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  if (model === 'forbidden') {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'no such model', type: 'invalid_request_error' } }));
    return;
  }
  const usage = {
    prompt_tokens: 412,
    completion_tokens: WORDS.length * 9,
    total_tokens: 412 + WORDS.length * 9,
  };
  const about = { id: 'chatcmpl-demo', created: 1, model };
  const finish = model.includes('tools') ? 'tool_calls' : 'stop';
  if (!stream) {
    const message = { role: 'assistant', content: WORDS.join('') };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      }),
    );
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choices: unknown[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...about, object: 'chat.completion.chunk', choices, ...more })}\n\n`,
    );
  for (const content of WORDS) send([{ index: 0, delta: { content }, finish_reason: null }]);
  send([{ index: 0, delta: {}, finish_reason: finish }]);
  send([], { usage });
  response.end('data: [DONE]\n\n');
}
