import { isSecretName, namedArgument } from '../config/secret-names.ts';
import { REDACTED } from '../logging/mask.ts';

/** Fields whose values are redacted one by one, whatever their names: they carry credentials by nature. */
const CREDENTIAL_MAPS = new Set(['headers', 'env']);

/**
 * A copy of configuration with everything redacted by name (contract §8): fields named like a secret when they
 * hold text, a list or an object (numbers and booleans stay), values of `headers` and `env`, arguments after a
 * flag named like a secret, userinfo and query values in URLs.
 */
export function redactConfig(value: unknown, name = ''): unknown {
  if (value === null || value === undefined || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  if (isSecretName(name)) return REDACTED;
  if (typeof value === 'string') return redactUrls(value);
  if (Array.isArray(value)) return redactList(value);
  if (typeof value !== 'object') return undefined;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    CREDENTIAL_MAPS.has(key.toLowerCase()) ? redactValues(inner) : redactConfig(inner, key),
  ]);
  return Object.fromEntries(entries);
}

/** Keeps the names of a map and none of its values. */
function redactValues(map: unknown): unknown {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return map && REDACTED;
  return Object.fromEntries(Object.keys(map).map((key) => [key, REDACTED]));
}

/** Arguments and other lists: what follows a flag named like a secret is hidden. */
function redactList(list: readonly unknown[]): unknown[] {
  let isValueOfSecret = false;
  return list.map((item) => {
    const isHidden = isValueOfSecret;
    isValueOfSecret = false;
    if (typeof item !== 'string') return redactConfig(item);
    if (isHidden) return REDACTED;
    const named = namedArgument(item);
    isValueOfSecret = named !== undefined && named.value === undefined && isSecretName(named.name);
    return redactArgument(item);
  });
}

/** `--token=abc` and `Authorization: abc` lose their value, also inside another: `--header=Authorization: abc`. */
function redactArgument(argument: string): string {
  const named = namedArgument(argument);
  if (named?.value === undefined) return redactUrls(argument);
  const shown = isSecretName(named.name) ? REDACTED : redactArgument(named.value);
  return argument.slice(0, named.valueAt) + shown;
}

const URL_IN_TEXT = /\b([a-z][a-z\d+.-]*:\/\/)([^\s"'<>]*)/gi;
const WHOLE_URL = /^\s*([a-z][a-z\d+.-]*:\/\/)(.*)$/is;

/** Takes userinfo, query values and fragment out of every URL in a text, and leaves the rest as it is written. */
export function redactUrls(text: string): string {
  if (!text.includes('://')) return text;
  const [, scheme, rest] = WHOLE_URL.exec(text) ?? [];
  if (scheme !== undefined && rest !== undefined) return redactUrl(scheme, rest);
  return text.replace(URL_IN_TEXT, (_, found: string, after: string) => redactUrl(found, after));
}

function redactUrl(scheme: string, rest: string): string {
  // What does not parse may be a password with a character that ends an address early.
  if (!URL.canParse(scheme + rest)) return scheme + REDACTED;
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf('@');
  const host = at === -1 ? authority : `${REDACTED}${authority.slice(at)}`;
  const [path, fragment] = cutAt(end === -1 ? '' : rest.slice(end), '#');
  const [plainPath, query] = cutAt(path, '?');
  const shownQuery = query === undefined ? '' : `?${query.split('&').map(redactParameter).join('&')}`;
  const shownFragment = fragment === undefined || fragment === '' ? '' : `#${REDACTED}`;
  return scheme + host + plainPath + shownQuery + shownFragment;
}

function cutAt(text: string, mark: string): [string, string | undefined] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** A parameter without `=` may be a bare key: it is redacted whole. */
function redactParameter(parameter: string): string {
  const [name, value] = cutAt(parameter, '=');
  if (value === undefined) return name === '' ? '' : REDACTED;
  return value === '' ? `${name}=` : `${name}=${REDACTED}`;
}
