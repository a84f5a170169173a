import type { ReportedUsage } from '../call-facts.ts';

/**
 * Reads a usage object of the chat, completions and embeddings routes (`prompt_tokens`, `completion_tokens`) or of
 * the responses route (`input_tokens`, `output_tokens`). Zero is a count like any other; undefined only when the
 * object holds no count at all.
 */
export function readUsage(value: unknown): ReportedUsage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = value as Record<string, unknown>;
  const prompt = countOf(usage.prompt_tokens) ?? countOf(usage.input_tokens);
  const completion = countOf(usage.completion_tokens) ?? countOf(usage.output_tokens);
  if (prompt === undefined && completion === undefined) return undefined;
  const read: ReportedUsage = { prompt: prompt ?? 0, completion: completion ?? 0 };
  const cached =
    detailOf(usage.prompt_tokens_details, 'cached_tokens') ??
    detailOf(usage.input_tokens_details, 'cached_tokens');
  const reasoning =
    detailOf(usage.completion_tokens_details, 'reasoning_tokens') ??
    detailOf(usage.output_tokens_details, 'reasoning_tokens');
  if (cached !== undefined) read.cached = cached;
  if (reasoning !== undefined) read.reasoning = reasoning;
  return read;
}

function detailOf(details: unknown, name: string): number | undefined {
  return typeof details === 'object' && details !== null
    ? countOf((details as Record<string, unknown>)[name])
    : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
