/**
 * The conformance runner asks for tools by fixed names; the hub offers them as `<server>__<tool>`. This proxy stands
 * between the two and changes those names, in both directions, and nothing else. Prints `renaming on <port>`.
 * Usage: `node renaming-proxy.mjs <hub port> <server name>`
 */
import { createServer, request as httpRequest } from 'node:http';

const [hubPort, server] = process.argv.slice(2);
const NAME = '(test_\\w+|json_schema_2020_12_tool)';
const toHub = (text) => text.replace(new RegExp(`"name":\\s*"${NAME}"`, 'g'), `"name":"${server}__$1"`);
const fromHub = (text) => text.replace(new RegExp(`"name":\\s*"${server}__${NAME}"`, 'g'), '"name":"$1"');

const proxy = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { 'content-length': _length, ...headers } = request.headers;
  const onward = httpRequest(
    { port: hubPort, host: '127.0.0.1', method: request.method, path: request.url, headers },
    (answer) => {
      const { 'content-length': _answerLength, ...answerHeaders } = answer.headers;
      response.writeHead(answer.statusCode, answerHeaders);
      // Frames of the hub come whole; a tool list is one of them.
      answer.on('data', (chunk) => response.write(fromHub(chunk.toString())));
      answer.on('end', () => response.end());
    },
  );
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(toHub(body));
});
proxy.listen(0, '127.0.0.1', () => console.log(`renaming on ${proxy.address().port}`));
