import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Config } from '../lib/config/schema/config-schema.ts';
import { inWords, StartFault } from '../lib/process/start-fault.ts';

export interface TlsMaterial {
  cert: Buffer;
  key: Buffer;
  /** Completes the chain that the server presents (OpenSSL looks its issuers up here). */
  ca?: Buffer;
}

/**
 * Reads what `hub.tls` names.
 * @throws StartFault naming the file that cannot be read or used.
 */
export function readTls(tls: Config['hub']['tls']): TlsMaterial | undefined {
  if (!tls.enabled) return undefined;
  const material: TlsMaterial = {
    key: readPem('hub.tls.key', tls.key),
    cert: readPem('hub.tls.cert', tls.cert),
    ...(tls.ca !== undefined && { ca: readPem('hub.tls.ca', tls.ca) }),
  };
  try {
    createSecureContext(material);
  } catch (error) {
    throw new StartFault(
      `TLS: ${tls.cert} (hub.tls.cert) and ${tls.key} (hub.tls.key) do not work together: ${inWords(error)}`,
      { cause: error },
    );
  }
  return material;
}

function readPem(name: string, path: string | undefined): Buffer {
  if (path === undefined) throw new StartFault(`TLS: ${name} is not set`);
  try {
    return readFileSync(path);
  } catch (error) {
    throw new StartFault(`TLS: ${path} (${name}) ${inWords(error)}`, { cause: error });
  }
}
