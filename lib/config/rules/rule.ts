import type { Report } from '../faults.ts';
import type { Path } from '../path.ts';
import type { Config } from '../schema/config-schema.ts';

/** The configuration as rules see it: well-typed, but anything that the schema refused is missing. */
export type View = DeepPartial<Config>;
type DeepPartial<T> = T extends (infer Item)[]
  ? (DeepPartial<Item> | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: DeepPartial<T[Key]> | undefined }
    : T;

export interface RuleContext {
  report: Report;
  /** Whether the operator wrote something at this path; false for what a default filled in. */
  given(path: Path): boolean;
  /** Whether the value at this path is written as a reference to the environment. */
  fromEnvironment(path: Path): boolean;
  /** Structure is not checked: rules about which keys must or must not be there hold their peace. */
  skipStructure: boolean;
}

export type Rule = (view: View, context: RuleContext) => void;

/** Calls `visit` for each item that is there. */
export function eachItem<T>(
  list: readonly (T | undefined)[] | undefined,
  visit: (item: T, index: number) => void,
): void {
  list?.forEach((item, index) => {
    if (item !== undefined && item !== null) visit(item, index);
  });
}

/** Reports each item whose `key` an earlier item has already. */
export function unique<K extends string>(
  list: readonly ({ [key in K]?: string | undefined } | undefined)[] | undefined,
  key: K,
  path: Path,
  report: Report,
): void {
  const seen = new Map<string, number>();
  eachItem(list, (item, index) => {
    const value = item[key];
    if (value === undefined) return;
    const first = seen.get(value);
    if (first === undefined) seen.set(value, index);
    else report.fault([...path, index, key], `repeats the ${key} of ${String(path.at(-1))}[${first}]`);
  });
}
