/**
 * The part of an AbortSignal that calls need: whether they are to be given up, and to be told when. An AbortSignal is
 * one too; that of a call is `StopControl`, because to make the platform's own and to listen to it took a tenth of the
 * companion's time for a call (measured).
 */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { once: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A StopSignal and its switch. Each listener is called once, in the order of their coming. */
export class StopControl implements StopSignal {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index !== -1) this.#listeners.splice(index, 1);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    const told = this.#listeners;
    this.#listeners = [];
    for (const listener of told) listener();
  }
}
