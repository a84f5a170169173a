import type { Dispatcher } from 'undici';

/** One request to the platform. */
export interface Exchange {
  method: 'POST' | 'PUT' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  body: string | Iterable<Buffer> | null;
  /** Milliseconds that the platform may fall silent. While the body flows no clock runs out. */
  silenceMs: number;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

const LONGEST_ANSWER = 1024 * 1024;

/** Sends a request and reads its answer. Rejects when the network fails, the platform falls silent or `signal` aborts. */
export async function exchange(
  dispatcher: Dispatcher,
  { method, url, headers, body, silenceMs }: Exchange,
  signal: AbortSignal,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url);
  // Not AbortSignal.any: it would hold on to a signal a chunk for as long as the upload runs.
  const stop = new AbortController();
  const leave = () => stop.abort(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => stop.abort(new Error('the platform fell silent')), silenceMs);
  try {
    const answer = await dispatcher.request({
      origin,
      path: pathname + search,
      method,
      headers,
      body: body === null || typeof body === 'string' ? body : (watched(body, timer) as never),
      signal: stop.signal,
    });
    let text = '';
    answer.body.setEncoding('utf8');
    for await (const chunk of answer.body) {
      timer.refresh();
      if (text.length < LONGEST_ANSWER) text += chunk;
    }
    return { status: answer.statusCode, headers: answer.headers, text };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

/** Passes the pieces of a body on; each one that is asked for shows that the platform still reads. */
function* watched(body: Iterable<Buffer>, timer: NodeJS.Timeout): Generator<Buffer> {
  for (const piece of body) {
    timer.refresh();
    yield piece;
  }
  timer.refresh();
}
