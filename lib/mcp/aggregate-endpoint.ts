import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type {
  InternalContext,
  InternalRequest,
  InternalResponse,
  InternalRoute,
} from '../companion-client/internal-route.ts';
import { HubError } from '../errors/hub-error.ts';
import { parseJson, readJsonBody } from '../http/body.ts';
import type { RunMethod } from './aggregate-methods.ts';
import { askableOf } from './ask-client.ts';
import { openEventStream } from './event-stream.ts';
import { type RpcMessage, type RpcRequest, readMessage, reply } from './json-rpc.ts';
import { createMcpAnswer, type McpAnswer, readAccept } from './mcp-answer.ts';
import type { Session, Sessions } from './sessions.ts';
import { StopControl } from './stop-signal.ts';

export interface AggregateEndpointDeps {
  sessions: Sessions;
  run: RunMethod;
  /** Bytes of one body. */
  bodyLimit: number;
  version: string;
  now?(): number;
}

/** The hub as one MCP server over streamable HTTP (contract §6). */
export interface AggregateEndpoint {
  routes: InternalRoute[];
  /** Tells clients that the tools they are offered have changed. */
  announceChange(concerns: (session: Session) => boolean): void;
  /** Ends the standing streams; calls in flight go on. */
  endStreams(): void;
}

const SESSION_HEADER = 'mcp-session-id';
const VERSION_HEADER = 'mcp-protocol-version';
const MAX_STREAMS = 4;
const MAX_BATCH = 100;
const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

export function createAggregateEndpoint(deps: AggregateEndpointDeps): AggregateEndpoint {
  const { sessions, run, now = Date.now } = deps;

  async function post(request: InternalRequest, response: InternalResponse, context: InternalContext) {
    const accepts = readAccept(request);
    const body = await readJsonBody(request, { limit: deps.bodyLimit });
    const messages = readMessages(parseJson(body), body.toString('utf8'));
    const [first] = messages;
    if (messages.length === 1 && first?.request?.method === 'initialize') {
      const { protocolVersion, capabilities } = first.request.params;
      const session = sessions.open({
        caller: context.caller,
        protocolVersion: negotiate(protocolVersion),
        askable: askableOf(capabilities),
      });
      const answer = createMcpAnswer(response, accepts, { [SESSION_HEADER]: session.id });
      answer.finish([reply(first.request.id, initializeResult(session))]);
      return;
    }
    const session = sessionOf(request, context);
    for (const { notification, response: answered } of messages) {
      if (notification?.method === 'notifications/cancelled') cancel(session, notification.params.requestId);
      if (answered !== undefined) session.asked.get(String(answered.id))?.(answered.answer);
    }
    const requests = messages.flatMap((message) => message.request ?? []);
    if (requests.length === 0) response.writeHead(202).end();
    else await answerAll(requests, session, createMcpAnswer(response, accepts, {}), response, context);
  }

  async function answerAll(
    requests: readonly RpcRequest[],
    session: Session,
    answer: McpAnswer,
    response: InternalResponse,
    context: InternalContext,
  ): Promise<void> {
    const leaving = new Set<StopControl>();
    response.once('close', () => {
      if (!response.writableFinished) for (const control of leaving) control.abort();
    });
    const answers = await Promise.all(requests.map(runOne));
    const given = answers.filter((text) => text !== undefined);
    if (given.length === 0) answer.drop();
    else answer.finish(given);

    /** Undefined when the client has taken the request back: it expects no answer then. */
    async function runOne(asked: RpcRequest): Promise<string | undefined> {
      const control = new StopControl();
      leaving.add(control);
      session.calls.set(asked.key, control);
      const { caller, requestId } = context;
      try {
        const text = await run(asked, {
          caller,
          requestId,
          session,
          signal: control,
          send: answer.send,
        });
        return control.aborted ? undefined : text;
      } finally {
        if (session.calls.get(asked.key) === control) session.calls.delete(asked.key);
        session.seenAt = now();
      }
    }
  }

  function sessionOf({ headers }: InternalRequest, { caller }: InternalContext): Session {
    const id = headers[SESSION_HEADER];
    const session = sessions.find(typeof id === 'string' ? id : undefined, caller);
    const spoken = headers[VERSION_HEADER];
    if (spoken !== undefined && !isSupported(spoken)) {
      throw new HubError('invalid_request', 'This MCP protocol version is not supported', {
        param: VERSION_HEADER,
        details: { supported: SUPPORTED_PROTOCOL_VERSIONS },
      });
    }
    return session;
  }

  function initializeResult({ protocolVersion }: Session): string {
    return JSON.stringify({
      protocolVersion,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'hub', version: deps.version },
    });
  }

  function get(request: InternalRequest, response: InternalResponse, context: InternalContext): void {
    if (!readAccept(request).events) {
      throw new HubError('invalid_request', 'Accept must name text/event-stream', {
        param: 'accept',
        status: 406,
      });
    }
    const session = sessionOf(request, context);
    if (session.streams.size >= MAX_STREAMS) {
      throw new HubError('conflict', 'This MCP session has too many event streams');
    }
    const stream = openEventStream(response, { [SESSION_HEADER]: session.id });
    session.streams.add(stream);
    response.once('close', () => {
      session.streams.delete(stream);
      session.seenAt = now();
    });
  }

  function remove(request: InternalRequest, response: InternalResponse, context: InternalContext): void {
    sessions.end(sessionOf(request, context));
    response.writeHead(204).end();
  }

  return {
    routes: [
      { method: 'POST', path: '/mcp', handle: post },
      { method: 'GET', path: '/mcp', handle: get },
      { method: 'DELETE', path: '/mcp', handle: remove },
    ],
    announceChange(concerns) {
      for (const session of sessions.all()) {
        // A message goes out on one of a session's streams only (MCP streamable HTTP).
        if (concerns(session)) [...session.streams].at(-1)?.send(CHANGED);
      }
    },
    endStreams() {
      for (const session of sessions.all()) for (const stream of session.streams) stream.end();
    },
  };
}

/** One message, or a batch of them as protocol version 2025-03-26 has it. */
function readMessages(value: unknown, text: string): RpcMessage[] {
  if (!Array.isArray(value)) return [readMessage(value, text)];
  if (value.length === 0 || value.length > MAX_BATCH) {
    throw new HubError('invalid_request', `A JSON-RPC batch holds 1 to ${MAX_BATCH} messages`);
  }
  return value.map((member) => readMessage(member, JSON.stringify(member)));
}

function isSupported(version: unknown): version is string {
  return typeof version === 'string' && SUPPORTED_PROTOCOL_VERSIONS.includes(version);
}

/** The version to speak: the client's where the hub knows it, else the hub's newest. */
function negotiate(wanted: unknown): string {
  return isSupported(wanted) ? wanted : LATEST_PROTOCOL_VERSION;
}

function cancel(session: Session, requestId: unknown): void {
  session.calls.get(JSON.stringify(requestId))?.abort();
}
