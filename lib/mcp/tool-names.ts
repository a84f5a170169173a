import { createHash } from 'node:crypto';

/** A tool of a server. */
export interface ToolAddress {
  server: string;
  tool: string;
}

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * Names under which `POST /mcp` offers tools: `<server>__<tool>` in characters that every model provider takes
 * (contract §6). Names that are too long, or that two tools would share, are cut and end in a hash of server and
 * tool, all of those that clash alike: so a name does not depend on the order of servers.
 */
export function exposedNames(tools: readonly ToolAddress[]): Map<string, ToolAddress> {
  const sharing = new Map<string, ToolAddress[]>();
  for (const address of tools) {
    const plain = `${address.server}__${address.tool}`.replace(/[^A-Za-z0-9_-]/g, '_');
    const same = sharing.get(plain);
    if (same === undefined) sharing.set(plain, [address]);
    else same.push(address);
  }
  const names = new Map<string, ToolAddress>();
  for (const [plain, addresses] of sharing) {
    for (const address of addresses) {
      const fits = addresses.length === 1 && plain.length <= MAX_LENGTH;
      names.set(fits ? plain : hashed(plain, address), address);
    }
  }
  return names;
}

function hashed(plain: string, { server, tool }: ToolAddress): string {
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH_LENGTH);
  return `${plain.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
