import type { ContractServer } from './contract-servers.ts';
import { type Answer, type SendOptions, send } from './http.ts';

const all: readonly ContractServer[] = JSON.parse(process.env.CONTRACT_SERVERS ?? '[]');

/** The servers that `contract-setup.mjs` started without main authentication, for `describe.each`. */
export const servers = all.filter((server) => !server.auth);

/** The same with main authentication. */
export const closedServers = all.filter((server) => server.auth);

/** The server of one kind, for tests of what only one of them does. */
export function serverOf(name: ContractServer['name']): ContractServer {
  const server = servers.find((one) => one.name === name);
  if (server === undefined) throw new Error(`no ${name} was started`);
  return server;
}

/** Sends requests to one server by path. */
export function clientOf(server: ContractServer): (path: string, options?: SendOptions) => Promise<Answer> {
  return (path, options) => send(server.url + path, options);
}
