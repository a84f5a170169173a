import type { CallPeer } from './call-peer.ts';
import { cancelledFailure, ToolFailure } from './failure.ts';
import { type AnswerReceiver, findId, type RpcAnswer, type RpcReply, readAnswer } from './rpc-answer.ts';
import { createServerMessages, type RequestInFlight, type ServerMessage } from './server-messages.ts';
import type { StopSignal } from './stop-signal.ts';
import type { Transport, TransportFactory } from './transports/transport.ts';

export interface RpcRequestOptions {
  /** Milliseconds until the request is given up and cancelled at the server; none when left out. */
  timeout?: number | undefined;
  /** Aborting cancels the request at the server. One signal per request. */
  signal?: StopSignal | undefined;
  /** Who made the call, where there is somebody to talk to meanwhile. */
  peer?: CallPeer | undefined;
  /** Largest accepted answer in bytes. */
  maxBytes?: number | undefined;
}

/** JSON-RPC over one transport: requests with their answers, notifications, and polite refusals. */
export interface RpcClient {
  readonly transport: Transport;
  /**
   * Sends a request. `params` is a JSON object text.
   * @throws ToolFailure `tool` for a JSON-RPC error, else by what happened.
   */
  request(method: string, params: string, options?: RpcRequestOptions): Promise<RpcReply>;
  notify(method: string, params?: string): void;
  /** `performance.now()` of the last message that came from the server. */
  lastHeardAt(): number;
  inFlight(): number;
  /** Rejects all requests in flight: the connection is given up. */
  abandon(failure: ToolFailure): void;
}

export interface RpcClientDeps {
  transport: TransportFactory;
  /** A notification that is not progress. */
  notification(method: string): void;
  /** The connection is gone; requests in flight have been rejected by then. */
  closed(failure: ToolFailure): void;
  note(message: string): void;
}

interface Pending extends AnswerReceiver, RequestInFlight {}

interface Message extends ServerMessage, RpcAnswer {
  method?: unknown;
}

/**
 * A lean JSON-RPC client for tool servers: one JSON.parse a message, no schema validation on the way, answers
 * kept as raw text so that they are relayed unchanged. (The SDK's client validates each result against closed
 * unions and refuses content kinds that it does not know.)
 */
export function createRpcClient(deps: RpcClientDeps): RpcClient {
  const pending = new Map<number, Pending>();
  let nextId = 1;
  let heardAt = performance.now();
  const transport = deps.transport({
    message: receive,
    requestFailed: (id, failure) => pending.get(id)?.reject(failure),
    closed: (failure) => {
      abandon(failure);
      deps.closed(failure);
    },
    note: deps.note,
  });
  const serverMessages = createServerMessages({
    transport,
    inFlight: pending,
    notification: deps.notification,
  });

  function receive(text: string, answering?: number): void {
    heardAt = performance.now();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      malformed(text);
      return;
    }
    if (Array.isArray(parsed)) {
      for (const member of parsed) dispatch(member, JSON.stringify(member), answering);
    } else {
      dispatch(parsed, text, answering);
    }
  }

  function dispatch(parsed: unknown, text: string, answering: number | undefined): void {
    if (typeof parsed !== 'object' || parsed === null) {
      deps.note('a message that is not an object was ignored');
      return;
    }
    const message: Message = parsed;
    if (typeof message.method === 'string') {
      serverMessages.take(message, message.method, text, answering);
      return;
    }
    const call = typeof message.id === 'number' ? pending.get(message.id) : undefined;
    // Late answers of requests that timed out or were cancelled are expected, and nobody's.
    if (call !== undefined) readAnswer(message, text, call);
  }

  function malformed(text: string): void {
    const id = findId(text.slice(0, 256), text.slice(-256));
    const call = id === undefined ? undefined : pending.get(id);
    if (call === undefined) deps.note('a message that is not JSON was ignored');
    else call.reject(new ToolFailure('protocol', 'bad_message', 'The tool server sent malformed JSON'));
  }

  function request(method: string, params: string, options: RpcRequestOptions = {}): Promise<RpcReply> {
    return new Promise((resolve, reject) => {
      const { signal, timeout } = options;
      if (signal?.aborted) {
        reject(cancelledFailure());
        return;
      }
      const id = nextId++;
      const timer = timeout === undefined ? undefined : setTimeout(expire, timeout);
      signal?.addEventListener('abort', leave, { once: true });

      function settle(): boolean {
        if (timer !== undefined) clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        return pending.delete(id);
      }
      function abandon(reason: string, failure: ToolFailure): void {
        if (!settle()) return;
        // The protocol forbids to cancel initialize.
        if (method !== 'initialize') {
          notify('notifications/cancelled', `{"requestId":${id},"reason":"${reason}"}`);
        }
        transport.release(id, false);
        reject(failure);
      }
      function expire(): void {
        const text = `No answer within ${timeout} ms`;
        abandon('timeout', new ToolFailure('timeout', 'timeout', text));
      }
      function leave(): void {
        abandon('the caller left', cancelledFailure());
      }

      pending.set(id, {
        resolve: (reply) => {
          if (!settle()) return;
          transport.release(id, true);
          resolve(reply);
        },
        reject: (failure) => {
          if (settle()) reject(failure);
        },
        method,
        peer: options.peer,
        maxBytes: options.maxBytes ?? Number.POSITIVE_INFINITY,
      });
      const asked = options.peer?.progress === undefined ? params : withProgressToken(params, id);
      transport.send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${asked}}`, id);
    });
  }

  function notify(method: string, params = '{}'): void {
    transport.send(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`);
  }

  function abandon(failure: ToolFailure): void {
    // Whatever the reason says about one message, these had been sent: none may be sent again.
    const sent = failure.neverSent ? alreadySent(failure) : failure;
    for (const call of [...pending.values()]) call.reject(sent);
  }

  return { transport, request, notify, lastHeardAt: () => heardAt, inFlight: () => pending.size, abandon };
}

/** `params` is text that the hub built, ending in a brace; a `_meta` of its own comes last and open for more. */
function withProgressToken(params: string, id: number): string {
  const separator = params === '{}' ? '' : ',';
  return `${params.slice(0, -1)}${separator}"_meta":{"progressToken":${id}}}`;
}

function alreadySent({ kind, code, message, operator, cause }: ToolFailure): ToolFailure {
  return new ToolFailure(kind, code, message, { operator, cause });
}
