import { parseTokens, type TokenStore } from './token-store.ts';

/** Tokens in memory: for tests, and for whoever wants a hub that forgets. */
export function createMemoryTokenStore({ now = Date.now }: { now?: () => number } = {}): TokenStore {
  const tokens = new Map<string, string>();
  const notes = new Map<string, string>();
  const spent = new Map<string, number>();
  const tails = new Map<string, Promise<void>>();
  const noteKey = (accountId: string, name: string) => `${accountId} ${name}`;

  return {
    async read(accountId) {
      const text = tokens.get(accountId);
      return text === undefined ? undefined : parseTokens(text);
    },
    async write(accountId, value) {
      tokens.set(accountId, JSON.stringify(value));
    },
    async remove(accountId) {
      for (const name of ['refused', 'pending']) notes.delete(noteKey(accountId, name));
      return tokens.delete(accountId);
    },
    async readNote(accountId, name) {
      return notes.get(noteKey(accountId, name));
    },
    async writeNote(accountId, name, text) {
      notes.set(noteKey(accountId, name), text);
    },
    async removeNote(accountId, name) {
      notes.delete(noteKey(accountId, name));
    },
    async spend(nonce, expiresAt) {
      for (const [known, until] of spent) if (until <= now()) spent.delete(known);
      if (spent.has(nonce)) return false;
      spent.set(nonce, expiresAt);
      return true;
    },
    async lock(accountId, signal) {
      const before = tails.get(accountId) ?? Promise.resolve();
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      tails.set(
        accountId,
        before.then(() => held),
      );
      await Promise.race([before, aborted(signal)]).catch((error) => {
        release();
        throw error;
      });
      return async () => release();
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
