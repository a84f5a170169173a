import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { send } from './http.ts';
import { selfSigned } from './self-signed.ts';
import { stopAfterFile, temporaryFolder } from './temp-folder.ts';
import { until } from './until.ts';

/** A real nginx: in front of a hub with TLS, and as a service behind it that serves and takes files. */
export interface Nginx {
  /** `https://localhost:<port>`: passes everything on to the hub. */
  frontUrl: string;
  /** Certificate that clients of the front must trust. */
  ca: string;
  /** `http://127.0.0.1:<port>`: GET and PUT of files in `files`. */
  serviceUrl: string;
  files: string;
  /** Points the front at a hub. */
  front(hubUrl: string): Promise<void>;
  stop(): Promise<void>;
}

const running = new Set<Nginx>();

stopAfterFile(() => Promise.all([...running].map((nginx) => nginx.stop())));

/** Starts it on free ports of loopback; ended with the test file at the latest. */
export async function startNginx(): Promise<Nginx> {
  const directory = temporaryFolder();
  const files = join(directory, 'files');
  for (const name of ['files', 'temp', 'logs']) mkdirSync(join(directory, name));
  const { cert, key } = selfSigned(directory);
  const [frontPort, servicePort] = [await freePort(), await freePort()];

  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${directory}/temp/${name};`)
    .join('\n');
  const configure = (hub: string) =>
    writeFileSync(
      join(directory, 'nginx.conf'),
      `${process.getuid?.() === 0 ? 'user root;' : ''}
       daemon off;
       pid ${directory}/nginx.pid;
       error_log ${directory}/logs/error.log;
       worker_processes 1;
       events { worker_connections 256; }
       http {
         access_log off;
         ${temporary}
         client_max_body_size 0;
         map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
         server {
           listen 127.0.0.1:${frontPort} ssl;
           ssl_certificate ${cert};
           ssl_certificate_key ${key};
           location / {
             proxy_pass ${hub};
             proxy_http_version 1.1;
             proxy_request_buffering off;
             proxy_buffering off;
             proxy_set_header Host $host:$server_port;
             proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
             proxy_set_header X-Forwarded-Proto $scheme;
             proxy_set_header X-Forwarded-Host $http_host;
             proxy_set_header Upgrade $http_upgrade;
             proxy_set_header Connection $connection_upgrade;
           }
         }
         server {
           listen 127.0.0.1:${servicePort};
           root ${files};
           location / { dav_methods PUT; create_full_put_path on; }
         }
       }`,
    );

  configure('http://127.0.0.1:9');
  function launch(): { end(): Promise<void> } {
    const child = spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-p', directory, '-e', 'stderr'], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    return {
      end() {
        child.kill('SIGTERM');
        return exited;
      },
    };
  }
  let server = launch();
  const nginx: Nginx = {
    frontUrl: `https://localhost:${frontPort}`,
    ca: readFileSync(join(directory, 'cert.pem'), 'utf8'),
    serviceUrl: `http://127.0.0.1:${servicePort}`,
    files,
    async front(hubUrl) {
      configure(hubUrl);
      // Not a reload: for a moment after it the old worker may still take connections, and knows no hub.
      await server.end();
      server = launch();
      await until('nginx passes on to the hub', async () => {
        const { status } = await send(`${nginx.frontUrl}/health`, { tls: { ca: nginx.ca } });
        return status === 200;
      });
    },
    async stop() {
      running.delete(nginx);
      await server.end();
    },
  };
  running.add(nginx);
  await until('nginx listens', async () => (await send(`${nginx.serviceUrl}/`)).status > 0);
  return nginx;
}
