/** nginx as a plain reverse proxy with keep-alive: what passing bytes on costs at least. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findNginx, nginxVersion } from '../lib/peers.mjs';
import { WORK } from '../lib/places.mjs';
import { freePort, startProgram } from '../lib/processes.mjs';

const configuration = ({ folder, port, upstreamPort }) => `
${process.getuid() === 0 ? 'user root;' : ''}
daemon off;
worker_processes auto;
pid ${folder}/nginx.pid;
error_log stderr notice;
events { worker_connections 4096; }
http {
  access_log ${folder}/access.log;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  keepalive_requests 1000000;
  upstream provider {
    server 127.0.0.1:${upstreamPort};
    keepalive 256;
    keepalive_requests 1000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;

export async function startNginx({ upstreamPort }) {
  const program = findNginx();
  const folder = join(WORK, 'nginx');
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration({ folder, port, upstreamPort }));
  const running = await startProgram({
    name: 'nginx',
    command: program,
    args: ['-c', file, '-p', folder],
    cwd: folder,
    env: process.env,
    outputFile: join(folder, 'output.log'),
    ready: /start worker process \d+/,
  });
  return { ...running, version: nginxVersion(program), address: { host: '127.0.0.1', port }, headers: {} };
}
