import { checkHeaderNames, checkHeaders } from './headers.ts';
import { eachItem, type Rule, unique } from './rule.ts';
import { warnOfUserinfo } from './urls.ts';

/** Reverse proxies (contract §9). */
export const proxyRules: Rule = (view, { report }) => {
  unique(view.proxies, 'id', ['proxies'], report);
  eachItem(view.proxies, (proxy, index) => {
    const path = ['proxies', index];
    checkHeaders(proxy.headers, [...path, 'headers'], report);
    checkHeaderNames(proxy.removeHeaders, [...path, 'removeHeaders'], report);
    checkHeaderNames(proxy.removeResponseHeaders, [...path, 'removeResponseHeaders'], report);
    warnOfUserinfo(proxy.url, [...path, 'url'], report);
    if (proxy.url !== undefined && /[?#]/.test(proxy.url)) {
      report.fault([...path, 'url'], 'must not hold a query or fragment');
    }
    if (proxy.auth === false)
      report.warn([...path, 'auth'], 'is false: anybody who reaches the hub may use this proxy');
  });
};
