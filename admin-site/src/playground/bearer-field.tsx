import type { CallFailure } from '../admin-api.ts';
import type { Bearer } from '../use-bearer.ts';

/** Where main authentication is on, trying things needs a caller's bearer: the admin key is for the panel alone. */
export function BearerField({ bearer }: { bearer: Bearer }) {
  return (
    <label class="field">
      <span>
        Bearer token <span class="quiet">(only where main authentication is on)</span>
      </span>
      <input
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={bearer.value}
        onInput={(event) => bearer.set(event.currentTarget.value)}
      />
    </label>
  );
}

export function FailureNote({ failure }: { failure: CallFailure | undefined }) {
  if (failure === undefined) return null;
  const hint = failure.status === 401 ? ' Main authentication is on: give a bearer token above.' : '';
  return (
    <p class="bad-text" role="alert">
      {failure.status > 0 && <span class="numbers">{failure.status}: </span>}
      {failure.message}.{hint}
    </p>
  );
}
