import { useEffect, useRef, useState } from 'preact/hooks';
import { ms } from '../format.ts';
import { Badge } from '../ui/parts.tsx';
import { type Entry, exampleOf, type OpenApi, resolve, type Schema } from './document.ts';
import { curlOf, keyOf, readyRequest } from './send-request.ts';

interface TryItProps {
  hub: string;
  document: OpenApi;
  entry: Entry;
  credentials: Record<string, string>;
}

interface Outcome {
  status: number;
  type: string;
  requestId: string | null;
  text: string;
  ms: number | undefined;
}

/** A form for one operation, and what came of it. Bodies of events grow as they come. */
export function TryIt({ hub, document, entry, credentials }: TryItProps) {
  const form = useRef<HTMLFormElement>(null);
  const running = useRef<AbortController>(undefined);
  const [parameters, setParameters] = useState<Record<string, string>>({});
  const [outcome, setOutcome] = useState<Outcome>();
  const [fault, setFault] = useState<string>();
  const [curl, setCurl] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  const [contentType, content] = Object.entries(entry.operation.requestBody?.content ?? {})[0] ?? [];
  const isForm = contentType === 'multipart/form-data';
  const [body, setBody] = useState(() =>
    content === undefined || isForm ? '' : JSON.stringify(exampleOf(document, content.schema), null, 2),
  );
  useEffect(() => () => running.current?.abort(), []);

  function ready() {
    const given = form.current === null || !isForm ? body : filledForm(form.current);
    return readyRequest(hub, entry, {
      parameters,
      body: contentType === undefined ? undefined : given,
      contentType,
      credentials,
    });
  }

  function showCurl(): void {
    try {
      setCurl(curlOf(ready()));
      setFault(undefined);
    } catch (error) {
      setFault(String((error as Error).message));
    }
  }

  async function send(event: Event): Promise<void> {
    event.preventDefault();
    const control = new AbortController();
    running.current = control;
    setOutcome(undefined);
    setFault(undefined);
    setRunning(true);
    try {
      const { method, url, headers, body: sent } = ready();
      const startedAt = performance.now();
      const response = await fetch(url, { method, headers, body: sent ?? null, signal: control.signal });
      const type = response.headers.get('content-type') ?? '';
      const about = { status: response.status, type, requestId: response.headers.get('x-request-id') };
      let text = '';
      for await (const piece of textOf(response)) {
        text += piece;
        setOutcome({ ...about, text, ms: undefined });
      }
      setOutcome({ ...about, text, ms: performance.now() - startedAt });
    } catch (error) {
      if (!control.signal.aborted)
        setFault(error instanceof TypeError ? 'The hub does not answer' : String((error as Error).message));
    }
    setRunning(false);
  }

  return (
    <form class="stack tight try" ref={form} onSubmit={send} noValidate>
      <h3>Try it</h3>
      {(entry.operation.parameters ?? []).map((parameter) => (
        <label class="field" key={keyOf(parameter)}>
          <span>
            <code>{parameter.name}</code>{' '}
            <span class="quiet">
              {parameter.in}
              {parameter.required ? ', required' : ''}
            </span>
          </span>
          <input
            value={parameters[keyOf(parameter)] ?? parameter.example ?? ''}
            onInput={(event) => {
              const { value } = event.currentTarget;
              setParameters((before) => ({ ...before, [keyOf(parameter)]: value }));
            }}
          />
        </label>
      ))}
      {content !== undefined && !isForm && (
        <label class="field">
          <span>Body</span>
          <textarea
            class="mono"
            rows={8}
            value={body}
            spellcheck={false}
            onInput={(event) => setBody(event.currentTarget.value)}
          />
        </label>
      )}
      {content !== undefined && isForm && <FormFields document={document} schema={content.schema} />}
      <div class="row end">
        <button type="button" class="button" onClick={showCurl}>
          As curl
        </button>
        {isRunning ? (
          <button type="button" class="button" onClick={() => running.current?.abort()}>
            Stop
          </button>
        ) : (
          <button type="submit" class="button primary">
            Send
          </button>
        )}
      </div>
      {curl !== undefined && <pre class="code">{curl}</pre>}
      {fault !== undefined && (
        <p class="bad-text" role="alert">
          {fault}
        </p>
      )}
      {outcome !== undefined && <Shown outcome={outcome} />}
    </form>
  );
}

function Shown({ outcome }: { outcome: Outcome }) {
  const { status, type, requestId, text } = outcome;
  return (
    <div class="stack tight" aria-live="polite">
      <div class="row tight">
        <Badge tone={status < 400 ? 'good' : 'bad'}>{status}</Badge>
        <span class="quiet small">{type}</span>
        <span class="quiet small numbers">{outcome.ms === undefined ? '' : ms(outcome.ms)}</span>
        {requestId !== null && <code class="quiet long">{requestId}</code>}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="code" data-testid="answer" tabIndex={0}>
        {type.startsWith('application/json') ? pretty(text) : text}
      </pre>
    </div>
  );
}

function FormFields({ document, schema }: { document: OpenApi; schema: Schema }) {
  const { schema: resolved } = resolve(document, schema);
  return (
    <>
      {Object.entries(resolved.properties ?? {}).map(([name, property]) => (
        // biome-ignore lint/a11y/noLabelWithoutControl: either input is the control
        <label class="field" key={name}>
          <span>
            <code>{name}</code> {resolved.required?.includes(name) && <span class="quiet">required</span>}
          </span>
          {property.format === 'binary' ? (
            <input type="file" name={name} />
          ) : (
            <input name={name} placeholder={property.default === undefined ? '' : String(property.default)} />
          )}
        </label>
      ))}
    </>
  );
}

/** What is filled in; an empty field is not sent. */
function filledForm(form: HTMLFormElement): FormData {
  const filled = new FormData();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' ? value !== '' : value.size > 0) filled.append(name, value);
  }
  return filled;
}

async function* textOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield decoder.decode(value, { stream: true });
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
