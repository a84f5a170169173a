/** Numbers that look random and are the same on every run. */
export interface Random {
  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number;
  /** A number in [0, 1). */
  share(): number;
  pick<T>(values: readonly T[]): T;
}

/** Marsaglia's xorshift32. */
export function createRandom(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const share = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(share() * end);
  return { share, below, pick: (values) => values[below(values.length)] as never };
}
