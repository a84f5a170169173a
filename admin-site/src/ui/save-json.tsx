import { useEffect, useState } from 'preact/hooks';
import { Icon } from './chrome.tsx';

/** Copies a value as JSON, or saves it as a file. */
export function SaveJson({ value, name }: { value: unknown; name: string }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const text = () => JSON.stringify(value, null, 2);

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text());
      setSaid('Copied');
    } catch {
      // Without TLS browsers keep the clipboard for themselves.
      setSaid('Not allowed here');
    }
  }

  function download(): void {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text()], { type: 'application/json' }));
    link.download = `${name}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  return (
    <span class="row tight">
      <span class="quiet small" role="status">
        {said}
      </span>
      <button type="button" class="button small" onClick={copy} aria-label={`Copy ${name} as JSON`}>
        <Icon name="copy" /> Copy
      </button>
      <button type="button" class="button small" onClick={download} aria-label={`Download ${name} as JSON`}>
        <Icon name="download" /> JSON
      </button>
    </span>
  );
}
