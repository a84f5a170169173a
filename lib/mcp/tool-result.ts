import { ToolFailure } from './failure.ts';
import { withMembers } from './json-spans.ts';
import type { RpcReply } from './rpc-answer.ts';
import type { ToolResult } from './tool-server.ts';

/**
 * A tool's answer as the result of the invocation: the server's own text, with `isError` (and an empty
 * `content`) where it left them out.
 *
 * @throws ToolFailure `protocol` when the answer is no tool result.
 */
export function toToolResult({ value, text }: RpcReply): ToolResult {
  if (value.content !== undefined && !Array.isArray(value.content)) {
    throw new ToolFailure('protocol', 'bad_result', 'The tool answered with a content that is not a list');
  }
  const missing: string[] = [];
  if (value.content === undefined) missing.push('"content":[]');
  if (typeof value.isError !== 'boolean') missing.push('"isError":false');
  return {
    text: missing.length === 0 ? text : withMembers(text, missing.join(',')),
    isError: value.isError === true,
  };
}

/** A result of the hub itself: one text. */
export function textResult(text: string, isError: boolean): ToolResult {
  return { text: JSON.stringify({ content: [{ type: 'text', text }], isError }), isError };
}
