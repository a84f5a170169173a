/** Whether a waiter got its place. */
export type Place = 'granted' | 'cancelled' | 'timeout';

export interface Slots {
  /** Takes a place if one is free. */
  tryTake(): boolean;
  /** Whether one more may wait. */
  mayWait(): boolean;
  /**
   * Waits in line for a place.
   * @param ms longest wait
   * @param onCancel is handed a function that gives the waiting up.
   */
  wait(ms: number, onCancel: (cancel: () => void) => void): Promise<Place>;
  /** Gives a place back; the first in line gets it. */
  release(): void;
}

/** Bounds the calls in flight to one target, and the line in front of it. First come, first served. */
export function createSlots(places: number, longestQueue: number): Slots {
  let free = places;
  const queue = new Set<() => void>();

  return {
    tryTake() {
      if (free === 0) return false;
      free -= 1;
      return true;
    },
    mayWait: () => queue.size < longestQueue,
    wait: (ms, onCancel) =>
      new Promise((resolve) => {
        const settle = (place: Place) => {
          clearTimeout(timer);
          queue.delete(grant);
          resolve(place);
        };
        const grant = () => settle('granted');
        const timer = setTimeout(settle, ms, 'timeout');
        queue.add(grant);
        onCancel(() => settle('cancelled'));
      }),
    release() {
      const [next] = queue;
      if (next === undefined) free += 1;
      else next();
    },
  };
}
