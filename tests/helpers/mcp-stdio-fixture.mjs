/**
 * A tool server that misbehaves on request. Run as `node mcp-stdio-fixture.mjs [mode…]`; modes change its life,
 * tools change single answers. Written against the wire, not the SDK, so that it can break the rules.
 */
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const modes = new Set(process.argv.slice(2));
const cancelled = [];
const extraTools = [];
let listings = 0;

if (modes.has('die-at-start')) {
  process.stderr.write('no configuration found, giving up\n');
  process.exit(7);
}
if (modes.has('flood')) {
  const line = `${'e'.repeat(990)}\n`;
  for (let count = 0; count < 20_000; count += 1) process.stderr.write(line);
}
if (modes.has('noise')) process.stdout.write('Starting the server…\nlistening\n');
if (modes.has('stubborn')) process.on('SIGTERM', () => {});
if (modes.has('grandchild')) {
  // Ignores TERM and keeps the pipes open, as a badly written server below npx does.
  const script = "process.on('SIGTERM',()=>{});process.on('SIGHUP',()=>{});setInterval(()=>{},1000)";
  const child = spawn(process.execPath, ['-e', script], { stdio: 'inherit' });
  process.stderr.write(`grandchild ${child.pid}\n`);
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const schema = (properties = {}, required = []) => ({ type: 'object', properties, required });

const tools = {
  echo: {
    inputSchema: schema({ message: { type: 'string' } }, ['message']),
    run: ({ message }) => text(message),
  },
  raw: { run: (_args, { line }) => text(line) },
  slow: { run: ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms, text('slept'))) },
  silent: { run: () => new Promise(() => {}) },
  cancelled: { run: () => text(JSON.stringify(cancelled)) },
  env: { run: () => text(JSON.stringify(process.env)) },
  pid: { run: () => text(String(process.pid)) },
  listings: { run: () => text(String(listings)) },
  die: {
    run: ({ marker }) => {
      if (marker !== undefined) appendFileSync(marker, 'called\n');
      process.kill(process.pid, 'SIGKILL');
      return new Promise(() => {});
    },
  },
  // After the answers to the calls that came with it.
  exit: { run: ({ code }) => void setImmediate(() => process.exit(code)) },
  fails: { run: () => ({ ...text('the tool says no'), isError: true }) },
  refuses: { run: () => Promise.reject(Object.assign(new Error('bad weather'), { code: -32050 })) },
  leaks: { run: ({ secret }) => Promise.reject(new Error(`cannot log in with ${secret}`)) },
  big: {
    run: (_args, { id }) => {
      const { bytes } = _args;
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      const chunk = 'x'.repeat(65_536);
      for (let left = bytes; left > 0; left -= chunk.length) process.stdout.write(chunk.slice(0, left));
      process.stdout.write('"}]}}\n');
    },
  },
  'big-id-last': {
    run: ({ bytes }, { id }) => {
      process.stdout.write(
        `{"result":{"content":[{"type":"text","text":"${'x'.repeat(bytes)}"}]},"jsonrpc":"2.0","id":${id}}\n`,
      );
    },
  },
  'bad-json': {
    run: (_args, { id }) => {
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[}}\n`);
    },
  },
  'bad-result': { run: () => ({ content: 'not a list' }) },
  'no-result': { run: (_args, { id }) => send({ id }) },
  kinds: {
    run: (_args, { id }) => {
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${KINDS}}\n`);
    },
  },
  progress: {
    run: (_args, { meta }) => {
      for (const progress of [1, 2, 3]) {
        if (meta?.progressToken !== undefined) {
          send({
            method: 'notifications/progress',
            params: { progressToken: meta.progressToken, progress, total: 3, message: `step ${progress}` },
          });
        }
      }
      return text('done');
    },
  },
  'asks-client': {
    run: () => {
      send({ id: 'from-server', method: 'sampling/createMessage', params: {} });
      send({ id: 77, method: 'ping' });
      return new Promise((resolve) => answers.push(resolve));
    },
  },
  elicits: {
    inputSchema: schema({ question: { type: 'string' } }),
    run: ({ question }) =>
      new Promise((resolve) => {
        asks.push((answer) => resolve(text(JSON.stringify(answer))));
        send({
          id: `ask-${asks.length - 1}`,
          method: 'elicitation/create',
          params: { message: question, requestedSchema: schema({ name: { type: 'string' } }) },
        });
      }),
  },
  logs: {
    run: () => {
      for (const level of ['debug', 'error']) {
        send({ method: 'notifications/message', params: { level, data: `a ${level} line` } });
      }
      return text('logged');
    },
  },
  capabilities: { run: () => text(JSON.stringify(clientCapabilities)) },
  'add-tool': {
    run: ({ name }) => {
      extraTools.push({ name, inputSchema: schema() });
      send({ method: 'notifications/tools/list_changed' });
      return text('added');
    },
  },
  'say-on-stderr': {
    run: ({ line }) => {
      process.stderr.write(`${line}\n`);
      return text('said');
    },
  },
  freeze: {
    run: () => {
      for (;;) {
        // Holds the process without answering anything.
      }
    },
  },
};

