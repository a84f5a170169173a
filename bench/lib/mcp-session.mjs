/** The beginning of an MCP session over streamable HTTP. */
import { setTimeout as sleep } from 'node:timers/promises';

const PROTOCOL_VERSION = '2025-06-18';

/**
 * Opens a session; tries for some seconds, because the programs behind it may still be starting.
 * @param {{host: string, port: number}} address
 * @returns the headers of every further request
 */
export async function openMcpSession(address, patienceMs = 15_000) {
  const url = `http://${address.host}:${address.port}/mcp`;
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await open(url);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(200);
    }
  }
}

async function open(url) {
  const accept = 'application/json, text/event-stream';
  const post = async (headers, message) => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    await answer.text();
    if (!answer.ok) throw new Error(`${url} answered ${answer.status} to ${message.method}`);
    return answer;
  };
  const clientInfo = { name: 'bench', version: '1' };
  const opened = await post(
    {},
    {
      id: 'open',
      method: 'initialize',
      params: { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo },
    },
  );
  const session = opened.headers.get('mcp-session-id');
  const headers = {
    accept,
    'mcp-protocol-version': PROTOCOL_VERSION,
    ...(session && { 'mcp-session-id': session }),
  };
  await post(headers, { method: 'notifications/initialized' });
  return headers;
}
