import type { ProviderErrors } from '../providers/provider.ts';

/** Errors that have OpenAI's shape already, and those of servers in front of it: relayed as they are. */
export const relayedErrors: ProviderErrors = {
  translate: (_status, body) => body,
};
