import { useEffect, useState } from 'preact/hooks';
import { useTheme } from '../theme.ts';
import { Mark, ThemeButton } from '../ui/chrome.tsx';
import { Badge } from '../ui/parts.tsx';
import { Notice } from '../ui/states.tsx';
import { accessOf, type Entry, entriesOf, type OpenApi } from './document.ts';
import { OperationCard } from './operation-card.tsx';
import { Words } from './words.tsx';

const documentUrl = new URL(`${location.pathname.replace(/\/+$/, '')}/openapi.json`, location.origin);

/** The API docs: every operation of the document, with a form to try it. */
export function DocsApp() {
  const [theme, toggleTheme] = useTheme();
  const [document, setDocument] = useState<OpenApi>();
  const [fault, setFault] = useState<string>();
  const [search, setSearch] = useState('');
  const [bearer, setBearer] = useState('');
  const [adminKey, setAdminKey] = useState('');
  const open = useOpenOperation();

  useEffect(() => {
    fetch(documentUrl)
      .then(async (response) => setDocument((await response.json()) as OpenApi))
      .catch((error: unknown) => setFault(String(error)));
  }, []);

  const hub = hubOf(document);
  const entries = document === undefined ? [] : entriesOf(document).filter((entry) => holds(entry, search));
  const groups = (document?.tags ?? [])
    .map((tag) => ({ ...tag, entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)) }))
    .filter((group) => group.entries.length > 0);

  return (
    <>
      <header class="toolbar">
        <div class="toolbar-in">
          <h1 class="brand">
            <Mark /> Hub <span class="quiet">API {document?.info.version}</span>
          </h1>
          <div class="tools">
            <a class="button small" href={documentUrl.href}>
              openapi.json
            </a>
            <ThemeButton theme={theme} toggle={toggleTheme} />
          </div>
        </div>
      </header>
      <div class="docs">
        <nav class="docs-nav" aria-label="Operations">
          <input
            type="search"
            placeholder="Search operations"
            aria-label="Search operations"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <div class="docs-list">
            {groups.map(({ name, entries: listed }) => (
              <section key={name} aria-label={name}>
                <h2>{name}</h2>
                <ul>
                  {listed.map(({ method, path, operation }) => (
                    <li key={operation.operationId}>
                      <a href={`#${operation.operationId}`} aria-current={open === operation.operationId}>
                        <span class={`method ${method}`}>{method}</span>
                        <span class="cut">{path}</span>
                      </a>
                    </li>
                  ))}
                </ul>
              </section>
            ))}
          </div>
        </nav>
        <main class="stack docs-main">
          {fault !== undefined && (
            <Notice title="The document could not be fetched" tone="bad">
              {fault}
            </Notice>
          )}
          <section class="card stack tight" aria-label="About">
            <p>
              <Words text={document?.info.description ?? 'Loading…'} />
            </p>
            <p class="quiet small">
              <Badge tone="good">bearer</Badge> main authentication, where it is on ·{' '}
              <Badge tone="warn">admin key</Badge> the header x-admin-key · <Badge tone="quiet">public</Badge>{' '}
              nothing
            </p>
            <div class="columns">
              <Secret label="Bearer token" value={bearer} onInput={setBearer} />
              <Secret label="Admin key" value={adminKey} onInput={setAdminKey} />
            </div>
          </section>
          {document !== undefined &&
            groups.map(({ name, description, entries: listed }) => (
              <section key={name} class="stack tight" aria-labelledby={`group-${name}`}>
                <div>
                  <h2 id={`group-${name}`} class="section-title">
                    {name}
                  </h2>
                  <p class="quiet">
                    <Words text={description ?? ''} />
                  </p>
                </div>
                {listed.map((entry) => (
                  <OperationCard
                    key={entry.operation.operationId}
                    hub={hub}
                    document={document}
                    entry={entry}
                    isOpen={open === entry.operation.operationId}
                    credentials={credentialsFor(entry, bearer, adminKey)}
                  />
                ))}
              </section>
            ))}
          {document !== undefined && groups.length === 0 && (
            <Notice title="Nothing found">No operation is called so.</Notice>
          )}
        </main>
      </div>
    </>
  );
}

/** The hub's own address, which the document gives relative to itself. */
function hubOf(document: OpenApi | undefined): string {
  return new URL(document?.servers?.[0]?.url ?? '/', documentUrl).href.replace(/\/$/, '');
}

function holds({ method, path, operation }: Entry, search: string): boolean {
  const words = search.trim().toLowerCase();
  return `${method} ${path} ${operation.summary} ${operation.tags.join(' ')}`.toLowerCase().includes(words);
}

/** Each operation gets the credential that it asks for, never the other. */
function credentialsFor({ operation }: Entry, bearer: string, adminKey: string): Record<string, string> {
  const access = accessOf(operation);
  if (access === 'admin' && adminKey !== '') return { 'x-admin-key': adminKey };
  if (access === 'main' && bearer !== '') return { authorization: `Bearer ${bearer}` };
  return {};
}

/** Forgotten with the page. */
function Secret({ label, value, onInput }: { label: string; value: string; onInput(value: string): void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="password"
        autocomplete="off"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value.trim())}
      />
    </label>
  );
}

/** The operation that the address names. */
function useOpenOperation(): string {
  const [open, setOpen] = useState(() => location.hash.slice(1));
  useEffect(() => {
    const follow = () => setOpen(location.hash.slice(1));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return open;
}
