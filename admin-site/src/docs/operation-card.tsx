import { useEffect, useRef, useState } from 'preact/hooks';
import { Badge, type Tone } from '../ui/parts.tsx';
import { accessOf, type Entry, type OpenApi } from './document.ts';
import { SchemaView } from './schema-view.tsx';
import { TryIt } from './try-it.tsx';
import { Words } from './words.tsx';

interface OperationCardProps {
  hub: string;
  document: OpenApi;
  entry: Entry;
  /** The address names it. */
  isOpen: boolean;
  credentials: Record<string, string>;
}

const ACCESS: Record<ReturnType<typeof accessOf>, { tone: Tone; words: string }> = {
  public: { tone: 'quiet', words: 'public' },
  admin: { tone: 'warn', words: 'admin key' },
  main: { tone: 'good', words: 'bearer' },
};

/** One operation: closed a line, open its parameters, bodies, answers and a form. */
export function OperationCard({ hub, document, entry, isOpen, credentials }: OperationCardProps) {
  const { method, path, operation } = entry;
  const place = useRef<HTMLDetailsElement>(null);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isOpen || place.current === null) return;
    place.current.open = true;
    place.current.scrollIntoView({ block: 'start' });
  }, [isOpen]);
  const { tone, words } = ACCESS[accessOf(operation)];
  return (
    <details
      class="card operation"
      ref={place}
      id={operation.operationId}
      onToggle={(event) => setShown(event.currentTarget.open)}
    >
      <summary>
        <span class={`method ${method}`}>{method}</span>
        <code class="operation-path">{path}</code>
        <span class="quiet operation-summary">{operation.summary}</span>
        <Badge tone={tone}>{words}</Badge>
      </summary>
      {isShown && (
        <div class="columns operation-body">
          <div class="stack tight">
            {operation.description !== undefined && (
              <p>
                <Words text={operation.description} />
              </p>
            )}
            <Parameters entry={entry} />
            {Object.entries(operation.requestBody?.content ?? {}).map(([type, { schema }]) => (
              <div key={type}>
                <h3>
                  Body <span class="quiet">{type}</span>
                </h3>
                <SchemaView document={document} schema={schema} />
              </div>
            ))}
            <h3>Answers</h3>
            {Object.entries(operation.responses).map(([status, { description, content = {} }]) => (
              <details key={status} class="answer-kind" open={status < '300'}>
                <summary>
                  <Badge tone={status < '300' ? 'good' : status < '500' ? 'warn' : 'bad'}>{status}</Badge>{' '}
                  <span>{description}</span>
                </summary>
                {Object.entries(content).map(([type, { schema }]) => (
                  <div key={type}>
                    <p class="quiet small">{type}</p>
                    {type === 'application/json' && <SchemaView document={document} schema={schema} />}
                  </div>
                ))}
              </details>
            ))}
          </div>
          <TryIt hub={hub} document={document} entry={entry} credentials={credentials} />
        </div>
      )}
    </details>
  );
}

function Parameters({ entry }: { entry: Entry }) {
  const parameters = entry.operation.parameters ?? [];
  if (parameters.length === 0) return null;
  return (
    <div>
      <h3>Parameters</h3>
      <ul class="schema">
        {parameters.map(({ in: place, name, description, required }) => (
          <li key={`${place} ${name}`} class="schema-row">
            <code class="schema-name">{name}</code>
            {required && <span class="required">required</span>}
            <span class="quiet">{place}</span>
            <span class="schema-words">
              <Words text={description ?? ''} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
