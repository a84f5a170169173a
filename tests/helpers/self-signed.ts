import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { temporaryFolder } from './temp-folder.ts';

/** Writes a key and a certificate of its own for localhost. @returns the paths of both, in PEM */
export function selfSigned(directory = temporaryFolder()): { key: string; cert: string } {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const request =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost';
  execFileSync(
    'openssl',
    [...request.split(' '), '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert],
    { stdio: 'ignore' },
  );
  return { key, cert };
}
