/** Lets so many in at once; the others wait in order. The result of entering lets the next one in, once. */
export type Gate = () => Promise<() => void>;

export function createGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let left = false;
    return () => {
      if (left) return;
      left = true;
      release();
    };
  };
}
