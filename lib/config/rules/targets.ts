import type { Provider } from '../schema/targets.ts';
import { nearest } from '../suggest.ts';
import { checkHeaders, checkHeaderText } from './headers.ts';
import { eachItem, type Rule, unique } from './rule.ts';
import { warnOfUserinfo } from './urls.ts';

/** What each provider cannot work without. `apiKey` may be left out where an own address or header replaces it. */
const NEEDS: Record<Provider, readonly ('apiKey' | 'baseUrl' | 'azureDeploymentId')[]> = {
  openai: ['apiKey'],
  azure: ['baseUrl', 'azureDeploymentId', 'apiKey'],
  anthropic: ['apiKey'],
  gemini: ['apiKey'],
  ollama: [],
  'openai-compatible': ['baseUrl'],
  echo: [],
};
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];

/** AI targets (contract §2, §5). */
export const targetRules: Rule = (view, { report, given, skipStructure }) => {
  const ids = (view.targets ?? []).flatMap((target) => target?.id ?? []);
  unique(view.targets, 'id', ['targets'], report);

  eachItem(view.targets, (target, index) => {
    const path = ['targets', index];
    const { provider } = target;

    if (provider !== undefined && !skipStructure) {
      const ownCredential = Object.keys(target.headers ?? {}).some((name) =>
        CREDENTIAL_HEADERS.includes(name.toLowerCase()),
      );
      for (const key of NEEDS[provider]) {
        const replaced =
          key === 'apiKey' && (ownCredential || (provider !== 'azure' && target.baseUrl !== undefined));
        if (target[key] === undefined && !replaced) {
          report.fault([...path, key], `is required for provider ${provider}`);
        }
      }
      for (const key of ['azureDeploymentId', 'azureApiVersion']) {
        if (provider !== 'azure' && given([...path, key])) {
          report.fault([...path, key], 'belongs to provider azure only');
        }
      }
    }

    checkHeaderText(target.apiKey, [...path, 'apiKey'], report);
    checkHeaders(target.headers, [...path, 'headers'], report);
    warnOfUserinfo(target.baseUrl, [...path, 'baseUrl'], report);
    if (target.baseUrl !== undefined && /[?#]/.test(target.baseUrl)) {
      report.fault([...path, 'baseUrl'], 'must not hold a query or fragment');
    }

    const seen = new Set<string>();
    eachItem(target.fallback, (id, place) => {
      const here = [...path, 'fallback', place];
      if (id === target.id) report.fault(here, 'names the target itself');
      else if (!ids.includes(id)) {
        const close = nearest(id, ids);
        report.fault(here, `names no target${close === undefined ? '' : `; did you mean ${close}?`}`);
      } else if (seen.has(id)) report.fault(here, 'names the same target twice');
      seen.add(id);
    });

    const model = target.options?.model;
    if (model !== undefined && target.models?.length && !target.models.includes(model)) {
      report.warn([...path, 'options', 'model'], 'is not among the models that a caller may ask for');
    }
    const { requestTimeout, firstTokenTimeout } = target;
    if (
      requestTimeout !== undefined &&
      firstTokenTimeout !== undefined &&
      firstTokenTimeout > requestTimeout
    ) {
      report.warn([...path, 'firstTokenTimeout'], 'is longer than requestTimeout, which ends the call first');
    }
  });
};
