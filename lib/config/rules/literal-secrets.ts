import { type Path, valueAt } from '../path.ts';
import type { Rule } from './rule.ts';

/** Secrets belong into the environment, never into the file (spec §5). */
export const literalSecretRules: Rule = (view, { report, given, fromEnvironment }) => {
  const secrets: Path[] = [['auth', 'session', 'cookie', 'secret']];
  view.auth?.admin?.apiKeys?.forEach((_key, index) => {
    secrets.push(['auth', 'admin', 'apiKeys', index]);
  });
  view.targets?.forEach((_target, index) => {
    secrets.push(['targets', index, 'apiKey']);
  });
  view.videohost?.accounts?.forEach((_account, index) => {
    secrets.push(['videohost', 'accounts', index, 'client_secret']);
  });
  for (const path of secrets) {
    if (!given(path) || fromEnvironment(path)) continue;
    const reference = /^\$[A-Za-z_]\w*$/.test(String(valueAt(view, path)));
    report.warn(
      path,
      reference
        ? `looks like a reference to the environment but is taken as it stands; write \${NAME}`
        : 'is a secret written into the file; take it from an environment variable instead',
    );
  }
};
