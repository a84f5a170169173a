import { useState } from 'preact/hooks';

/** The bearer that the operator gives for trying things, where main authentication is on. Kept for this tab only. */
export interface Bearer {
  value: string;
  set(value: string): void;
}

const nameFor = (hub: string): string => `hub-panel-bearer ${hub}`;

/** Signing out of the panel leaves no credential behind. */
export function forgetBearer(hub: string): void {
  sessionStorage.removeItem(nameFor(hub));
}

export function useBearer(hub: string): Bearer {
  const name = nameFor(hub);
  const [value, setValue] = useState(() => sessionStorage.getItem(name) ?? '');
  return {
    value,
    set(next) {
      sessionStorage.setItem(name, next);
      setValue(next);
    },
  };
}

export function bearerHeader({ value }: Bearer): Record<string, string> {
  const token = value.trim();
  return token === '' ? {} : { authorization: `Bearer ${token}` };
}
