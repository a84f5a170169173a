import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/** Whether an address is inside; false for anything that is not an address. */
export type NetworkCheck = (address: string) => boolean;

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The plain form of an address: every spelling of an IPv4-mapped one is its IPv4 address. */
function plain(
  address: string,
): { address: string; family: 'ipv4' | 'ipv6'; wasMapped: boolean } | undefined {
  // A zone (`fe80::1%eth0`) names an interface of this machine, not a network.
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 0) return undefined;
  if (isIPv4(bare)) return { address: bare, family: 'ipv4', wasMapped: false };
  const canonical = new SocketAddress({ address: bare, family: 'ipv6' }).address;
  const mapped = MAPPED.exec(canonical)?.[1];
  if (mapped !== undefined) return { address: mapped, family: 'ipv4', wasMapped: true };
  return { address: canonical, family: 'ipv6', wasMapped: false };
}

/**
 * Compiles a list of addresses and CIDR ranges once. An empty list admits every address (spec §2.3).
 * @throws Error naming an entry that is neither an address nor a range.
 */
export function compileNetworks(entries: readonly string[]): NetworkCheck {
  if (entries.length === 0) return () => true;
  const list = new BlockList();
  for (const entry of entries) addEntry(list, entry.trim());
  return (address) => {
    const known = plain(address);
    return known !== undefined && list.check(known.address, known.family);
  };
}

function addEntry(list: BlockList, entry: string): void {
  const [written = '', prefix, ...more] = entry.split('/');
  const known = plain(written);
  if (known === undefined || more.length > 0) throw malformed(entry);
  if (prefix === undefined) {
    list.addAddress(known.address, known.family);
    return;
  }
  if (!/^\d{1,3}$/.test(prefix)) throw malformed(entry);
  // Of a mapped range the first 96 bits are the mapping itself.
  const bits = Number(prefix) - (known.wasMapped ? 96 : 0);
  if (bits < 0 || bits > (known.family === 'ipv4' ? 32 : 128)) throw malformed(entry);
  list.addSubnet(known.address, bits, known.family);
}

const malformed = (entry: string): Error => new Error(`${entry} is neither an address nor a CIDR range`);
