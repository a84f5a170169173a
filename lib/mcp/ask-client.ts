import { randomUUID } from 'node:crypto';
import { RequestRefused } from './call-peer.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from './json-rpc.ts';
import { onOneLine } from './json-spans.ts';
import { isObject } from './json-value.ts';
import type { ClientAnswer, Session } from './sessions.ts';
import type { StopSignal } from './stop-signal.ts';

/** What a server may ask of a client in the middle of a call, with the capability that allows it. */
const ASKABLE: Readonly<Record<string, string>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
};

/** What tool servers are told that these clients can do. */
export const ASKABLE_CAPABILITIES = { elicitation: {}, sampling: {} };

/** Reads a client's capabilities. */
export function askableOf(capabilities: unknown): Set<string> {
  const declared = isObject(capabilities) ? capabilities : {};
  return new Set(Object.values(ASKABLE).filter((name) => isObject(declared[name])));
}

/**
 * Puts a server's question to the client, on the answer stream of the call that it belongs to; the raw result.
 * The time that the answer takes is part of the call's own time.
 * @throws RequestRefused when the client cannot be asked, refuses, or has left
 */
export function askClient(
  session: Session,
  signal: StopSignal,
  send: (message: string) => boolean,
  method: string,
  params: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const capability = ASKABLE[method];
    if (capability === undefined || !session.askable.has(capability)) {
      reject(new RequestRefused(METHOD_NOT_FOUND, 'Method not found'));
      return;
    }
    const id = randomUUID();
    session.asked.set(id, settle);
    signal.addEventListener('abort', leave, { once: true });
    const message = `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":${onOneLine(params)}}`;
    if (signal.aborted || !send(message)) leave();

    function settle(answer: ClientAnswer): void {
      session.asked.delete(id);
      signal.removeEventListener('abort', leave);
      if ('result' in answer) resolve(answer.result);
      else reject(new RequestRefused(answer.error.code, answer.error.message));
    }
    function leave(): void {
      settle({ error: { code: INTERNAL_ERROR, message: 'The client has left' } });
    }
  });
}
