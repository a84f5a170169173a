import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface Column<Row> {
  title: string;
  show(row: Row): ComponentChildren;
  /** What to sort by; a column without stays as it is. Null comes last. */
  by?(row: Row): number | string | null;
  /** Aligned to the right. */
  isNumber?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Shown instead of a table without rows. */
  empty: ComponentChildren;
}

interface Order {
  title: string;
  isDescending: boolean;
}

/** A table that sorts by its heads. Where it is too wide it scrolls in itself, its first column staying. */
export function Table<Row>({ label, columns, rows, keyOf, empty }: TableProps<Row>) {
  const [order, setOrder] = useState<Order>();
  if (rows.length === 0) return <>{empty}</>;
  const sorted = order === undefined ? rows : sortRows(rows, columns, order);

  function sortBy(column: Column<Row>): void {
    const isDescending = order?.title === column.title ? !order.isDescending : Boolean(column.isNumber);
    setOrder({ title: column.title, isDescending });
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="table-frame" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const sorting = order?.title === column.title;
              const direction = order?.isDescending ? 'descending' : 'ascending';
              return (
                <th
                  key={column.title}
                  scope="col"
                  class={column.isNumber ? 'number' : ''}
                  aria-sort={sorting ? direction : undefined}
                >
                  {column.by === undefined ? (
                    column.title
                  ) : (
                    <button type="button" class="sort" onClick={() => sortBy(column)}>
                      {column.title}
                      <span class="arrow" aria-hidden="true">
                        {sorting ? (order?.isDescending ? '↓' : '↑') : ''}
                      </span>
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={keyOf(row)} data-key={keyOf(row)}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th key={column.title} scope="row">
                    {column.show(row)}
                  </th>
                ) : (
                  <td key={column.title} class={column.isNumber ? 'number' : ''} data-column={column.title}>
                    {column.show(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: Order): readonly Row[] {
  const by = columns.find(({ title }) => title === order.title)?.by;
  if (by === undefined) return rows;
  const sign = order.isDescending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [left, right] = [by(a), by(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return left < right ? -sign : left > right ? sign : 0;
  });
}
