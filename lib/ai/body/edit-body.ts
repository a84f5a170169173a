import { OPERATIONS } from '../operations.ts';
import type { AiRequest } from './ai-request.ts';
import { createMemberFinder } from './find-members.ts';

/** What a target changes in the bodies sent to it. */
export interface BodyChanges {
  /** Written over the body's own; undefined keeps it. */
  model: string | undefined;
  /** Added when the body sets no limit itself. */
  maxTokens: number | undefined;
  /** The name of the limit that the provider of a chat knows. */
  maxTokensField: 'max_completion_tokens' | 'max_tokens';
  /** Ask for usage, if the body is of a stream. */
  askUsage: boolean;
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

const findUsageOption = createMemberFinder(['include_usage'], 'stream_options.');

/**
 * Writes the owned members into a body and leaves every other byte as the caller wrote it: numbers past a double,
 * unknown members, escapes and white space survive (contract §5).
 * @throws HubError `invalid_request` when `stream_options.include_usage` occurs twice.
 */
export function editBody(request: AiRequest, changes: BodyChanges): Buffer {
  const { bytes, members, operation } = request;
  const { spans } = members;
  const edits: Edit[] = [];
  let added = '';

  if (changes.model !== undefined) {
    const text = JSON.stringify(changes.model);
    if (spans.model !== undefined)
      edits.push({ start: spans.model.valueStart, end: spans.model.valueEnd, text });
    else added += `"model":${text},`;
  }

  const { limits } = OPERATIONS[operation];
  if (operation === 'chat.completions' && changes.maxTokensField === 'max_tokens') {
    const own = spans.max_completion_tokens;
    if (own !== undefined && spans.max_tokens === undefined) {
      edits.push({ start: own.keyStart, end: own.keyEnd, text: '"max_tokens"' });
    }
  }
  const limit = operation === 'chat.completions' ? changes.maxTokensField : limits[0];
  if (changes.maxTokens !== undefined && limit !== undefined && !limits.some((name) => spans[name])) {
    added += `"${limit}":${changes.maxTokens},`;
  }

  if (request.stream && changes.askUsage && OPERATIONS[operation].hasUsageOption) {
    const span = spans.stream_options;
    const options = request.document.stream_options;
    if (span === undefined) added += '"stream_options":{"include_usage":true},';
    else if (options === null) {
      edits.push({ start: span.valueStart, end: span.valueEnd, text: '{"include_usage":true}' });
    } else if (typeof options === 'object' && !Array.isArray(options)) {
      edits.push(usageOptionEdit(bytes, span.valueStart));
    }
  }

  if (added !== '') {
    const text = members.isEmpty ? added.slice(0, -1) : added;
    edits.push({ start: members.open, end: members.open, text });
  }
  return edits.length === 0 ? bytes : applyEdits(bytes, edits);
}

/** Sets `include_usage` within the caller's own `stream_options`, whose other members stay. */
function usageOptionEdit(bytes: Buffer, start: number): Edit {
  const { spans, open, isEmpty } = findUsageOption(bytes, start);
  const own = spans.include_usage;
  if (own !== undefined) return { start: own.valueStart, end: own.valueEnd, text: 'true' };
  return { start: open, end: open, text: isEmpty ? '"include_usage":true' : '"include_usage":true,' };
}

function applyEdits(bytes: Buffer, edits: Edit[]): Buffer {
  edits.sort((a, b) => a.start - b.start);
  let size = bytes.length;
  for (const { start, end, text } of edits) size += Buffer.byteLength(text) - (end - start);
  const edited = Buffer.allocUnsafe(size);
  let from = 0;
  let to = 0;
  for (const { start, end, text } of edits) {
    to += bytes.copy(edited, to, from, start);
    to += edited.write(text, to);
    from = end;
  }
  bytes.copy(edited, to, from);
  return edited;
}
