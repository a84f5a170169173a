/** `npm run check -- [path]`: validates a configuration without starting anything (contract §1). */
import { loadDotEnv, readEnvironment } from '../lib/config/environment.ts';
import { ConfigError, loadConfig } from '../lib/config/load.ts';

function check(): number {
  try {
    loadDotEnv(process.cwd());
    const path = process.argv[2] ?? readEnvironment(process.env).configPath;
    const { config, warnings } = loadConfig({ path, env: process.env });
    for (const warning of warnings) console.error(`Configuration warning: ${warning}`);
    const counts = [
      `${config.targets.length} targets`,
      `${config.proxies.length} proxies`,
      `${config.tools.length} tools`,
      `${config.mcp.servers.length} tool servers`,
      `${config.videohost?.accounts.length ?? 0} video accounts`,
    ];
    console.log(`${path} is valid: ${counts.join(', ')}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.lines.join('\n'));
    return 1;
  }
}

process.exitCode = check();
