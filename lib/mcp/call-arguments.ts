import { memberText } from './json-spans.ts';
import { isObject } from './json-value.ts';
import type { ToolArguments } from './tool-server.ts';

/** Arguments of a call by name. Numbers keep the literal that the caller wrote, beyond a double too. */
export interface CallArguments {
  /** Undefined when the argument is not given. */
  value(name: string): unknown;
  /** As JSON text. */
  json(name: string): string | undefined;
  /** A text as it is, anything else as JSON; undefined when it is not given or null. */
  text(name: string): string | undefined;
  /** The items of a list as texts, anything else as the only item. */
  texts(name: string): string[];
}

export function callArguments(args: ToolArguments): CallArguments {
  const values = isObject(args.value) ? args.value : {};
  const value = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
  const json = (name: string) => (value(name) === undefined ? undefined : memberText(args.text, name));
  const text = (name: string) => {
    const given = value(name);
    if (typeof given === 'string') return given;
    return given === undefined || given === null ? undefined : json(name);
  };
  return {
    value,
    json,
    text,
    texts(name) {
      const given = value(name);
      if (Array.isArray(given)) {
        return given.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
      }
      const only = text(name);
      return only === undefined ? [] : [only];
    },
  };
}
