/** What the parser's codes mean to an operator. Its own messages quote the file, which may hold secrets. */
export const YAML_PROBLEMS: Partial<Record<string, string>> = {
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
