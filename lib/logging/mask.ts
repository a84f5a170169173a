/** What stands where a secret was. */
export const REDACTED = '[REDACTED]';

/** Shorter texts are not cut out: they occur by chance, and cutting them would ruin what is shown. */
const SHORTEST = 4;

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

/** One expression for all secrets in all their forms; undefined when there is nothing to cut out. */
function compile(secrets: readonly string[]): RegExp | undefined {
  const forms = new Map<string, number>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue;
    for (const source of spellings(secret)) forms.set(source, source.length);
  }
  if (forms.size === 0) return undefined;
  // Longest first: of two secrets, one within the other, the longer must be cut out whole.
  const sources = [...forms].sort((a, b) => b[1] - a[1]).map(([source]) => source);
  return new RegExp(sources.join('|'), 'g');
}

/**
 * Compiles a function that cuts the given secrets out of a text by value: raw, JSON-escaped and
 * percent-encoded (contract §8). A text without any costs one pass and comes back as it is.
 */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const expression = compile(secrets);
  if (expression === undefined) return (text) => text;
  return (text) => text.replace(expression, REDACTED);
}

/**
 * The same for a JSON text, which stays valid JSON: once a secret is found in it, the text is taken apart
 * and the secrets cut out of its texts, names and numbers one by one. So an all-digit secret cannot break a
 * number in two.
 */
export function createJsonMask(secrets: readonly string[]): (json: string) => string {
  const expression = compile(secrets);
  if (expression === undefined) return (json) => json;
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
  return (json) => (json.search(expression) === -1 ? json : JSON.stringify(maskValue(JSON.parse(json))));
}
