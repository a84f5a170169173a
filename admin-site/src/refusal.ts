import type { CallFailure } from './admin-api.ts';

/** A refusal in words that say what to do. */
export function whyRefused({ status, message }: CallFailure): string {
  switch (status) {
    case 0:
      return `${message}. Is it running, and is its address right?`;
    case 401:
      return 'The hub does not accept this key.';
    case 403:
      return 'Admin access is not configured on this hub, or not allowed from your address.';
    case 429:
      return 'Too many wrong keys from your address. Wait a minute.';
    default:
      return message;
  }
}
