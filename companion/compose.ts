import type { CompanionCapability } from '../lib/companion-client/internal-route.ts';
import type { LoadedConfig } from '../lib/config/loaded.ts';
import type { Logs } from '../lib/logging/logger.ts';

export interface ComposeCapabilitiesDeps {
  loaded: LoadedConfig;
  logs: Logs;
}

/** Everything that lives in the companion. */
export function composeCapabilities(_deps: ComposeCapabilitiesDeps): CompanionCapability[] {
  return [];
}
