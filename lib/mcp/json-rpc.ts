import { HubError } from '../errors/hub-error.ts';
import { memberText } from './json-spans.ts';
import { isObject } from './json-value.ts';

/** Error codes of JSON-RPC 2.0 §5.1 that the hub answers with. */
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** One request of a client. */
export interface RpcRequest {
  /** Raw text of the id, for the answer. */
  id: string;
  /** The id in one spelling, for finding the request again. */
  key: string;
  method: string;
  params: Record<string, unknown>;
  /** Raw text of the params; an empty object where they are missing. */
  paramsText: string;
}

export interface RpcNotification {
  method: string;
  params: Record<string, unknown>;
}

/** An answer to a request of the hub. */
export interface RpcResponse {
  id: unknown;
  answer: { result: string } | { error: { code: number; message: string } };
}

/** A message of a client: one of the three. */
export interface RpcMessage {
  request?: RpcRequest;
  notification?: RpcNotification;
  response?: RpcResponse;
}

/**
 * Reads one parsed message; `text` is its JSON.
 * @throws HubError `invalid_request` when it is none.
 */
export function readMessage(value: unknown, text: string): RpcMessage {
  if (!isObject(value)) throw new HubError('invalid_request', 'A JSON-RPC message must be an object');
  const { id, method } = value;
  if (typeof method !== 'string') {
    if ('result' in value || 'error' in value) return { response: readResponse(value, text) };
    throw new HubError('invalid_request', 'A JSON-RPC message needs a method', { param: 'method' });
  }
  const params = isObject(value.params) ? value.params : {};
  if (id === undefined) return { notification: { method, params } };
  if (typeof id !== 'string' && typeof id !== 'number') {
    throw new HubError('invalid_request', 'A JSON-RPC id must be a text or a number', { param: 'id' });
  }
  const paramsText = isObject(value.params) ? memberText(text, 'params') : undefined;
  return {
    request: {
      id: memberText(text, 'id') ?? 'null',
      key: JSON.stringify(id),
      method,
      params,
      paramsText: paramsText ?? '{}',
    },
  };
}

function readResponse({ id, error }: Record<string, unknown>, text: string): RpcResponse {
  if (!isObject(error)) return { id, answer: { result: memberText(text, 'result') ?? '{}' } };
  const { code, message } = error;
  return {
    id,
    answer: { error: { code: typeof code === 'number' ? code : INTERNAL_ERROR, message: String(message) } },
  };
}

/** The answer to a request; `result` is JSON text on one line. */
export function reply(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

/** The refusal of a request. */
export function refusal(id: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message })}}`;
}
