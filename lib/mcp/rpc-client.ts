import { type CallPeer, RequestRefused } from './call-peer.ts';
import { cancelledFailure, ToolFailure } from './failure.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, refusal, reply } from './json-rpc.ts';
import { memberText, onOneLine } from './json-spans.ts';
import { isObject } from './json-value.ts';
import type { StopSignal } from './stop-signal.ts';
import type { Transport, TransportFactory } from './transports/transport.ts';

/** An answer as it came. */
export interface RpcReply {
  /** The parsed `result`. */
  value: Record<string, unknown>;
  /** The raw text of `result`. */
  text: string;
}

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

interface Pending {
  resolve(reply: RpcReply): void;
  reject(failure: ToolFailure): void;
  method: string;
  peer: CallPeer | undefined;
  maxBytes: number;
}

interface Message {
  id?: unknown;
  method?: unknown;
  params?: { progressToken?: unknown } & Record<string, unknown>;
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
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
      const params = memberText(text, 'params') ?? '{}';
      if (message.id !== undefined) {
        void answer(memberText(text, 'id') ?? 'null', message.method, params, answering);
      } else if (message.method === 'notifications/progress') progressed(message.params);
      else if (message.method === 'notifications/message') peerOf(answering)?.log?.(params);
      else deps.notification(message.method);
      return;
    }
    const call = typeof message.id === 'number' ? pending.get(message.id) : undefined;
    // Late answers of requests that timed out or were cancelled are expected, and nobody's.
    if (call === undefined) return;
    if (message.error !== undefined && message.error !== null) {
      call.reject(rpcError(message.error));
      return;
    }
    const result = isObject(message.result) ? memberText(text, 'result') : undefined;
    if (!isObject(message.result) || result === undefined) {
      call.reject(new ToolFailure('protocol', 'bad_message', 'The tool server answered without a result'));
    } else if (isLonger(result, call.maxBytes)) {
      call.reject(oversized(call.maxBytes));
    } else {
      call.resolve({ value: message.result, text: result });
    }
  }

  function progressed(params: Message['params']): void {
    const token = params?.progressToken;
    const report = typeof token === 'number' ? pending.get(token)?.peer?.progress : undefined;
    if (report === undefined || typeof params?.progress !== 'number') return;
    const { progress, total, message } = params;
    report({
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
  }

  /**
   * Whose call a message of the server belongs to. Over HTTP the stream that it came on tells; elsewhere it is
   * known only while there is a single call: a question must never reach somebody else.
   */
  function peerOf(answering: number | undefined): CallPeer | undefined {
    if (answering !== undefined) return pending.get(answering)?.peer;
    const calls = [...pending.values()].filter(({ method }) => method === 'tools/call');
    return calls.length === 1 ? calls[0]?.peer : undefined;
  }

  /** Answers a request of the server: pings here, questions by asking the caller, anything else by a refusal. */
  async function answer(id: string, method: string, params: string, answering?: number): Promise<void> {
    if (method === 'ping') {
      transport.send(reply(id, '{}'));
      return;
    }
    const ask = peerOf(answering)?.ask;
    try {
      if (ask === undefined) throw new RequestRefused(METHOD_NOT_FOUND, 'Method not found');
      transport.send(reply(id, onOneLine(await ask(method, params))));
    } catch (error) {
      const { code, message } =
        error instanceof RequestRefused
          ? error
          : new RequestRefused(INTERNAL_ERROR, 'The client did not answer');
      transport.send(refusal(id, code, message));
    }
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

/** Whether a text has more than `limit` bytes; counts them only where the length leaves it open. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit);
}

function rpcError(error: { code?: unknown; message?: unknown }): ToolFailure {
  const message = typeof error.message === 'string' ? error.message : 'The tool server refused the request';
  return new ToolFailure('tool', typeof error.code === 'number' ? `rpc_${error.code}` : 'rpc_error', message);
}

/** The failure of an answer past a size limit. */
export function oversized(limit: number): ToolFailure {
  return new ToolFailure('protocol', 'result_too_large', `The result is larger than ${limit} bytes`);
}

/**
 * The id of an answer that cannot be parsed, from its first and last characters: servers write it either
 * right at the start or as the very last member. Quotes inside strings are escaped, so no payload can fake it.
 */
export function findId(head: string, tail: string): number | undefined {
  const match =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /[,{]\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return match === null ? undefined : Number(match[1]);
}
