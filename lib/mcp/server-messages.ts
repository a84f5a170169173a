import { type CallPeer, RequestRefused } from './call-peer.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, refusal, reply } from './json-rpc.ts';
import { memberText, onOneLine } from './json-spans.ts';
import type { Transport } from './transports/transport.ts';

/** A request or a notification of a tool server, parsed. */
export interface ServerMessage {
  id?: unknown;
  params?: { progressToken?: unknown } & Record<string, unknown>;
}

/** A request in flight, to which a message of the server may belong. */
export interface RequestInFlight {
  method: string;
  peer: CallPeer | undefined;
}

/** What a tool server says or asks by itself: it reaches the caller whom it concerns, or is refused politely. */
export interface ServerMessages {
  /**
   * Takes one message with its method and its JSON. `answering` is the request on whose own answer stream it came,
   * where the transport has such streams.
   */
  take(message: ServerMessage, method: string, text: string, answering: number | undefined): void;
}

export interface ServerMessagesDeps {
  transport: Transport;
  /** The requests in flight by their ids. */
  inFlight: ReadonlyMap<number, RequestInFlight>;
  /** A notification that is not progress. */
  notification(method: string): void;
}

export function createServerMessages(deps: ServerMessagesDeps): ServerMessages {
  const { transport, inFlight } = deps;

  function take(message: ServerMessage, method: string, text: string, answering: number | undefined): void {
    const params = memberText(text, 'params') ?? '{}';
    if (message.id !== undefined) {
      void answer(memberText(text, 'id') ?? 'null', method, params, answering);
    } else if (method === 'notifications/progress') progressed(message.params);
    else if (method === 'notifications/message') peerOf(answering)?.log?.(params);
    else deps.notification(method);
  }

  function progressed(params: ServerMessage['params']): void {
    const token = params?.progressToken;
    const report = typeof token === 'number' ? inFlight.get(token)?.peer?.progress : undefined;
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
    if (answering !== undefined) return inFlight.get(answering)?.peer;
    const calls = [...inFlight.values()].filter(({ method }) => method === 'tools/call');
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

  return { take };
}
