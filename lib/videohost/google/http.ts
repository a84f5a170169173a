import type { Dispatcher } from 'undici';

/** One bounded call: nothing streams in either direction. */
export interface HttpCall {
  method: string;
  url: string | URL;
  headers: Record<string, string>;
  body: string | undefined;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** An answer of these endpoints is some kilobytes. */
const LONGEST_ANSWER = 1024 * 1024;

/** Sends a call and reads the whole answer. @throws the network's error, or the signal's reason */
export async function callHttp(dispatcher: Dispatcher, call: HttpCall): Promise<HttpAnswer> {
  const { method, headers, body, signal } = call;
  const url = new URL(call.url);
  const answer = await dispatcher.request({
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: method as Dispatcher.HttpMethod,
    headers,
    body: body ?? null,
    signal,
  });
  let text = '';
  answer.body.setEncoding('utf8');
  for await (const chunk of answer.body) {
    text += chunk;
    if (text.length > LONGEST_ANSWER) throw new Error('the answer is too long');
  }
  return { status: answer.statusCode, headers: answer.headers, text };
}
