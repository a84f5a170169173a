import { isNetwork } from '../formats.ts';
import { parseSize } from '../size.ts';
import type { Rule } from './rule.ts';
import { eachItem } from './rule.ts';
import { isOrigin } from './urls.ts';

/** First segments of paths that belong to the hub's own routes. */
const OWN_PREFIXES = ['admin', 'auth', 'mcp', 'metrics', 'proxy', 'v1', 'videohost'];

/** `hub.*`, health endpoints and API docs (spec §2.1, contract §2, §4). */
export const hubRules: Rule = (view, { report, given }) => {
  const { tls, security, cors, publicUrl } = view.hub ?? {};

  for (const key of ['cert', 'key'] as const) {
    if (tls?.enabled === true && tls[key] === undefined) {
      report.fault(['hub', 'tls', key], 'is required when hub.tls.enabled is true');
    }
  }
  if (tls?.enabled === false && (tls.cert !== undefined || tls.key !== undefined)) {
    report.warn(['hub', 'tls'], 'has files but is not enabled: the hub serves plain HTTP');
  }

  if (publicUrl !== undefined && !isOrigin(publicUrl)) {
    report.fault(['hub', 'publicUrl'], 'must be an origin such as https://hub.example.org, without a path');
  }
  eachItem(cors?.origins, (origin, index) => {
    const here = ['hub', 'cors', 'origins', index];
    if (origin === '*') report.warn(here, 'lets every web site call the hub');
    else if (!isOrigin(origin)) {
      report.fault(here, 'must be an origin such as https://app.example.org, without a path');
    }
  });

  const trust = security?.trustProxy;
  if (typeof trust === 'string') {
    const path = ['hub', 'security', 'trustProxy'];
    const entries = trust.split(',').map((entry) => entry.trim());
    if (!entries.every(isNetwork)) {
      report.fault(path, 'must be true, false or a list of addresses and CIDR ranges');
    } else if (entries.some((entry) => entry.endsWith('/0'))) {
      report.warn(path, 'trusts every address: anybody may claim any client IP');
    }
  }

  for (const [path, text] of [
    [['hub', 'limits', 'jsonBody'], view.hub?.limits?.jsonBody],
    [['logging', 'maxFileSize'], view.logging?.maxFileSize],
  ] as const) {
    if (text !== undefined && parseSize(text) < 1) report.fault(path, 'must be at least one byte');
  }
  if (given(['hub', 'rateLimit', 'max']) && view.hub?.rateLimit?.enabled === false) {
    report.warn(['hub', 'rateLimit'], 'has settings but is not enabled');
  }
};

/** Paths that operators may choose must not shadow each other or a route of the hub. */
export const pathRules: Rule = (view, { report }) => {
  const taken = new Map<string, string>();
  const claim = (
    name: string,
    parent: string,
    text: string | undefined,
    enabled: boolean | undefined,
  ): void => {
    if (text === undefined || enabled === false) return;
    const path = `/${text.replace(/^\/+|\/+$/g, '')}`;
    const full = `${parent}.${name}`;
    const owner = taken.get(path.toLowerCase());
    if (OWN_PREFIXES.includes(path.split('/')[1]?.toLowerCase() ?? '')) {
      report.fault([parent, name], `must not lie under /${path.split('/')[1]}, which belongs to the hub`);
    } else if (owner !== undefined) report.fault([parent, name], `is the same path as ${owner}`);
    taken.set(path.toLowerCase(), full);
  };
  claim('path', 'healthCheck', view.healthCheck?.path, view.healthCheck?.enabled);
  claim('readinessPath', 'healthCheck', view.healthCheck?.readinessPath, view.healthCheck?.enabled);
  claim('path', 'swagger', view.swagger?.path, view.swagger?.enabled);
};
