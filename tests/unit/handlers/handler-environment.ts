import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

/** Sets what a handler reads when it is made: a small configuration, and an AI-Link that nobody answers at. */
export function setHandlerEnvironment(): void {
  const path = join(temporaryFolder(), 'config.yaml');
  writeFileSync(path, 'logging: {types: {access: {enabled: false}}}');
  Object.assign(process.env, {
    HUB_CONFIG: path,
    AILINK_URL: 'http://127.0.0.1:9',
    AILINK_TOKEN: 'token-0123456789-0123456789-0123456789',
  });
}
