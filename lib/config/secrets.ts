import type { Environment } from './loaded.ts';
import { isMapping, type Path } from './path.ts';
import { isSecretName, MIN_SECRET_LENGTH, namedArgument } from './secret-names.ts';

/** Names that match the list of secrets but hold public words: a closed list of values, the address of an endpoint. */
const PUBLIC_TEXT = new Set(['maxTokensField', 'token_store']);

/**
 * Collects the texts that must never appear in a log, an error or an admin answer (contract §8): text values whose
 * own field, header, environment, query-parameter or flag name is a secret's, userinfo in addresses, and values that
 * came from a variable of such a name. `given` is what the operator wrote, substituted, without our defaults.
 */
export function collectSecrets(
  given: unknown,
  environment: Environment,
  variablesAt: (path: Path) => readonly string[] | undefined,
  env: NodeJS.ProcessEnv,
): string[] {
  const secrets = new Set<string>();

  function add(text: string): void {
    if (text.length >= MIN_SECRET_LENGTH) secrets.add(text);
  }

  function addCredential(text: string): void {
    add(text);
    add(text.trim());
    const scheme = /^(?:bearer|basic|token|apikey)\s+(.+)$/i.exec(text.trim());
    if (scheme?.[1] !== undefined) add(scheme[1]);
  }

  function addFromUrl(text: string): void {
    if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text) || !URL.canParse(text)) return;
    const url = new URL(text);
    for (const part of [url.username, url.password]) {
      add(part);
      add(decode(part));
    }
    const written = /^[a-z][a-z\d+.-]*:\/\/([^/?#@]*)@/i.exec(text)?.[1];
    if (written !== undefined) add(written);
    for (const [name, value] of url.searchParams) if (isSecretName(name)) addCredential(value);
  }

  function visit(value: unknown, name: string, path: Path): void {
    if (typeof value === 'string') {
      if (isSecretName(name) && !PUBLIC_TEXT.has(name) && !isEndpoint(path)) addCredential(value);
      addFromUrl(value);
      for (const variable of variablesAt(path) ?? []) {
        if (/(password|token|secret|key|authorization)$/i.test(variable)) addCredential(env[variable] ?? '');
      }
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => {
        visit(item, name, [...path, index]);
      });
      addArguments(value);
    } else if (isMapping(value)) {
      for (const [key, below] of Object.entries(value)) visit(below, key, [...path, key]);
    }
  }

  function addArguments(list: readonly unknown[]): void {
    list.forEach((argument, index) => {
      if (typeof argument !== 'string') return;
      const named = namedArgument(argument);
      if (named === undefined || !isSecretName(named.name)) return;
      const value = named.value ?? list[index + 1];
      if (typeof value === 'string') addCredential(value);
    });
  }

  visit(given, '', []);
  visit(environment, '', ['environment']);
  return [...secrets].sort((a, b) => b.length - a.length);
}

/** `videohost.endpoints.token` is an address that everybody may know. */
function isEndpoint(path: Path): boolean {
  return path[0] === 'videohost' && path[1] === 'endpoints';
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
