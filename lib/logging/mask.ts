/** What stands where a secret was. */
export const REDACTED = '[REDACTED]';

/** Shorter texts are not cut out: they occur by chance, and cutting them would ruin what is shown. */
const SHORTEST = 4;
/** Longer parts tell no more. */
const LONGEST_ANCHOR = 8;

const escapeForRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** The inside of a JSON string literal. */
const jsonInner = (text: string): string => JSON.stringify(text).slice(1, -1);

/** As serialisers write that escape everything beyond ASCII (Python's default). */
const asciiJsonInner = (text: string): string =>
  jsonInner(text).replace(
    /[\u0080-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function percentEncoded(secret: string): string[] {
  let component: string;
  try {
    component = encodeURIComponent(secret);
  } catch {
    return []; // A lone surrogate has no such form.
  }
  return [
    component,
    component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`),
    component.replaceAll('%20', '+'),
    encodeURI(secret),
  ];
}

/** Every way in which a secret may be spelled in a text, as regular expression sources. */
function spellings(secret: string): string[] {
  const json = jsonInner(secret);
  const plain = [
    secret,
    json,
    // A JSON text inside a JSON text, such as a provider's body quoted in an error message.
    jsonInner(json),
    json.replaceAll('/', '\\/'),
    asciiJsonInner(secret),
  ].map(escapeForRegExp);
  const encoded = percentEncoded(secret).map((form) =>
    escapeForRegExp(form).replace(
      /%([0-9a-f]{2})/gi,
      (_, hex: string) =>
        `%${hex.replace(/[a-f]/gi, (digit) => `[${digit.toUpperCase()}${digit.toLowerCase()}]`)}`,
    ),
  );
  return [...plain, ...encoded];
}

/**
 * A part of a secret that every spelling of it has: its longest run of characters that neither JSON nor URLs
 * escape. Undefined where it is too short to tell anything.
 */
function anchorOf(secret: string): string | undefined {
  const runs = secret.match(/[\w.-]+/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  return longest.length < SHORTEST ? undefined : longest.slice(0, LONGEST_ANCHOR);
}

interface Search {
  /** Whether there may be a secret: some of them cost a tenth of looking for all of their spellings. */
  mayHold(text: string): boolean;
  /** All secrets in all their spellings. */
  expression: RegExp;
}

/** Undefined when there is nothing to cut out. */
function compile(secrets: readonly string[]): Search | undefined {
  const searched = secrets.filter((secret) => secret.length >= SHORTEST);
  if (searched.length === 0) return undefined;
  // Longest first: of two secrets, one within the other, the longer must be cut out whole.
  const sources = [...new Set(searched.flatMap(spellings))].sort((a, b) => b.length - a.length);
  const shortest = Math.min(...searched.map((secret) => secret.length));
  const anchors = [...new Set(searched.map(anchorOf))];
  const quick = anchors.includes(undefined)
    ? undefined
    : new RegExp(anchors.map((anchor) => escapeForRegExp(anchor ?? '')).join('|'));
  return {
    mayHold: (text) => text.length >= shortest && (quick === undefined || quick.test(text)),
    expression: new RegExp(sources.join('|'), 'g'),
  };
}

/**
 * Compiles a function that cuts the given secrets out of a text by value: raw, JSON-escaped and
 * percent-encoded (contract §8). A text without any costs one pass and comes back as it is.
 */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const search = compile(secrets);
  if (search === undefined) return (text) => text;
  const { mayHold, expression } = search;
  return (text) => (mayHold(text) ? text.replace(expression, REDACTED) : text);
}

/**
 * The same for a JSON text, which stays valid JSON: once a secret is found in it, the text is taken apart
 * and the secrets cut out of its texts, names and numbers one by one. So an all-digit secret cannot break a
 * number in two.
 */
export function createJsonMask(secrets: readonly string[]): (json: string) => string {
  const search = compile(secrets);
  if (search === undefined) return (json) => json;
  const { mayHold, expression } = search;
  const exact = new Set(secrets);
  const maskValue = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(expression, REDACTED);
    if (typeof value === 'number') return exact.has(String(value)) ? REDACTED : value;
    if (Array.isArray(value)) return value.map(maskValue);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name.replace(expression, REDACTED), maskValue(inner)]),
    );
  };
  return (json) =>
    !mayHold(json) || json.search(expression) === -1 ? json : JSON.stringify(maskValue(JSON.parse(json)));
}
