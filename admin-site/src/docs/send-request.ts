import type { Entry } from './document.ts';

/** What the operator typed in. */
export interface Draft {
  /** By `<in> <name>`. */
  parameters: Readonly<Record<string, string>>;
  /** JSON text, or the form. */
  body: string | FormData | undefined;
  contentType: string | undefined;
  credentials: Readonly<Record<string, string>>;
}

/** A request, ready to be sent or shown. */
export interface Ready {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | FormData | undefined;
}

export const keyOf = ({ in: place, name }: { in: string; name: string }): string => `${place} ${name}`;

/** Puts a request together. @throws Error naming a required parameter that is empty. */
export function readyRequest(hub: string, { method, path, operation }: Entry, draft: Draft): Ready {
  let url = path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = { ...draft.credentials };
  for (const parameter of operation.parameters ?? []) {
    const { name, required } = parameter;
    const value = (draft.parameters[keyOf(parameter)] ?? parameter.example ?? '').trim();
    if (value === '' && required) throw new Error(`${name} is required`);
    if (value === '') continue;
    // The rest of a proxy's path has slashes of its own.
    const encoded =
      name === 'rest' ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value);
    if (parameter.in === 'path') url = url.replace(`{${name}}`, encoded);
    else if (parameter.in === 'query') query.set(name, value);
    else headers[name] = value;
  }
  if (typeof draft.body === 'string' && draft.contentType !== undefined) {
    headers['content-type'] = draft.contentType;
  }
  const search = query.size === 0 ? '' : `?${query}`;
  return { method: method.toUpperCase(), url: hub + url + search, headers, body: draft.body };
}

/** The same request for a shell. Credentials stand as variables: the text is made to be passed on. */
export function curlOf({ method, url, headers, body }: Ready): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = [`curl -X ${method} ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'authorization') lines.push('-H "authorization: Bearer $TOKEN"');
    else if (name === 'x-admin-key') lines.push('-H "x-admin-key: $ADMIN_API_KEY"');
    else lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (typeof body === 'string') lines.push(`-d ${quoted(body)}`);
  else if (body !== undefined) {
    for (const [name, value] of body) {
      lines.push(`-F ${quoted(`${name}=${typeof value === 'string' ? value : `@${value.name}`}`)}`);
    }
  }
  return lines.join(' \\\n  ');
}
