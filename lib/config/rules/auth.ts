import { isNetwork } from '../formats.ts';
import { checkHeaderText } from './headers.ts';
import { eachItem, type Rule, unique } from './rule.ts';

/** Shortest admin key and session secret (spec §8, contract §4). */
const MIN_SECRET = 32;
/** A key of fewer different characters was typed, not drawn. */
const MIN_DISTINCT = 8;

/** Admin authentication; security rules, so they hold with structure checks skipped (contract §1). */
export const adminRules: Rule = (view, { report }) => {
  const path = ['auth', 'admin'];
  const admin = view.auth?.admin;
  if (admin?.enabled === true && !admin.apiKeys?.length) {
    report.fault([...path, 'apiKeys'], 'is required when auth.admin.enabled is true');
  }
  if (admin?.enabled === false && admin.apiKeys?.length) {
    report.warn([...path, 'apiKeys'], 'are not used: auth.admin.enabled is false');
  }
  const seen = new Map<string, number>();
  eachItem(admin?.apiKeys, (key, index) => {
    const here = [...path, 'apiKeys', index];
    if (key.length < MIN_SECRET) report.fault(here, `must be at least ${MIN_SECRET} characters`);
    else checkHeaderText(key, here, report);
    const first = seen.get(key);
    if (first !== undefined) report.fault(here, `repeats apiKeys[${first}]`);
    else seen.set(key, index);
    if (new Set(key).size < MIN_DISTINCT)
      report.warn(here, 'is easy to guess; `npm run setup` writes a random one');
  });
  eachItem(admin?.allowedNetworks, (network, index) => {
    if (!isNetwork(network)) {
      report.fault(
        [...path, 'allowedNetworks', index],
        'must be an IP address or CIDR range such as 10.0.0.0/8',
      );
    }
  });
};

/** Main authentication: its secret, and the settings of its type (contract §4). */
export const authRules: Rule = (view, { report, skipStructure }) => {
  const auth = view.auth;
  if (auth?.enabled !== true) return;
  const secret = auth.session?.cookie?.secret;
  const secretPath = ['auth', 'session', 'cookie', 'secret'];
  if (secret === undefined || secret === '')
    report.fault(secretPath, 'is required when auth.enabled is true');
  else if (secret.length < MIN_SECRET) report.fault(secretPath, `must be at least ${MIN_SECRET} characters`);
  else if (new Set(secret).size < MIN_DISTINCT) report.warn(secretPath, 'is easy to guess');

  if (!skipStructure) {
    if (auth.type === 'edapi' && auth.edapi_url === undefined) {
      report.fault(['auth', 'edapi_url'], 'is required for auth.type edapi');
    }
    if (auth.type === 'jwt' && auth.jwt === undefined)
      report.fault(['auth', 'jwt'], 'is required for auth.type jwt');
    if (auth.type === 'apiKey' && !auth.apiKeys?.length) {
      report.fault(['auth', 'apiKeys'], 'is required for auth.type apiKey');
    }
    if (auth.session?.store === 'redis' && auth.session.redis_url === undefined) {
      report.fault(['auth', 'session', 'redis_url'], 'is required for auth.session.store redis');
    }
  }
  unique(
    auth.apiKeys?.map((key) => key && { ...key, sha256: key.sha256?.toLowerCase() }),
    'sha256',
    ['auth', 'apiKeys'],
    report,
  );

  const cookie = auth.session?.cookie;
  const secure =
    view.hub?.tls?.enabled === true ||
    view.hub?.publicUrl?.startsWith('https:') === true ||
    Boolean(view.hub?.security?.trustProxy);
  if (secure) return;
  const https = 'needs HTTPS: hub.tls, an https hub.publicUrl, or hub.security.trustProxy';
  if (cookie?.sameSite === 'none') report.fault(['auth', 'session', 'cookie', 'sameSite'], `none ${https}`);
  if (/^__(Host|Secure)-/i.test(cookie?.name ?? '')) {
    report.fault(['auth', 'session', 'cookie', 'name'], `with this prefix ${https}`);
  }
};
