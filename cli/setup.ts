/** `npm run setup`: writes `.env` with fresh secrets, once (contract §1). */
import { ConfigError } from '../lib/config/faults.ts';
import { writeDotEnv } from '../lib/config/setup.ts';

try {
  console.log(
    writeDotEnv(process.cwd()) === 'written'
      ? '.env written: ADMIN_API_KEY opens /admin/panel, SESSION_SECRET signs session cookies'
      : '.env is there already and stays as it is',
  );
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.lines.join('\n'));
  process.exitCode = 1;
}
