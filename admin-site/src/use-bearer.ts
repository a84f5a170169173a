import { useState } from 'preact/hooks';

/** The bearer that the operator gives for trying things, where main authentication is on. Kept for this tab only. */
export interface Bearer {
  value: string;
  set(value: string): void;
}

export function useBearer(hub: string): Bearer {
  const name = `hub-panel-bearer ${hub}`;
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
