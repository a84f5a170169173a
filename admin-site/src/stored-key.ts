/**
 * The admin key in the browser: for this tab, or on this device when the operator wants so. It is kept per hub, so
 * that a link with another `?hub=` never takes a key to an address that it was not typed for.
 */
export interface StoredKey {
  read(): string | undefined;
  keep(key: string, onThisDevice: boolean): void;
  clear(): void;
}

export function createStoredKey(hub: string): StoredKey {
  const name = `hub-panel-key ${hub}`;
  const stores = [sessionStorage, localStorage];
  return {
    read() {
      for (const store of stores) {
        const key = store.getItem(name);
        if (key) return key;
      }
      return undefined;
    },
    keep(key, onThisDevice) {
      for (const store of stores) store.removeItem(name);
      (onThisDevice ? localStorage : sessionStorage).setItem(name, key);
    },
    clear() {
      for (const store of stores) store.removeItem(name);
    },
  };
}
