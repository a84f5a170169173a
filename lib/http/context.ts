import type { IncomingMessage, ServerResponse } from 'node:http';
import { HubError } from '../errors/hub-error.ts';
import type { ClientAddresses } from './client-ip.ts';
import type { RequestContext } from './request-context.ts';

/** W3C Trace Context, version 00; neither id may be all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Where a caller's departure shows: the response, or the socket of an upgrade. */
type Closing = Pick<ServerResponse, 'once' | 'destroyed' | 'writableFinished'>;

/** Makes the context of a request. Its abort controller exists only once somebody asks for the signal. */
export function createContext(
  request: IncomingMessage,
  closing: Closing,
  id: string,
  addresses: ClientAddresses,
): RequestContext {
  const clientIp = addresses.clientIp(request);
  const { traceparent } = request.headers;
  let signal: AbortSignal | undefined;
  return {
    id,
    startedAt: performance.now(),
    clientIp,
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    get signal() {
      signal ??= departureOf(closing);
      return signal;
    },
    caller: { id: undefined, label: `ip:${clientIp}` },
    log: {},
  };
}

/** Aborts when `closing` closes before everything was written. */
function departureOf(closing: Closing): AbortSignal {
  const controller = new AbortController();
  const leave = () => {
    if (closing.writableFinished) return;
    controller.abort(new HubError('client_closed_request', 'The caller left before the answer was finished'));
  };
  if (closing.destroyed) leave();
  else closing.once('close', leave);
  return controller.signal;
}
