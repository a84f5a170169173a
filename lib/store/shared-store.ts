/**
 * Small expiring records that every copy of the gateway must see alike: sessions, rate-limit windows, admin
 * lock-outs, single-use nonces (design: the gateway holds no state that a second copy would miss). Three
 * implementations pass one contract test: memory (lives in the companion), companion (calls it) and Redis.
 */
export interface SharedStore {
  /** The live value, or undefined. */
  get(space: StoreSpace, key: string): Promise<string | undefined>;
  /** Writes the value, replacing what was there, for `ttlMs` milliseconds. */
  set(space: StoreSpace, key: string, value: string, ttlMs: number): Promise<void>;
  /** Writes the value only where none lives; whether it did. Atomic: of two at once exactly one succeeds. */
  add(space: StoreSpace, key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Removes the value; whether there was one. Atomic: of two at once exactly one sees it. */
  remove(space: StoreSpace, key: string): Promise<boolean>;
  /** Counts one more in the fixed window that the first count opened. */
  count(space: StoreSpace, key: string, windowMs: number): Promise<WindowCount>;
  /** Ends connections and timers. Never rejects. */
  close(): Promise<void>;
}

/** Kinds of records; each is bounded by itself, so that one cannot push another out. */
export const STORE_SPACES = ['session', 'session-token', 'rate', 'admin-lockout', 'single-use'] as const;
export type StoreSpace = (typeof STORE_SPACES)[number];

export interface WindowCount {
  /** Counts in the window, this one included. */
  count: number;
  /** Milliseconds until the window ends. */
  resetMs: number;
}
