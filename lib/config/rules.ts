import { adminRules, authRules } from './rules/auth.ts';
import { hubRules, pathRules } from './rules/hub.ts';
import { literalSecretRules } from './rules/literal-secrets.ts';
import { mcpRules } from './rules/mcp.ts';
import { proxyRules } from './rules/proxies.ts';
import type { Rule } from './rules/rule.ts';
import { targetRules } from './rules/targets.ts';
import { toolRules } from './rules/tools.ts';
import { videohostRules } from './rules/videohost.ts';

/** What no schema can say: rules across keys, lists and the values of texts. */
export const RULES: readonly Rule[] = [
  hubRules,
  pathRules,
  authRules,
  adminRules,
  targetRules,
  proxyRules,
  toolRules,
  mcpRules,
  videohostRules,
  literalSecretRules,
];
