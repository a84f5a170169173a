/** Brings the peers onto the machine when a run first needs them; the project itself never depends on them. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORK } from './places.mjs';

const declared = fileURLToPath(new URL('../peers/', import.meta.url));

/** Installs the npm peers of `bench/peers` (locked) into `bench/.work/peers`. @returns their node_modules */
export function installNpmPeers() {
  const folder = join(WORK, 'peers');
  const lock = 'package-lock.json';
  const upToDate =
    existsSync(join(folder, 'node_modules')) &&
    existsSync(join(folder, lock)) &&
    readFileSync(join(folder, lock), 'utf8') === readFileSync(join(declared, lock), 'utf8');
  if (!upToDate) {
    mkdirSync(folder, { recursive: true });
    for (const name of ['package.json', lock]) copyFileSync(join(declared, name), join(folder, name));
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['ci', ...quiet], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return join(folder, 'node_modules');
}

/** The version of an npm peer that is installed. */
export function npmPeerVersion(name) {
  return JSON.parse(readFileSync(join(WORK, 'peers/node_modules', name, 'package.json'), 'utf8')).version;
}

/**
 * The nginx on the PATH, else Debian's package unpacked into `bench/.work/debian`: nothing is installed, no service
 * starts. @returns path of the program
 */
export function findNginx() {
  for (const folder of [...(process.env.PATH ?? '').split(':'), '/usr/sbin']) {
    if (existsSync(join(folder, 'nginx'))) return join(folder, 'nginx');
  }
  const folder = join(WORK, 'debian');
  const program = join(folder, 'root/usr/sbin/nginx');
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    execFileSync('apt-get', ['-qq', 'download', 'nginx'], { cwd: folder, stdio: 'ignore' });
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
    execFileSync('dpkg', ['-x', archive, 'root'], { cwd: folder });
  }
  return program;
}

/** `1.22.1` and the like. */
export function nginxVersion(program) {
  const text = execFileSync('sh', ['-c', '"$0" -v 2>&1', program], { encoding: 'utf8' });
  return text.match(/nginx\/(\S+)/)?.[1] ?? 'unknown';
}
