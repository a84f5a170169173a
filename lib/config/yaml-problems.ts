import type { YAMLError } from 'yaml';

/** What the parser's codes mean to an operator. Its own messages quote the file, which may hold secrets. */
const YAML_PROBLEMS: Partial<Record<string, string>> = {
  MULTIPLE_DOCS: 'holds more than one YAML document',
  TAB_AS_INDENT: 'a tab is used for indentation',
  BAD_INDENT: 'the indentation does not fit',
  BAD_ALIAS: 'an alias is malformed',
  BAD_DQ_ESCAPE: 'a double-quoted text has an unknown escape',
  BAD_SCALAR_START: 'a text starts with a reserved character; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a nested mapping is where a value is expected; text with ": " needs quotes',
  MISSING_CHAR: 'a closing quote, bracket or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key runs over several lines; perhaps a colon or a quote is missing',
  TAG_RESOLVE_FAILED: 'a tag (!…) is unknown',
  UNEXPECTED_TOKEN: 'something is out of place',
};

/** Problem of a parsed text in the words of an operator. */
export interface YamlProblem {
  /** E.g. `is not valid YAML: a tab is used for indentation`. */
  readonly what: string;
  /** Offset in the text, in UTF-16 units. */
  readonly offset: number;
}

/** What is wrong with a text. Where an unquoted `${VAR}` broke a list, only that: the rest follows from it. */
export function describeProblems(text: string, errors: readonly YAMLError[]): YamlProblem[] {
  const unquoted = errors.filter(({ pos }) => text.startsWith('${', pos[0] - 1));
  if (unquoted.length > 0)
    return unquoted.map(({ pos }) => ({
      // biome-ignore lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
      what: 'is not valid YAML: inside [ ] or { } a variable must stand in quotes, e.g. "${VAR}"',
      offset: pos[0],
    }));
  return errors.map(({ code, pos }) => {
    const what = YAML_PROBLEMS[code] ?? 'something is out of place';
    return { what: code === 'MULTIPLE_DOCS' ? what : `is not valid YAML: ${what}`, offset: pos[0] };
  });
}
