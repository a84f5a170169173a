import { useState } from 'preact/hooks';

interface JsonTreeProps {
  value: unknown;
  name: string;
  /** Depth to which it is open at first. */
  openTo: number;
  /** Only what holds this text in a name or a value is shown, opened. */
  search?: string;
}

/** JSON that opens and closes. Everything is text to the page, whatever it holds. */
export function JsonTree({ value, name, openTo, search = '' }: JsonTreeProps) {
  const wanted = search.trim().toLowerCase();
  return (
    <div class="json">
      <Node key={wanted} name={name} value={value} depth={0} openTo={openTo} wanted={wanted} />
    </div>
  );
}

interface NodeProps {
  name: string;
  value: unknown;
  depth: number;
  openTo: number;
  wanted: string;
}

function Node({ name, value, depth, openTo, wanted }: NodeProps) {
  const [isOpen, setOpen] = useState(depth < openTo || wanted !== '');
  if (typeof value !== 'object' || value === null) {
    return (
      <div class="json-leaf">
        <span class="json-name">{marked(name, wanted)}: </span>
        <Leaf value={value} wanted={wanted} />
      </div>
    );
  }
  const all = Object.entries(value);
  const isNameWanted = wanted !== '' && name.toLowerCase().includes(wanted);
  const shown = wanted === '' || isNameWanted ? all : all.filter(([key, inner]) => holds(key, inner, wanted));
  const size = Array.isArray(value) ? `[${all.length}]` : `{${all.length}}`;
  if (all.length === 0) {
    return (
      <div class="json-leaf">
        <span class="json-name">{marked(name, wanted)}: </span>
        <span class="quiet">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="json-name">{marked(name, wanted)}: </span> <span class="quiet numbers">{size}</span>
        {/^\d+$/.test(name) && <span class="json-hint">{nameOf(value)}</span>}
      </summary>
      {isOpen && (
        <div class="json-inner">
          {shown.map(([key, inner]) => (
            <Node
              key={key}
              name={key}
              value={inner}
              depth={depth + 1}
              openTo={openTo}
              wanted={isNameWanted ? '' : wanted}
            />
          ))}
        </div>
      )}
    </details>
  );
}

/** What an item of a list is called, if it says so. */
function nameOf(value: object): string | undefined {
  for (const key of ['id', 'name', 'model', 'target', 'provider', 'action', 'caller', 'at']) {
    const name = (value as Record<string, unknown>)[key];
    if (typeof name === 'string') return name;
  }
  return undefined;
}

function Leaf({ value, wanted }: { value: unknown; wanted: string }) {
  const kind = value === null ? 'null' : typeof value;
  const text = typeof value === 'string' ? value : String(value);
  if (text === '[REDACTED]') return <span class="json-value redacted">[REDACTED]</span>;
  return (
    <span class={`json-value ${kind}`}>
      {kind === 'string' ? <>"{marked(text, wanted)}"</> : marked(text, wanted)}
    </span>
  );
}

/** Whether a name, or anything below it, holds the text. */
export function holds(name: string, value: unknown, wanted: string): boolean {
  if (name.toLowerCase().includes(wanted)) return true;
  if (typeof value !== 'object' || value === null) return String(value).toLowerCase().includes(wanted);
  return Object.entries(value).some(([key, inner]) => holds(key, inner, wanted));
}

function marked(text: string, wanted: string) {
  const at = wanted === '' ? -1 : text.toLowerCase().indexOf(wanted);
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + wanted.length)}</mark>
      {text.slice(at + wanted.length)}
    </>
  );
}
