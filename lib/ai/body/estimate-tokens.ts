/**
 * Rough token counts for calls whose provider reported none. They are always marked estimated; four characters a
 * token is the rule of thumb of the field.
 */
const CHARS_PER_TOKEN = 4;
/** What a message costs beside its text. */
const TOKENS_PER_MESSAGE = 4;
/** The cheapest price of an image among the providers. */
const TOKENS_PER_IMAGE = 85;

export function tokensOfChars(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** Tokens of a chat, completion, embeddings or responses body. Reads lengths only, so that it costs nearly nothing. */
export function estimatePromptTokens(document: Record<string, unknown>): number {
  const list = document.messages ?? document.input ?? document.prompt;
  let tokens = typeof document.instructions === 'string' ? tokensOfChars(document.instructions.length) : 0;
  if (typeof list === 'string') return tokens + tokensOfChars(list.length);
  if (!Array.isArray(list)) return tokens;
  for (const entry of list) tokens += tokensOfEntry(entry);
  return tokens;
}

function tokensOfEntry(entry: unknown): number {
  if (typeof entry === 'string') return tokensOfChars(entry.length);
  if (typeof entry === 'number') return 1;
  if (Array.isArray(entry)) return entry.length;
  if (typeof entry !== 'object' || entry === null) return 0;
  const { content } = entry as { content?: unknown };
  if (typeof content === 'string') return TOKENS_PER_MESSAGE + tokensOfChars(content.length);
  if (!Array.isArray(content)) return TOKENS_PER_MESSAGE;
  let tokens = TOKENS_PER_MESSAGE;
  for (const part of content) {
    const text = (part as { text?: unknown } | null)?.text;
    tokens += typeof text === 'string' ? tokensOfChars(text.length) : TOKENS_PER_IMAGE;
  }
  return tokens;
}
