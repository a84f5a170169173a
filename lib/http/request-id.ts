import { randomBytes } from 'node:crypto';

/** What an inbound request id may look like: UUIDs, trace ids, ULIDs and the like, nothing that could break a log. */
const SANE = /^[\w.:@/+=~-]{1,128}$/;

/**
 * Names requests: a sane inbound id is kept, else a fresh one is made of a random part for this process and a
 * counter, which costs a fraction of a UUID and is as unique.
 */
export function createRequestIds(prefix: string = randomBytes(8).toString('hex')) {
  let count = 0;
  return (inbound: string | string[] | undefined): string => {
    if (typeof inbound === 'string' && SANE.test(inbound)) return inbound;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
