/** Starts the two servers that the contract tests speak to, once for all files. */
import { importTs } from './import-ts.mjs';

export default async function setup() {
  const servers = await importTs(new URL('./contract-servers.ts', import.meta.url));
  globalThis.stopContractServers = servers.stopServers;
  process.env.CONTRACT_SERVERS = JSON.stringify(await servers.startServers());
}