/** Every content kind, one of no known kind, and numbers that no double holds. */
const KINDS = `{"content":[{"type":"text","text":"t","annotations":{"priority":0.10}},{"type":"image","data":"aW1n","mimeType":"image/png"},{"type":"audio","data":"YXVk","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"file:///a","text":"body","_meta":{"n":12345678901234567890}}},{"type":"resource_link","uri":"file:///b","name":"b"},{"type":"hologram","depth":3}],"structuredContent":{"id":12345678901234567890,"ratio":1.0},"_meta":{"vendor/x":{"deep":[1e400]}}}`;

const answers = [];
const asks = [];
let clientCapabilities;

function listed() {
  const all = [
    ...Object.entries(tools).map(([name, { inputSchema = schema() }]) => ({ name, inputSchema })),
    ...extraTools,
  ];
  if (!modes.has('bad-schema')) return all;
  return [
    ...all,
    { name: 'broken-schema', inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } },
    { name: 'no-schema' },
    { inputSchema: schema() },
    { name: 'dangling', inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } },
    {
      name: 'old-dialect',
      inputSchema: {
        type: 'object',
        properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
      },
    },
  ];
}

function listPage(cursor) {
  listings += 1;
  const all = listed();
  if (modes.has('endless-pages')) return { tools: [], nextCursor: 'again' };
  if (!modes.has('three-pages')) return { tools: all };
  const size = Math.ceil(all.length / 3);
  const page = Number(cursor ?? 0);
  return {
    tools: all.slice(page * size, (page + 1) * size),
    ...(page < 2 && { nextCursor: String(page + 1) }),
  };
}

async function handle(line) {
  const message = JSON.parse(line);
  const { id, method, params = {} } = message;
  if (method === undefined) {
    if (id === undefined && message.result === undefined && message.error === undefined) return;
    if (String(id).startsWith('ask-')) {
      asks[Number(id.slice(4))]?.(message.result ?? message.error);
      return;
    }
    received.push(message);
    if (received.length === 2)
      for (const resolve of answers.splice(0)) resolve(text(JSON.stringify(received)));
    return;
  }
  if (method === 'initialize') {
    if (modes.has('silent')) return;
    clientCapabilities = params.capabilities;
    if (modes.has('slow-start')) await new Promise((resolve) => setTimeout(resolve, 400));
    send({
      id,
      result: {
        protocolVersion: modes.has('old-version') ? '1999-01-01' : params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fixture', version: '1' },
      },
    });
  } else if (method === 'ping') {
    if (!modes.has('no-pong')) send({ id, result: {} });
  } else if (method === 'tools/list') {
    send({ id, result: listPage(params.cursor) });
  } else if (method === 'notifications/cancelled') {
    cancelled.push(params.requestId);
  } else if (method === 'tools/call') {
    try {
      const tool = tools[params.name];
      const result = tool
        ? await tool.run(params.arguments ?? {}, { id, line, meta: params._meta })
        : text(`called ${params.name}`);
      if (result !== undefined) send({ id, result });
    } catch (error) {
      send({ id, error: { code: error.code ?? -32603, message: error.message } });
    }
  }
}

const received = [];
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  rest += chunk;
  const lines = rest.split('\n');
  rest = lines.pop();
  for (const line of lines) if (line.trim() !== '') void handle(line);
});
if (!modes.has('stubborn')) process.stdin.on('end', () => process.exit(0));
else setInterval(() => {}, 1000);
