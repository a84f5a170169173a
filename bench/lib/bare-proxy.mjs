/**
 * The least that a proxy in Node costs: node:http in front, undici's dispatch behind, headers filtered, bodies
 * streamed; no authentication, ids, limits, counts or log. Run as `node bare-proxy.mjs <upstream port>`.
 */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const pool = new Pool(`http://127.0.0.1:${process.argv[2]}`);
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host']);

function withoutConnection(flat) {
  const kept = [];
  for (let i = 0; i < flat.length; i += 2) {
    if (!OF_CONNECTION.has(flat[i].toLowerCase())) kept.push(flat[i], flat[i + 1]);
  }
  return kept;
}

class Relay {
  constructor(response) {
    this.response = response;
  }

  onConnect() {}

  onHeaders(status, raw, resume) {
    this.resume = resume;
    this.response.writeHead(status, withoutConnection(raw.map((bytes) => bytes.toString('latin1'))));
    return true;
  }

  onData(chunk) {
    if (this.response.write(chunk)) return true;
    this.response.once('drain', this.resume);
    return false;
  }

  onComplete() {
    this.response.end();
  }

  onError() {
    this.response.destroy();
  }
}

const server = createServer((request, response) => {
  const headers = withoutConnection(request.rawHeaders);
  pool.dispatch({ method: request.method, path: request.url, headers, body: request }, new Relay(response));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log(`bare proxy on ${server.address().port}`));
