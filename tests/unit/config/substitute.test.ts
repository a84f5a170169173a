// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
import { describe, expect, test } from '@jest/globals';
import { substitute } from '../../../lib/config/substitute.ts';
import { faultsOf, loadText } from './load-text.ts';

const env = { A: 'one', B: 'two', EMPTY: '', _x1: 'under' };

describe('a text with references', () => {
  test.each([
    ['takes a variable', '${A}', 'one'],
    ['takes several variables', 'a=${A}&b=${B}', 'a=one&b=two'],
    ['takes a default for a variable that is not set', '${NONE-fallback}', 'fallback'],
    ['takes no default for an empty variable', '${EMPTY-fallback}', ''],
    ['takes an empty default', '[${NONE-}]', '[]'],
    ['ends a default at the first }', '${NONE-a}b}', 'ab}'],
    ['takes a default with odd characters', '${NONE-a: #"-$x}', 'a: #"-$x'],
    ['takes $${ as a literal ${', '$${A} costs $5', '${A} costs $5'],
    ['takes $${ and a variable side by side', '$${A}${A}', '${A}one'],
    ['takes names with _ and digits', '${_x1}', 'under'],
    ['leaves a $ alone', '$A $ }', '$A $ }'],
    ['never reads a name from the prototype', '${toString-none}', 'none'],
  ])(
    '%s [C2-subst-several C2-subst-default C2-subst-literal C2-subst-first-brace]',
    (_title, text, result) => {
      expect(substitute(text, env)).toMatchObject({ text: result, faults: [] });
    },
  );

  test('is not read again after substitution', () => {
    expect(substitute('${A}', { A: '${B}', B: 'x' }).text).toBe('${B}');
  });
});

describe('a reference that cannot be resolved is a fault with its path and line', () => {
  test.each([
    ['an unset variable', '${NONE}', 'needs the environment variable NONE, which is not set'],
    [
      'an unset variable that setup writes',
      '${ADMIN_API_KEY}',
      'needs the environment variable ADMIN_API_KEY, which is not set; `npm run setup` writes it into .env',
    ],
    ['${VAR:-x}', '${A:-x}', 'uses ${A:…}, which is not supported; write ${A-default}'],
    [
      'a nested reference',
      '${NONE-${A}}',
      'nests one ${ in another, which is not supported; use one variable with one plain default',
    ],
    ['an unclosed reference', '${A', 'has a ${ without its } (write $${ for a literal ${)'],
    [
      'an empty name',
      '${}',
      'has a ${ that no variable name follows (a letter or _, then letters, digits and _)',
    ],
    [
      'a name that starts with a digit',
      '${1A}',
      'has a ${ that no variable name follows (a letter or _, then letters, digits and _)',
    ],
    ['a name with a dot', '${A.B}', 'has a reference to A that is malformed; write ${A} or ${A-default}'],
  ])('%s [C2-subst-unset C2-subst-odd-forms C2-subst-names S2.1-substitution]', (_title, text, what) => {
    const yaml = `targets:\n  - id: a\n    provider: openai\n    apiKey: "${text}"`;
    expect(faultsOf(yaml, env)).toEqual([`targets[0].apiKey ${what} (config.yaml:4)`]);
  });

  test('every reference of a text is reported, and nothing that follows from them', () => {
    const yaml =
      'auth:\n  admin:\n    enabled: true\n    apiKeys:\n      - ${ONE}${TWO}\nhub: {port: "${THREE}"}';
    expect(faultsOf(yaml)).toEqual([
      'auth.admin.apiKeys[0] needs the environment variable ONE, which is not set (config.yaml:5)',
      'auth.admin.apiKeys[0] needs the environment variable TWO, which is not set (config.yaml:5)',
      'hub.port needs the environment variable THREE, which is not set (config.yaml:6)',
    ]);
  });

  test('a comment is not read', () => {
    expect(faultsOf('hub: {} # ${NONE}')).toEqual([]);
  });
});

describe('a substituted value', () => {
  const target = (key: string) => `targets:\n  - id: a\n    provider: openai\n    apiKey: ${key}\n`;

  test.each([
    'x: y',
    '# no comment',
    'a\nhub: {port: 1}',
    '"',
    "it's",
    '- a',
    '{a: b}',
    '*a',
    '&b',
    '!!int 3',
  ])('cannot change the structure: %j [C2-subst-scalars]', (value) => {
    const url = 'proxies:\n  - id: a\n    url: http://localhost\n    headers:\n      x-a: ${V}';
    const load = () => loadText(url, { V: value }).config;
    if (value.includes('\n'))
      expect(load).toThrow('proxies[0].headers.x-a must not hold a line break or NUL');
    else expect(load().proxies[0]?.headers).toEqual({ 'x-a': value });
  });

  test('becomes a number where the schema asks for one [C2-subst-typed]', () => {
    expect(loadText('hub: {port: "${PORT-3100}"}').config.hub.port).toBe(3100);
    expect(loadText('hub:\n  port: 80${PORT}', { PORT: '81' }).config.hub.port).toBe(8081);
    expect(faultsOf('hub: {port: "${PORT}"}', { PORT: 'abc' })).toEqual([
      'hub.port must be a number (config.yaml:1)',
    ]);
    expect(faultsOf('hub: {port: "${PORT}"}', { PORT: '' })).toEqual([
      'hub.port must be a number (config.yaml:1)',
    ]);
  });

  test('becomes a boolean where the schema asks for one [C2-subst-typed]', () => {
    expect(loadText('swagger: {enabled: "${DOCS}"}', { DOCS: 'true' }).config.swagger.enabled).toBe(true);
    expect(faultsOf('swagger: {enabled: "${DOCS}"}', { DOCS: 'yes' })).toEqual([
      'swagger.enabled must be a boolean; write true or false (config.yaml:1)',
    ]);
  });

  test('stays a text elsewhere, leading zeros kept [C2-digits-stay-string]', () => {
    expect(loadText(target('${KEY}'), { KEY: '00123456789' }).config.targets[0]?.apiKey).toBe('00123456789');
    expect(loadText(target('${KEY}'), { KEY: 'true' }).config.targets[0]?.apiKey).toBe('true');
  });

  test.each([
    ['true', true],
    ['false', false],
    ['10.0.0.0/8, ::1', '10.0.0.0/8, ::1'],
  ])('of a boolean-or-string key: %s [C2-boolean-or-string]', (text, value) => {
    const yaml = 'hub: {security: {trustProxy: "${TRUST}"}}';
    expect(loadText(yaml, { TRUST: text }).config.hub.security.trustProxy).toBe(value);
    expect(loadText(`hub: {security: {trustProxy: "${text}"}}`).config.hub.security.trustProxy).toBe(value);
  });

  test('of a size key may be a plain number of bytes', () => {
    const yaml = 'hub: {limits: {jsonBody: "${SIZE}"}}';
    expect(loadText(yaml, { SIZE: '1024' }).config.hub.limits.jsonBody).toBe(1024);
    expect(loadText(yaml, { SIZE: '1 MB' }).config.hub.limits.jsonBody).toBe('1 MB');
  });
});
