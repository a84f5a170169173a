const UNITS: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** What `parseSize` understands, e.g. `10mb`, `64 kB`, `1.5g`, `512`. */
export const SIZE_PATTERN = '^\\d+(\\.\\d+)?\\s*[kKmMgGtT]?[bB]?$';

/** Bytes of a size such as `10mb`, `64 kB`, `1.5g` or a plain number; units are powers of 1024. Throws a RangeError. */
export function parseSize(value: string | number): number {
  if (typeof value === 'number') return value;
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)b?$/i.exec(value);
  if (match === null) throw new RangeError('not a size');
  return Math.floor(Number(match[1]) * (UNITS[(match[2] ?? '').toLowerCase()] ?? 1));
}
