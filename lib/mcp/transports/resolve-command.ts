import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { COMMAND_ALLOWLIST } from '../../config/schema/tools.ts';
import { ToolFailure } from '../failure.ts';

/**
 * Absolute path of an allowed command, found with `searchPath` (the hub's own PATH, never one from a server's
 * `env`: that must not choose the binary).
 *
 * @throws ToolFailure `command_not_allowed` or `command_not_found`, both for the operator to mend.
 */
export function resolveCommand(command: string, searchPath: string): string {
  // The configuration is checked at load; this holds for whoever builds a server by another way.
  if (!COMMAND_ALLOWLIST.some((allowed) => allowed === command)) {
    throw new ToolFailure('transport', 'command_not_allowed', `The command ${command} is not allowed`, {
      operator: true,
    });
  }
  for (const folder of searchPath.split(delimiter)) {
    // An empty or relative entry would make the binary depend on the working directory.
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, command);
    if (isExecutable(candidate)) return candidate;
  }
  throw new ToolFailure('transport', 'command_not_found', `The command ${command} is not installed`, {
    operator: true,
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
