import { useEffect, useRef, useState } from 'preact/hooks';
import type { AdminApi } from './admin-api.ts';

interface ResetDialogProps {
  api: AdminApi;
  onDone(): void;
  onClose(): void;
}

/** Asks before it clears every counter. */
export function ResetDialog({ api, onDone, onClose }: ResetDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string>();
  // The browser's own modal: it keeps the focus inside, closes by Escape and gives the focus back.
  useEffect(() => dialog.current?.showModal(), []);

  async function reset(): Promise<void> {
    setRunning(true);
    setFailure(undefined);
    try {
      await api.reset();
      dialog.current?.close();
      onDone();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setRunning(false);
    }
  }

  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="reset-title" onClose={onClose}>
      <h2 id="reset-title">Reset statistics?</h2>
      <p>
        Requests, tokens, latencies, history, proxy and tool counters start again at zero. Connections,
        configuration and calls in flight stay. The reset is logged with your key’s id and address; it cannot
        be undone.
      </p>
      {failure !== undefined && (
        <p class="bad-text" role="alert">
          {failure}
        </p>
      )}
      <div class="row end">
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="button danger" disabled={isRunning} onClick={reset}>
          {isRunning ? 'Resetting…' : 'Reset statistics'}
        </button>
      </div>
    </dialog>
  );
}
