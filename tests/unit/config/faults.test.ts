// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
import { describe, expect, test } from '@jest/globals';
import { faultsOf } from './load-text.ts';

const KEY = 'k3y-0123456789-abcdefghijklmnop-9876';
const target = (more: string) => `targets:\n  - id: a\n    provider: echo\n    ${more}`;
const server = (more: string) =>
  `mcp:\n  servers:\n    - name: files\n      ${more.replaceAll('\n', '\n      ')}`;
const account = (more: string) => `videohost:
  accounts:
    - id: main
      client_id: c
      client_secret: \${SECRET-s}
      redirect_uri: http://localhost:3000/videohost/auth/idp/callback?target=main
${more}`;
const auth = (more: string) => `auth:
  enabled: true
  edapi_url: https://id.example.org/me
  session:
    cookie:
      secret: ${KEY}
  ${more}`;
const tool = (request: string, schema = 'properties: {city: {type: string}}') => `tools:
  - name: weather
    description: Says the weather.
    inputSchema:
      type: object
      ${schema}
    request:
      ${request}`;

/** Title (and the requirements it verifies), text of config.yaml, every fault in its exact words. */
type Case = [title: string, text: string, ...faults: string[]];

const cases: Record<string, Case[]> = {
  'types and ranges': [
    [
      'a port that is no number [C2-fault-line S2.1-validation-failed]',
      'hub:\n  host: localhost\n  port: abc',
      'hub.port must be a number (config.yaml:3)',
    ],
    ['a port in quotes', 'hub:\n  port: "3000"', 'hub.port must be a number (config.yaml:2)'],
    ['half a port', 'hub: {port: 3000.5}', 'hub.port must be a whole number (config.yaml:1)'],
    ['a port below the range', 'hub: {port: -1}', 'hub.port must be at least 0 (config.yaml:1)'],
    ['a port past the range', 'hub: {port: 65536}', 'hub.port must be at most 65535 (config.yaml:1)'],
    ['a port that is not a number at all', 'hub: {port: .nan}', 'hub.port must be a number (config.yaml:1)'],
    ['a section that is a text', 'hub: yes please', 'hub must be an object (config.yaml:1)'],
    [
      'a list that is a mapping',
      'targets:\n  a: {provider: echo}',
      'targets must be an array (config.yaml:1)',
    ],
    [
      'a switch that is a text',
      'swagger:\n  enabled: "true"',
      'swagger.enabled must be a boolean (config.yaml:2)',
    ],
    [
      'a switch in old YAML',
      'auth:\n  enabled: yes',
      'auth.enabled must be a boolean; write true or false (config.yaml:2)',
    ],
    ['a switch left empty', 'auth:\n  enabled:', 'auth.enabled must be a boolean (config.yaml:2)'],
    [
      'a list of texts left empty',
      'auth:\n  admin:\n    allowedNetworks:',
      'auth.admin.allowedNetworks must be an array (config.yaml:3)',
    ],
    [
      'a number where a text belongs',
      server('command: node\nenv:\n  PORT: 8080'),
      'mcp.servers[0].env.PORT must be a string; put it in quotes (config.yaml:6)',
    ],
    [
      'a time of nothing',
      'hub:\n  http_client: {timeout: 0}',
      'hub.http_client.timeout must be at least 1 ms (config.yaml:2)',
    ],
    [
      'a time longer than a timer',
      'hub:\n  shutdownTimeout: 2147483648',
      'hub.shutdownTimeout must be at most 2147483647 ms (config.yaml:2)',
    ],
    [
      'a size without digits',
      'hub: {limits: {jsonBody: ten}}',
      'hub.limits.jsonBody must be a size such as 10mb or a number of bytes (config.yaml:1)',
    ],
    [
      'a size of nothing',
      'hub: {limits: {jsonBody: 0mb}}',
      'hub.limits.jsonBody must be at least one byte (config.yaml:1)',
    ],
    [
      'a log size without digits',
      'logging: {maxFileSize: big}',
      'logging.maxFileSize must be a size such as 10m (config.yaml:1)',
    ],
    [
      'a retention without digits',
      'logging: {maxFiles: weeks}',
      'logging.maxFiles must be days such as 14d, or a number of files (config.yaml:1)',
    ],
    [
      'a level that does not exist',
      'logging:\n  types:\n    access:\n      level: inof',
      'logging.types.access.level must be one of debug, info, warn, error; did you mean info? (config.yaml:4)',
    ],
    [
      'a provider that does not exist',
      'targets:\n  - id: a\n    provider: opnai',
      'targets[0].provider must be one of openai, azure, anthropic, gemini, ollama, openai-compatible, echo; did you mean openai? (config.yaml:3)',
    ],
    ['an empty text', target('apiKey: ""'), 'targets[0].apiKey must not be empty (config.yaml:4)'],
    [
      'an address that is none',
      'proxies:\n  - {id: a, url: example.org}',
      'proxies[0].url must be an http:// or https:// address (config.yaml:2)',
    ],
    [
      'a bind address with a port',
      'hub:\n  host: 0.0.0.0:3000',
      'hub.host must be an IP address or host name, without scheme and port (config.yaml:2)',
    ],
    [
      'a trustProxy that is a number of hops',
      'hub: {security: {trustProxy: 1}}',
      'hub.security.trustProxy must be true, false or a list of addresses and CIDR ranges (config.yaml:1)',
    ],
    [
      'a token store that does not exist',
      account('  token_store: redis'),
      'videohost.token_store must be file or an object with type: s3 and a bucket (config.yaml:7)',
    ],
    [
      'a token store without its bucket',
      account('  token_store:\n    type: s3\n    regoin: eu'),
      'videohost.token_store.bucket is required (config.yaml:7)',
      'videohost.token_store.regoin is not a known key; did you mean videohost.token_store.region? (config.yaml:9)',
    ],
  ],
  keys: [
    [
      'a misspelt key [C2-unknown-keys]',
      'hub:\n  prot: 3000',
      'hub.prot is not a known key; did you mean hub.port? (config.yaml:2)',
    ],
    [
      'a key in another style',
      'hub:\n  httpClient: {timeout: 5}',
      'hub.httpClient is not a known key; did you mean hub.http_client? (config.yaml:2)',
    ],
    [
      'a key in the wrong place',
      'trustProxy: true',
      'trustProxy is not a known key; did you mean hub.security.trustProxy? (config.yaml:1)',
    ],
    [
      'a key like no other',
      'healthCheck:\n  colour: green',
      'healthCheck.colour is not a known key; known here: enabled, path, readinessPath (config.yaml:2)',
    ],
    [
      'a key with odd characters',
      '"a b": 1',
      '["a b"] is not a known key; known here: validation, hub, targets, proxies, tools, mcp, videohost, auth, healthCheck, swagger, logging (config.yaml:1)',
    ],
    ['a key given twice', 'hub:\n  port: 1\n  port: 2', 'hub.port is given twice (config.yaml:3)'],
    ['a required key left out', 'targets:\n  - id: a', 'targets[0].provider is required (config.yaml:2)'],
    [
      'an account without its secret',
      'videohost:\n  accounts:\n    - id: main\n      client_id: c\n      redirect_uri: http://localhost/videohost/auth/idp/callback?target=main',
      'videohost.accounts[0].client_secret is required (config.yaml:3)',
    ],
    [
      'video without accounts',
      'videohost:\n  token_storage_path: ./t',
      'videohost.accounts is required (config.yaml:1)',
    ],
  ],
  'the file': [
    ['an empty file', '', 'config.yaml is empty'],
    ['a file of comments', '# nothing\n', 'config.yaml is empty'],
    [
      'a file that holds a list',
      '- a\n- b',
      'config.yaml must hold a mapping of keys to values (config.yaml:1)',
    ],
    [
      'a file of two documents',
      'hub: {}\n---\nhub: {}',
      'config.yaml holds more than one YAML document (config.yaml:2)',
    ],
    [
      'a tab',
      'hub:\n\tport: 1',
      'config.yaml is not valid YAML: a tab is used for indentation (config.yaml:2)',
    ],
    [
      'an open quote',
      'hub:\n  host: "a',
      'config.yaml is not valid YAML: a closing quote, bracket or colon is missing (config.yaml:2)',
    ],
    [
      'a variable without quotes in a list',
      'auth:\n  admin: { enabled: true, apiKeys: [${ADMIN_API_KEY}] }',
      'config.yaml is not valid YAML: inside [ ] or { } a variable must stand in quotes, e.g. "${VAR}" (config.yaml:2)',
    ],
    [
      'a variable without quotes between braces',
      'hub: { host: ${HOST-localhost} }\ntargets: []',
      'config.yaml is not valid YAML: inside [ ] or { } a variable must stand in quotes, e.g. "${VAR}" (config.yaml:1)',
    ],
    [
      'an alias without an anchor',
      'hub: *nowhere',
      'hub refers to a YAML anchor that does not exist (config.yaml:1)',
    ],
    [
      'an unknown tag',
      'hub: !!js/function "x"',
      'config.yaml is not valid YAML: a tag (!…) is unknown (config.yaml:1)',
    ],
    [
      'an alias bomb [C2-alias-bomb]',
      `a: &a [1,1,1,1,1,1,1,1,1]\n${[...'bcdefgh'].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`)}]`).join('\n')}`,
      'config.yaml expands YAML aliases to too many values',
    ],
    ['an alias of itself', 'hub: &a\n  tls: *a', 'hub is nested too deeply (config.yaml:1)'],
    ['a file past 1 MB [C2-file-size]', `# ${'x'.repeat(1_048_577)}`, 'config.yaml is larger than 1 MB'],
    [
      'absurd nesting',
      `hub: ${'['.repeat(500)}${']'.repeat(500)}`,
      'hub is nested too deeply (config.yaml:1)',
    ],
  ],
  targets: [
    [
      'two targets of one id [C2-duplicates]',
      'targets:\n  - {id: a, provider: echo}\n  - {id: a, provider: echo}',
      'targets[1].id repeats the id of targets[0] (config.yaml:3)',
    ],
    [
      'a provider without its key',
      'targets:\n  - {id: a, provider: anthropic}',
      'targets[0].apiKey is required for provider anthropic (config.yaml:2)',
    ],
    [
      'azure with nothing',
      'targets:\n  - id: a\n    provider: azure',
      'targets[0].baseUrl is required for provider azure (config.yaml:2)',
      'targets[0].azureDeploymentId is required for provider azure (config.yaml:2)',
      'targets[0].apiKey is required for provider azure (config.yaml:2)',
    ],
    [
      'a compatible server without its address',
      'targets: [{id: a, provider: openai-compatible}]',
      'targets[0].baseUrl is required for provider openai-compatible (config.yaml:1)',
    ],
    [
      'a deployment elsewhere than on azure',
      target('azureDeploymentId: gpt'),
      'targets[0].azureDeploymentId belongs to provider azure only (config.yaml:4)',
    ],
    [
      'a fallback to nobody',
      'targets:\n  - {id: first, provider: echo, fallback: [secnod]}\n  - {id: second, provider: echo}',
      'targets[0].fallback[0] names no target; did you mean second? (config.yaml:2)',
    ],
    [
      'a fallback to itself',
      target('fallback: [a]'),
      'targets[0].fallback[0] names the target itself (config.yaml:4)',
    ],
    [
      'a fallback twice',
      'targets:\n  - {id: a, provider: echo, fallback: [b, b]}\n  - {id: b, provider: echo}',
      'targets[0].fallback[1] names the same target twice (config.yaml:2)',
    ],
    [
      'a header with a line break',
      target('headers: {x-a: "1\\r\\nx-b: 2"}'),
      'targets[0].headers.x-a must not hold a line break or NUL (config.yaml:4)',
    ],
    [
      'a header name with a space',
      target('headers: {"x a": "1"}'),
      'targets[0].headers["x a"] is not a header name (config.yaml:4)',
    ],
    [
      'one header in two cases',
      target('headers: {x-a: "1", X-A: "2"}'),
      'targets[0].headers.X-A is the same header as x-a (config.yaml:4)',
    ],
    [
      'a base address with a query',
      target('baseUrl: https://ai.example.org/v1?a=b'),
      'targets[0].baseUrl must not hold a query or fragment (config.yaml:4)',
    ],
    ['half a price', target('price: {prompt: 1}'), 'targets[0].price.completion is required (config.yaml:4)'],
  ],
  'tool servers': [
    [
      'a program outside the allowlist [S2.8-allowlist]',
      server('command: bash'),
      'mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx (config.yaml:4)',
    ],
    [
      'an allowed program by its path [S2.8-allowlist]',
      server('command: /usr/bin/node'),
      'mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx (config.yaml:4)',
    ],
    [
      'a program in capitals',
      server('command: Node'),
      'mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx (config.yaml:4)',
    ],
    [
      'a program with its arguments',
      server('command: node server.js'),
      'mcp.servers[0].command must be one of node, npx, python, python3, uv, uvx; arguments go into args (config.yaml:4)',
    ],
    [
      'stdio without a program',
      server('autoConnect: true'),
      'mcp.servers[0].command is required for transport stdio (config.yaml:3)',
    ],
    [
      'an argument that climbs [S2.8-traversal C2-array-paths]',
      server('command: node\nargs: [a.js, ../secret]'),
      'mcp.servers[0].args[1] must not hold a path traversal (..) (config.yaml:5)',
    ],
    [
      'an argument on a line of its own',
      server('command: node\nargs:\n  - a.js\n  - --root=..%252f'),
      'mcp.servers[0].args[1] must not hold a path traversal (..) (config.yaml:7)',
    ],
    [
      'an argument with a NUL',
      server('command: node\nargs: ["a\\0b"]'),
      'mcp.servers[0].args[0] must not hold a NUL (config.yaml:5)',
    ],
    [
      'an environment name with =',
      server('command: node\nenv: {"A=B": c}'),
      'mcp.servers[0].env["A=B"] is not a name for an environment variable (config.yaml:5)',
    ],
    [
      'a url for a program',
      server('command: node\nurl: http://localhost/mcp'),
      'mcp.servers[0].url does not belong to transport stdio (config.yaml:5)',
    ],
    [
      'http without a url',
      server('transport: http'),
      'mcp.servers[0].url is required for transport http (config.yaml:3)',
    ],
    [
      'http to a socket',
      server('transport: http\nurl: ws://localhost/mcp'),
      'mcp.servers[0].url must be an http:// or https:// address (config.yaml:5)',
    ],
    [
      'a socket over http',
      server('transport: websocket\nurl: https://localhost/mcp'),
      'mcp.servers[0].url must be a ws:// or wss:// address (config.yaml:5)',
    ],
    [
      'a user name in a url',
      server('transport: http\nurl: http://me:pass@localhost/mcp'),
      'mcp.servers[0].url must not hold a user name or password (config.yaml:5)',
    ],
    [
      'a program for http',
      server('transport: http\nurl: http://localhost/mcp\ncommand: node'),
      'mcp.servers[0].command does not belong to transport http (config.yaml:6)',
    ],
    [
      'headers for a socket',
      server('transport: websocket\nurl: ws://localhost/mcp\nheaders: {a: b}'),
      'mcp.servers[0].headers does not belong to transport websocket; put credentials into the query of the url (config.yaml:6)',
    ],
    [
      'a transport that does not exist',
      server('transport: sse\nurl: http://localhost/mcp'),
      'mcp.servers[0].transport must be one of stdio, http, websocket (config.yaml:4)',
    ],
    [
      'a reserved name',
      'mcp:\n  servers:\n    - name: hub\n      command: node',
      'mcp.servers[0].name is reserved for the tools of this file (config.yaml:3)',
    ],
    [
      'a name with two underscores [C6-aggregate-server-names]',
      'mcp:\n  servers:\n    - name: a__b\n      command: node',
      'mcp.servers[0].name must be letters, digits, `.`, `-` and single `_` between them, starting with a letter or digit (config.yaml:3)',
    ],
    [
      'two servers of one name [C2-duplicates S2.8-name]',
      'mcp:\n  servers:\n    - {name: a, command: node}\n    - {name: a, command: npx}',
      'mcp.servers[1].name repeats the name of servers[0] (config.yaml:4)',
    ],
    [
      'inline code under strict rules [C2-mcp-strict]',
      'mcp:\n  security: {strict: true}\n  servers:\n    - name: a\n      command: node\n      args: [-e, "1"]\n      env: {NODE_OPTIONS: --import=x}',
      'mcp.servers[0].args[0] makes the command run or load code given beside the script (config.yaml:6)',
      'mcp.servers[0].env.NODE_OPTIONS makes the command load code of its choice (config.yaml:7)',
    ],
  ],
  'tools of the hub': [
    [
      'two tools of one name [C2-duplicates]',
      `${tool('url: https://api.example.org')}\n  - name: weather\n    description: Again.\n    request: {url: https://api.example.org}`,
      'tools[1].name repeats the name of tools[0] (config.yaml:9)',
    ],
    [
      'an argument that is not declared',
      tool('url: https://api.example.org/{ctiy}'),
      'tools[0].request.url takes {ctiy}, which inputSchema.properties does not declare; did you mean {city}? (config.yaml:8)',
    ],
    [
      'an argument in the host',
      tool('url: https://{city}.example.org/'),
      'tools[0].request.url must not take an argument in its scheme, host or port: a caller would choose the server (config.yaml:8)',
    ],
    [
      'an argument as the whole address',
      tool('url: "{city}"'),
      'tools[0].request.url must not take an argument in its scheme, host or port: a caller would choose the server (config.yaml:8)',
    ],
    [
      'an argument of a body that is not declared',
      tool('method: POST\n      url: https://api.example.org\n      body: {where: ["{place}"]}'),
      'tools[0].request.body.where[0] takes {place}, which inputSchema.properties does not declare (config.yaml:10)',
    ],
    [
      'a body of a GET',
      tool('url: https://api.example.org\n      body: {a: 1}'),
      'tools[0].request.body cannot go with method GET (config.yaml:9)',
    ],
    [
      'a schema that is none',
      tool('url: https://api.example.org', 'properties: {city: {type: text}}'),
      'tools[0].inputSchema is not a usable JSON Schema: schema is invalid: data/properties/city/type must be equal to one of the allowed values, data/properties/city/type must be array, data/properties/city/type must match a schema in anyOf (config.yaml:4)',
    ],
    [
      'a schema of another type',
      'tools:\n  - name: t\n    description: d\n    inputSchema: {type: array}\n    request: {url: https://api.example.org}',
      'tools[0].inputSchema.type must be object: arguments are passed by name (config.yaml:4)',
    ],
    [
      'a tool with an odd name',
      'tools:\n  - {name: a b, description: d, request: {url: https://api.example.org}}',
      'tools[0].name must be at most 64 letters, digits, `_`, `.` and `-` (config.yaml:2)',
    ],
  ],
  authentication: [
    [
      'admin without keys',
      'auth:\n  admin:\n    enabled: true',
      'auth.admin.apiKeys is required when auth.admin.enabled is true (config.yaml:2)',
    ],
    [
      'an admin key of 31 characters [S2.3-key-length S8-admin-key-length]',
      `auth:\n  admin:\n    enabled: true\n    apiKeys:\n      - ${KEY.slice(0, 31)}`,
      'auth.admin.apiKeys[0] must be at least 32 characters (config.yaml:5)',
    ],
    [
      'an admin key that ends in a line break',
      `auth:\n  admin:\n    enabled: true\n    apiKeys: ["${KEY}\\n"]`,
      'auth.admin.apiKeys[0] must not hold a line break or NUL (config.yaml:4)',
    ],
    [
      'an admin key twice',
      `auth: {admin: {enabled: true, apiKeys: [${KEY}, ${KEY}]}}`,
      'auth.admin.apiKeys[1] repeats apiKeys[0] (config.yaml:1)',
    ],
    [
      'a network that is none',
      `auth:\n  admin:\n    enabled: true\n    apiKeys: [${KEY}]\n    allowedNetworks:\n      - 10.0.0.0/8\n      - 10.0.0.0/33`,
      'auth.admin.allowedNetworks[1] must be an IP address or CIDR range such as 10.0.0.0/8 (config.yaml:7)',
    ],
    [
      'authentication with nothing',
      'auth:\n  enabled: true',
      'auth.session.cookie.secret is required when auth.enabled is true (config.yaml:1)',
      'auth.edapi_url is required for auth.type edapi (config.yaml:1)',
    ],
    [
      'a short session secret [C4-secret-length]',
      'auth:\n  enabled: true\n  edapi_url: https://id.example.org\n  session:\n    cookie:\n      secret: short',
      'auth.session.cookie.secret must be at least 32 characters (config.yaml:6)',
    ],
    ['jwt without its settings', auth('type: jwt'), 'auth.jwt is required for auth.type jwt (config.yaml:1)'],
    [
      'jwt with half its settings',
      auth('type: jwt\n  jwt: {issuer: https://id.example.org}'),
      'auth.jwt.audience is required (config.yaml:8)',
      'auth.jwt.jwks_uri is required (config.yaml:8)',
    ],
    [
      'apiKey without keys',
      auth('type: apiKey'),
      'auth.apiKeys is required for auth.type apiKey (config.yaml:1)',
    ],
    [
      'a hash that is none',
      auth('apiKeys: [{id: a, sha256: abc}]'),
      'auth.apiKeys[0].sha256 must be 64 hex digits (config.yaml:7)',
    ],
    [
      'redis without its address',
      'auth:\n  enabled: true\n  edapi_url: https://id.example.org\n  session:\n    store: redis\n    cookie: {secret: k3y-0123456789-abcdefghijklmnop-9876}',
      'auth.session.redis_url is required for auth.session.store redis (config.yaml:4)',
    ],
    [
      'a redis address that is none',
      'auth: {session: {redis_url: "http://localhost"}}',
      'auth.session.redis_url must be a redis:// or rediss:// address (config.yaml:1)',
    ],
    [
      'SameSite none without HTTPS',
      `auth:\n  enabled: true\n  edapi_url: https://id.example.org\n  session:\n    cookie:\n      secret: ${KEY}\n      sameSite: none`,
      'auth.session.cookie.sameSite none needs HTTPS: hub.tls, an https hub.publicUrl, or hub.security.trustProxy (config.yaml:7)',
    ],
    [
      'a __Host- cookie without HTTPS',
      `auth:\n  enabled: true\n  edapi_url: https://id.example.org\n  session:\n    cookie:\n      secret: ${KEY}\n      name: __Host-sid`,
      'auth.session.cookie.name with this prefix needs HTTPS: hub.tls, an https hub.publicUrl, or hub.security.trustProxy (config.yaml:7)',
    ],
  ],
  'the gateway': [
    [
      'TLS without its files',
      'hub:\n  tls:\n    enabled: true',
      'hub.tls.cert is required when hub.tls.enabled is true (config.yaml:2)',
      'hub.tls.key is required when hub.tls.enabled is true (config.yaml:2)',
    ],
    [
      'a public address with a path',
      'hub: {publicUrl: "https://example.org/hub"}',
      'hub.publicUrl must be an origin such as https://hub.example.org, without a path (config.yaml:1)',
    ],
    [
      'an origin with a path',
      'hub:\n  cors:\n    origins: [https://app.example.org/x]',
      'hub.cors.origins[0] must be an origin such as https://app.example.org, without a path (config.yaml:3)',
    ],
    [
      'a trusted proxy that is a name',
      'hub: {security: {trustProxy: "10.0.0.1, loopback"}}',
      'hub.security.trustProxy must be true, false or a list of addresses and CIDR ranges (config.yaml:1)',
    ],
    [
      'one path for two checks',
      'healthCheck:\n  path: /up\n  readinessPath: /up',
      'healthCheck.readinessPath is the same path as healthCheck.path (config.yaml:3)',
    ],
    [
      'a check under a protected prefix',
      'healthCheck:\n  path: /v1/health',
      'healthCheck.path must not lie under /v1, which belongs to the hub (config.yaml:2)',
    ],
    [
      'a path without a slash',
      'healthCheck: {path: health}',
      'healthCheck.path must be a path such as /health (config.yaml:1)',
    ],
    [
      'docs over the health check',
      'swagger: {enabled: true, path: health}',
      'swagger.path is the same path as healthCheck.path (config.yaml:1)',
    ],
    [
      'docs over the admin panel',
      'swagger: {enabled: true, path: admin}',
      'swagger.path must not lie under /admin, which belongs to the hub (config.yaml:1)',
    ],
    [
      'two proxies of one id [C2-duplicates]',
      'proxies:\n  - {id: a, url: "http://a"}\n  - {id: a, url: "http://b"}',
      'proxies[1].id repeats the id of proxies[0] (config.yaml:3)',
    ],
    [
      'a proxy id with a slash',
      'proxies: [{id: a/b, url: "http://a"}]',
      'proxies[0].id must be letters, digits, `_`, `.` and `-` without `..` (config.yaml:1)',
    ],
    [
      'a header to remove that is none',
      'proxies: [{id: a, url: "http://a", removeHeaders: ["x y"]}]',
      'proxies[0].removeHeaders[0] is not a header name (config.yaml:1)',
    ],
  ],
  'video accounts': [
    [
      'two accounts of one id [C2-duplicates]',
      account(
        '    - {id: main, client_id: c, client_secret: s, redirect_uri: "http://localhost/videohost/auth/idp/callback?target=main"}',
      ),
      'videohost.accounts[1].id repeats the id of accounts[0] (config.yaml:7)',
    ],
    [
      'an account id that climbs',
      'videohost:\n  accounts:\n    - {id: a..b, client_id: c, client_secret: s, redirect_uri: "http://localhost/videohost/auth/idp/callback?target=x"}',
      'videohost.accounts[0].id must be letters, digits, `_`, `.` and `-` without `..` (config.yaml:3)',
    ],
    [
      'two accounts with one token file [C2-one-token-file]',
      account(
        '    - {id: other, client_id: c, client_secret: s, redirect_uri: "http://localhost/videohost/auth/idp/callback?target=other"}\n  token_storage_file: token.json',
      ),
      'videohost.token_storage_file gives accounts[0] and accounts[1] one token file; it must hold {id} (config.yaml:8)',
    ],
    [
      'a token file that escapes its directory',
      account('  token_storage_file: ../{id}.json'),
      'videohost.token_storage_file must be a plain file name inside token_storage_path (config.yaml:7)',
    ],
    [
      'the callback of another account',
      'videohost:\n  accounts:\n    - {id: main, client_id: c, client_secret: s, redirect_uri: "http://localhost/videohost/auth/idp/callback?target=other"}',
      'videohost.accounts[0].redirect_uri has a target other than the id of this account (config.yaml:3)',
    ],
    [
      'chunks that the platform refuses',
      account('  upload: {chunkSize: 1000000}'),
      'videohost.upload.chunkSize must be a multiple of 256 KiB (config.yaml:7)',
    ],
    [
      'a client secret that ends in a line break',
      'videohost:\n  accounts:\n    - {id: main, client_id: c, client_secret: "s\\n", redirect_uri: "http://localhost/videohost/auth/idp/callback?target=main"}',
      'videohost.accounts[0].client_secret must not hold a line break or NUL (config.yaml:3)',
    ],
    [
      'an API address with a path',
      account('  endpoints: {api: https://example.org/youtube}'),
      'videohost.endpoints.api must be an origin such as https://www.googleapis.com, without a path (config.yaml:7)',
    ],
  ],
};

for (const [area, rows] of Object.entries(cases)) {
  describe(area, () => {
    for (const [title, text, ...faults] of rows) {
      const [, what, ids = ''] = /^(.*?)( \[.*\])?$/.exec(title) ?? [];
      test(`${what} is refused${ids}`, () => {
        expect(faultsOf(text)).toEqual(faults);
      });
    }
  });
}
