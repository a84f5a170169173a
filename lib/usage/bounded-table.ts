/** Labels of a set that are counted each by itself (contract §8). */
export const MOST_LABELS = 200;
/** The label under which all further ones are counted together. */
export const OTHER = 'other';
/** Longer labels are cut: some come from callers. */
const LONGEST_LABEL = 200;

/** Rows by label: at most `MOST_LABELS` of their own, and one for all the rest. */
export interface BoundedTable<Row> {
  /** The row that counts for a label, made when it is new. */
  row(label: string): Row;
  rows(): IterableIterator<[string, Row]>;
  clear(): void;
}

export function createBoundedTable<Row>(createRow: (label: string) => Row): BoundedTable<Row> {
  const rows = new Map<string, Row>();

  function add(label: string): Row {
    const name = label.length > LONGEST_LABEL ? label.slice(0, LONGEST_LABEL) : label;
    const isFull = rows.size - (rows.has(OTHER) ? 1 : 0) >= MOST_LABELS;
    const key = isFull && !rows.has(name) ? OTHER : name;
    let row = rows.get(key);
    if (row === undefined) {
      row = createRow(key);
      rows.set(key, row);
    }
    return row;
  }

  return {
    row: (label) => rows.get(label) ?? add(label),
    rows: () => rows.entries(),
    clear: () => rows.clear(),
  };
}
