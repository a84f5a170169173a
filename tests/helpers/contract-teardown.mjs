/** Ends what `contract-setup.mjs` started. */
export default async function teardown() {
  await globalThis.stopContractServers?.();
}
