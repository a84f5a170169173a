import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { HubError } from '../errors/hub-error.ts';
import type { RenderedError } from './error-response.ts';
import type { Gate } from './gate.ts';
import type { HubRequest, RequestContext } from './request-context.ts';
import { originForm, pathOf } from './request-target.ts';
import type { RouteGroup } from './route.ts';
import { accessOf, isLimited, type RouteTable } from './route-table.ts';

/** Listener of the server's `upgrade` event. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface UpgradeDeps {
  groups: readonly RouteGroup[];
  table: RouteTable;
  gate: Gate;
  context: (request: IncomingMessage, socket: Duplex) => RequestContext;
  render: (thrown: unknown, context: RequestContext, wanted: boolean) => RenderedError;
  /** Headers of every answer, flat. */
  common: readonly string[];
  /** Writes the access record, with the status that the caller saw. */
  log: (request: HubRequest, status: number) => void;
}

const asksForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** Node 26 is through with the head and the body of an upgrade by the time it hands it over: too late to decline. */
export const ASKS_BEFOREHAND = Number.parseInt(process.versions.node, 10) >= 26;

/**
 * For `http.createServer`: has Node ask what is an upgrade where nothing else is left. It forgets what was pipelined
 * behind one that is declined, which giving the connection back does not.
 */
export const UPGRADE_OPTIONS = ASKS_BEFOREHAND ? { shouldUpgradeCallback: asksForWebSocket } : {};

/**
 * Hands a WebSocket upgrade to the group that covers its path, after the same gate as every request. Any other
 * upgrade is ignored, as RFC 9110 §7.8 asks: its request is answered as if the header were not there.
 */
export function createUpgradeListener(deps: UpgradeDeps): UpgradeListener {
  const { groups, table, gate, context, render, common, log } = deps;
  const upgrading = groups.flatMap(({ upgrade, prefixes }) =>
    upgrade === undefined ? [] : prefixes.map(({ path }) => ({ path, upgrade })),
  );

  async function hand(request: HubRequest, socket: Duplex, head: Buffer): Promise<void> {
    const endpoint = table.find(request.url ?? '');
    const route = endpoint?.route('GET');
    const access = route === undefined ? table.accessOfUnknown(request.url ?? '') : accessOf(route, request);
    await gate.authorize(access, request);
    if (endpoint === undefined) throw new HubError('not_found', 'There is nothing at this path');
    const path = pathOf(request.url ?? '');
    const taker = upgrading.find((group) => path === group.path || path.startsWith(`${group.path}/`));
    if (route === undefined || taker === undefined) {
      throw new HubError('invalid_request', 'This path does not speak WebSocket');
    }
    if (isLimited(route)) await gate.admit(request, socket);
    const status = await taker.upgrade(request, socket, head, request.hub.caller);
    const end = () => log(request, status ?? 101);
    if (socket.closed) end();
    else socket.once('close', end);
  }

  function refuse(thrown: unknown, request: HubRequest, socket: Duplex): void {
    const { status, headers, body } = render(thrown, request.hub, !socket.destroyed);
    log(request, status);
    if (socket.destroyed) return;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    lines.push(`x-request-id: ${request.hub.id}`, 'connection: close');
    for (let i = 0; i < common.length; i += 2) lines.push(`${common[i]}: ${common[i + 1]}`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  }

  return (incoming, socket, head) => {
    if (!asksForWebSocket(incoming)) {
      replayWithoutUpgrade(incoming, socket, head);
      return;
    }
    // Without a listener a reset during authentication would end the process.
    socket.on('error', () => socket.destroy());
    incoming.url = originForm(incoming.url ?? '/');
    const request = Object.assign(incoming, { hub: context(incoming, socket) });
    hand(request, socket, head).catch((error: unknown) => refuse(error, request, socket));
  };
}

/**
 * Gives the connection back to the server with a head that asks for no upgrade. Java's HttpClient offers `h2c` on
 * every first request; up to Node 25 each offer comes here, and nothing is lost when it goes back.
 */
function replayWithoutUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { server } = socket as Duplex & { server?: Server };
  if (server === undefined) {
    socket.destroy();
    return;
  }
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (!/^(?:upgrade|connection|http2-settings)$/i.test(name)) lines.push(`${name}: ${raw[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
}
