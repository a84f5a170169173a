import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { ToolFailure } from '../failure.ts';

/**
 * Addresses that no tool server or HTTP tool is ever reached at: link-local ones and the metadata services of
 * clouds, which hand credentials to whoever asks. Loopback and private networks are the operator's to use.
 */
const REFUSED = new BlockList();
REFUSED.addSubnet('169.254.0.0', 16, 'ipv4');
REFUSED.addAddress('100.100.100.200', 'ipv4');
REFUSED.addAddress('192.0.0.192', 'ipv4');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addAddress('fd00:ec2::254', 'ipv6');
REFUSED.addAddress('fd20:ce::254', 'ipv6');
// The same IPv4 addresses written as IPv6: mapped, compatible, and through NAT64 or 6to4.
for (const prefix of ['::ffff:', '::', '64:ff9b::']) {
  REFUSED.addSubnet(`${prefix}169.254.0.0`, 112, 'ipv6');
  REFUSED.addAddress(`${prefix}100.100.100.200`, 'ipv6');
  REFUSED.addAddress(`${prefix}192.0.0.192`, 'ipv6');
}
REFUSED.addSubnet('2002:a9fe::', 32, 'ipv6');

/** Whether a literal address is one of those. */
export function isRefusedAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  if (isIP(bare) === 0) return false;
  return REFUSED.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6');
}

/** The failure of an address that is never connected to. */
export function addressRefused(): ToolFailure {
  return new ToolFailure('transport', 'address_refused', 'The address is link-local or a metadata service', {
    operator: true,
    neverSent: true,
  });
}

type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * A look-up for sockets that refuses names leading to such addresses. The socket connects to what this returned,
 * so a name cannot change its mind between check and use.
 */
export function safeLookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  lookup(hostname, options, (error, address, family) => {
    if (error !== null) {
      callback(error, address, family);
      return;
    }
    const found: string[] = Array.isArray(address)
      ? address.map((entry: LookupAddress) => entry.address)
      : [address];
    if (found.some(isRefusedAddress)) callback(addressRefused(), address, family);
    else callback(null, address, family);
  });
}
