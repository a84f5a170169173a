import { climbs } from '../config/rules/traversal.ts';
import type { CallArguments } from './call-arguments.ts';
import { isObject } from './json-value.ts';

/** An argument that does not fit into its place; the message is for the caller. */
export class ArgumentRefused extends Error {
  override readonly name = 'ArgumentRefused';
}

/** A place in a template, `{name}`. */
const PLACEHOLDER = /\{([A-Za-z_][\w.-]*)\}/g;
const WHOLE = /^\{([A-Za-z_][\w.-]*)\}$/;

/** Text with places, compiled: literal parts and argument names alternate, a literal first. */
type Parts = readonly string[];

function compile(template: string): Parts {
  return template.split(PLACEHOLDER);
}

function required(args: CallArguments, name: string): string {
  const text = args.text(name);
  if (text === undefined) throw new ArgumentRefused(`the argument ${name} is needed`);
  return text;
}

function fill(parts: Parts, textOf: (name: string) => string): string {
  return parts.map((part, index) => (index % 2 === 0 ? part : textOf(part))).join('');
}

/** Percent-encodes for one path segment or query value. @throws ArgumentRefused for a lone surrogate. */
function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  } catch {
    throw new ArgumentRefused(`the argument ${name} is not valid Unicode`);
  }
}

/**
 * An address whose places are in path and query only. In the path an argument stays within its segment: it is
 * encoded, may not be empty, and may not make the segment, or after a lenient server's decoding a part of it, a
 * step to somewhere else.
 */
export function urlTemplate(template: string): (args: CallArguments) => URL {
  const withoutFragment = template.split('#', 1)[0] ?? '';
  const question = withoutFragment.indexOf('?');
  const path = compile(question === -1 ? withoutFragment : withoutFragment.slice(0, question));
  const query = compile(question === -1 ? '' : withoutFragment.slice(question));
  // The literal part before the first place must settle scheme, host and port.
  if (path.length > 1 && !/^https?:\/\/[^/]+\//i.test(path[0] ?? '')) {
    throw new Error('an argument in the scheme, host or port of the address');
  }

  function segmentText(args: CallArguments, name: string): string {
    const text = required(args, name);
    if (text === '') throw new ArgumentRefused(`the argument ${name} must not be empty`);
    if (hasControls(text)) throw new ArgumentRefused(`the argument ${name} must not hold control characters`);
    if (climbs(text) || text.split(/[/\\]/).includes('.')) {
      throw new ArgumentRefused(`the argument ${name} must not hold path steps`);
    }
    return encode(name, text);
  }

  return (args) => {
    const filledPath = fill(path, (name) => segmentText(args, name));
    // Two harmless arguments side by side may add up to a step: `{a}{b}` with a dot each.
    const segments = filledPath.split('/').slice(3);
    if (path.length > 1 && segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
      throw new ArgumentRefused('the arguments make a path step');
    }
    return new URL(filledPath + fill(query, (name) => encode(name, required(args, name))));
  };
}

/** Query parameters. One that is nothing but a place is left out without its argument, and repeats for a list. */
export function queryTemplate(
  template: Readonly<Record<string, string>>,
): (args: CallArguments, into: URLSearchParams) => void {
  const entries = Object.entries(template).map(([name, text]) => ({
    name,
    argument: WHOLE.exec(text)?.[1],
    parts: compile(text),
  }));
  return (args, into) => {
    for (const { name, argument, parts } of entries) {
      if (argument === undefined) {
        into.append(
          name,
          fill(parts, (part) => required(args, part)),
        );
        continue;
      }
      for (const item of args.texts(argument)) into.append(name, item);
    }
  };
}

/** Headers. One that is nothing but a place is left out without its argument. */
export function headerTemplate(
  template: Readonly<Record<string, string>>,
): (args: CallArguments) => Record<string, string> {
  const entries = Object.entries(template).map(([name, text]) => ({
    name: name.toLowerCase(),
    argument: WHOLE.exec(text)?.[1],
    parts: compile(text),
  }));

  function headerText(args: CallArguments, name: string): string {
    const text = required(args, name);
    // Beyond printable ASCII, servers disagree on what they read, and a line end would begin another header.
    if (!/^[\t\x20-\x7e]*$/.test(text)) {
      throw new ArgumentRefused(`the argument ${name} must be printable ASCII to go into a header`);
    }
    return text;
  }

  return (args) => {
    const headers: Record<string, string> = {};
    for (const { name, argument, parts } of entries) {
      if (argument !== undefined && args.text(argument) === undefined) continue;
      headers[name] = fill(parts, (part) => headerText(args, part));
    }
    return headers;
  };
}

/**
 * A JSON body, as text. A text that is nothing but a place becomes the argument as it is, of any type; left out together
 * with its member when the argument is. Inside a longer text the argument is text. Keys take no arguments.
 */
export function bodyTemplate(template: unknown): (args: CallArguments) => string | undefined {
  if (typeof template === 'string') {
    const argument = WHOLE.exec(template)?.[1];
    if (argument !== undefined) return (args) => args.json(argument);
    const parts = compile(template);
    return (args) => JSON.stringify(fill(parts, (name) => required(args, name)));
  }
  if (Array.isArray(template)) {
    const items = template.map(bodyTemplate);
    return (args) => `[${present(items.map((item) => item(args))).join(',')}]`;
  }
  if (isObject(template)) {
    const members = Object.entries(template).map(([key, value]) => {
      const body = bodyTemplate(value);
      const name = JSON.stringify(key);
      return (args: CallArguments) => {
        const text = body(args);
        return text === undefined ? undefined : `${name}:${text}`;
      };
    });
    return (args) => `{${present(members.map((member) => member(args))).join(',')}}`;
  }
  const literal = JSON.stringify(template);
  return () => literal;
}

function present(texts: readonly (string | undefined)[]): string[] {
  return texts.filter((text) => text !== undefined);
}

function hasControls(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return /[\u0000-\u001f\u007f]/.test(text);
}
