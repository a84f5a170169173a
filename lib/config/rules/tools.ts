import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report } from '../faults.ts';
import { parseUrl } from '../formats.ts';
import { isMapping, type Path } from '../path.ts';
import { nearest } from '../suggest.ts';
import { checkHeaders } from './headers.ts';
import { eachItem, type Rule, unique } from './rule.ts';
import { warnOfUserinfo } from './urls.ts';

/** A place in a url, header, query or body that takes an argument. */
const PLACEHOLDER = /\{([A-Za-z_][\w.-]*)\}/g;

/** HTTP APIs offered as tools (contract §2, §6). */
export const toolRules: Rule = (view, { report }) => {
  unique(view.tools, 'name', ['tools'], report);
  eachItem(view.tools, (tool, index) => {
    const path = ['tools', index];
    const { inputSchema, request } = tool;
    if (inputSchema !== undefined) checkSchema(inputSchema, [...path, 'inputSchema'], report);
    if (request === undefined) return;
    checkUrl(request.url, [...path, 'request', 'url'], report);
    checkHeaders(request.headers, [...path, 'request', 'headers'], report);
    if (request.method === 'GET' && request.body !== undefined) {
      report.fault([...path, 'request', 'body'], 'cannot go with method GET');
    }
    const properties = isMapping(inputSchema?.properties) ? Object.keys(inputSchema.properties) : [];
    eachText(request, [...path, 'request'], (text, here) => {
      for (const name of new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))) {
        if (properties.includes(name)) continue;
        const close = nearest(name, properties);
        const hint = close === undefined ? '' : `; did you mean {${close}}?`;
        report.fault(here, `takes {${name}}, which inputSchema.properties does not declare${hint}`);
      }
    });
  });
};

function checkSchema(schema: Record<string, unknown>, path: Path, report: Report): void {
  if (schema.type !== 'object') {
    report.fault([...path, 'type'], 'must be object: arguments are passed by name');
    return;
  }
  const dialect = typeof schema.$schema === 'string' && schema.$schema.includes('2020-12') ? Ajv2020 : Ajv;
  try {
    new dialect({ strict: false, validateFormats: false, logger: false }).compile(schema);
  } catch (error) {
    report.fault(path, `is not a usable JSON Schema: ${(error as Error).message}`);
  }
}

function checkUrl(url: string | undefined, path: Path, report: Report): void {
  if (url === undefined) return;
  if (/^(?:\{|[a-z]*:?\/?\/?[^/?#]*\{)/i.test(url)) {
    report.fault(
      path,
      'must not take an argument in its scheme, host or port: a caller would choose the server',
    );
  } else if (parseUrl(url.replace(PLACEHOLDER, '0'), ['http:', 'https:']) === undefined) {
    report.fault(path, 'must be an http:// or https:// address');
  } else warnOfUserinfo(url, path, report);
}

/** Calls `visit` for every text below `value`; keys take no arguments. */
function eachText(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === 'string') visit(value, path);
  else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      eachText(item, [...path, index], visit);
    });
  } else if (isMapping(value)) {
    for (const [key, below] of Object.entries(value)) eachText(below, [...path, key], visit);
  }
}
