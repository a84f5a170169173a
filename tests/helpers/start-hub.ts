import { type HubOptions, type HubProcess, startHubProcess, stopAllHubs } from './hub-process.ts';
import { stopAfterFile } from './temp-folder.ts';

export { ADMIN_KEY, defaultConfig, type HubProcess, isAlive, root, runHubProcess } from './hub-process.ts';

// Whatever a failed test forgot ends with its file.
stopAfterFile(stopAllHubs);

/** Starts the real hub for this test file; ended at the end of the file at the latest. */
export function startHub(options: HubOptions = {}): Promise<HubProcess> {
  return startHubProcess(options);
}
