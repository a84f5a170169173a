import { parseUrl } from '../formats.ts';
import type { Path } from '../path.ts';
import { COMMAND_ALLOWLIST } from '../schema/tools.ts';
import { checkHeaders } from './headers.ts';
import { inlineCodeFlags, isLoaderName } from './loader-risks.ts';
import { eachItem, type Rule, type RuleContext, unique, type View } from './rule.ts';
import { climbs, holdsNul } from './traversal.ts';
import { hasUserinfo } from './urls.ts';

type Server = NonNullable<NonNullable<NonNullable<View['mcp']>['servers']>[number]>;

/** Name of the server that offers `tools[]` (contract §6). */
const RESERVED_NAME = 'hub';
const KEYS_OF = { stdio: ['command', 'args', 'env'], http: ['url', 'headers'], websocket: ['url'] } as const;
const SPECIAL_KEYS = ['command', 'args', 'env', 'url', 'headers'] as const;
const SCHEMES = { http: ['http:', 'https:'], websocket: ['ws:', 'wss:'] };
const ADDRESS = { http: 'an http:// or https:// address', websocket: 'a ws:// or wss:// address' };

/** Tool servers (spec §2.8, contract §6). The rules on commands and arguments hold whatever else is skipped. */
export const mcpRules: Rule = (view, context) => {
  const { report } = context;
  unique(view.mcp?.servers, 'name', ['mcp', 'servers'], report);
  eachItem(view.mcp?.servers, (server, index) => {
    const path = ['mcp', 'servers', index];
    if (server.name === RESERVED_NAME)
      report.fault([...path, 'name'], 'is reserved for the tools of this file');
    if (!context.skipStructure) checkKeys(server, path, context);
    checkProgram(server, path, view.mcp?.security?.strict === true, context);
    checkUrl(server, path, context);
    checkHeaders(server.headers, [...path, 'headers'], report);
  });
};

/** Each transport has its own keys; one of another is a mistake worth a word. */
function checkKeys(server: Server, path: Path, { report, given }: RuleContext): void {
  const { transport } = server;
  if (transport === undefined) return;
  const own: readonly string[] = KEYS_OF[transport];
  const required = transport === 'stdio' ? 'command' : 'url';
  if (server[required] === undefined)
    report.fault([...path, required], `is required for transport ${transport}`);
  for (const key of SPECIAL_KEYS) {
    if (own.includes(key) || !given([...path, key])) continue;
    const hint =
      transport === 'websocket' && key === 'headers' ? '; put credentials into the query of the url' : '';
    report.fault([...path, key], `does not belong to transport ${transport}${hint}`);
  }
}

function checkProgram(server: Server, path: Path, strict: boolean, { report }: RuleContext): void {
  const { command } = server;
  if (command !== undefined && !allowed(command)) {
    const hint = allowed(command.split(/\s/)[0] ?? '') ? '; arguments go into args' : '';
    report.fault([...path, 'command'], `must be one of ${COMMAND_ALLOWLIST.join(', ')}${hint}`);
  }
  eachItem(server.args, (argument, index) => {
    const here = [...path, 'args', index];
    if (holdsNul(argument)) report.fault(here, 'must not hold a NUL');
    else if (climbs(argument)) report.fault(here, 'must not hold a path traversal (..)');
  });
  const risk = strict ? report.fault : report.warn;
  for (const index of inlineCodeFlags(command ?? '', server.args ?? [])) {
    risk([...path, 'args', index], 'makes the command run or load code given beside the script');
  }
  for (const [name, value] of Object.entries(server.env ?? {})) {
    const here = [...path, 'env', name];
    if (name === '' || /[=\0]/.test(name)) report.fault(here, 'is not a name for an environment variable');
    if (value?.includes('\0')) report.fault(here, 'must not hold a NUL');
    if (isLoaderName(name)) risk(here, 'makes the command load code of its choice');
  }
}

function allowed(command: string): boolean {
  return (COMMAND_ALLOWLIST as readonly string[]).includes(command);
}

function checkUrl(server: Server, path: Path, { report }: RuleContext): void {
  const { transport, url } = server;
  if (url === undefined || transport === undefined || transport === 'stdio') return;
  const here = [...path, 'url'];
  const parsed = parseUrl(url, SCHEMES[transport]);
  if (parsed === undefined) report.fault(here, `must be ${ADDRESS[transport]}`);
  else if (hasUserinfo(url)) report.fault(here, 'must not hold a user name or password');
  else if (parsed.hash !== '') report.fault(here, 'must not hold a fragment');
}
