import { oversized, ToolFailure } from './failure.ts';
import { memberText } from './json-spans.ts';
import { isObject } from './json-value.ts';

/** An answer as it came. */
export interface RpcReply {
  /** The parsed `result`. */
  value: Record<string, unknown>;
  /** The raw text of `result`. */
  text: string;
}

/** A parsed answer, not yet looked at. */
export interface RpcAnswer {
  result?: unknown;
  error?: { code?: unknown; message?: unknown };
}

/** Takes the answer to one request: exactly one of `resolve` and `reject`. */
export interface AnswerReceiver {
  resolve(reply: RpcReply): void;
  reject(failure: ToolFailure): void;
  /** Largest accepted answer in bytes. */
  maxBytes: number;
}

/** Reads a parsed answer for whoever waits for it; `text` is its JSON. */
export function readAnswer(answer: RpcAnswer, text: string, receiver: AnswerReceiver): void {
  if (answer.error !== undefined && answer.error !== null) {
    receiver.reject(rpcError(answer.error));
    return;
  }
  const result = isObject(answer.result) ? memberText(text, 'result') : undefined;
  if (!isObject(answer.result) || result === undefined) {
    receiver.reject(new ToolFailure('protocol', 'bad_message', 'The tool server answered without a result'));
  } else if (isLonger(result, receiver.maxBytes)) {
    receiver.reject(oversized(receiver.maxBytes));
  } else {
    receiver.resolve({ value: answer.result, text: result });
  }
}

/** Whether a text has more than `limit` bytes; counts them only where the length leaves it open. */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit);
}

function rpcError(error: { code?: unknown; message?: unknown }): ToolFailure {
  const message = typeof error.message === 'string' ? error.message : 'The tool server refused the request';
  return new ToolFailure('tool', typeof error.code === 'number' ? `rpc_${error.code}` : 'rpc_error', message);
}

/**
 * The id of an answer that cannot be parsed, from its first and last characters: servers write it either
 * right at the start or as the very last member. Quotes inside strings are escaped, so no payload can fake it.
 */
export function findId(head: string, tail: string): number | undefined {
  const match =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(head) ??
    /[,{]\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return match === null ? undefined : Number(match[1]);
}
