import { StringDecoder } from 'node:string_decoder';

/** One server-sent event with data. */
export interface SseEvent {
  /** `message` when the stream names none. */
  name: string;
  data: string;
}

export interface SseParser {
  push(chunk: Buffer): void;
  /** The last event id, sent with a reconnection; undefined before the first one. */
  lastEventId(): string | undefined;
  /** The server's wish for the time before a reconnection, in ms. */
  retryMs(): number | undefined;
}

export interface SseParserDeps {
  /** Characters that one event may hold. */
  maxLength: number;
  event(event: SseEvent): void;
  /** An event grew past the bound; nothing is parsed any more. */
  overflow(): void;
}

/** Reads an event stream cut up anywhere (WHATWG HTML §9.2.6). */
export function createSseParser({ maxLength, event, overflow }: SseParserDeps): SseParser {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let name = '';
  let data: string[] = [];
  let held = 0;
  let lastId: string | undefined;
  let retry: number | undefined;
  let broken = false;
  let afterCr = false;

  function lineOf(line: string): void {
    if (line === '') {
      const text = data.join('\n');
      // A priming event carries an id and empty data: it is no message.
      if (text !== '') event({ name: name === '' ? 'message' : name, data: text });
      name = '';
      data = [];
      held = 0;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (field === 'data') {
      data.push(value);
      held += value.length;
    } else if (field === 'event') name = value;
    else if (field === 'id' && !value.includes('\0')) lastId = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) retry = Number(value);
  }

  return {
    push(chunk) {
      if (broken) return;
      let text = decoder.write(chunk);
      // The CR of a CR LF that was cut in two has ended its line already.
      if (afterCr && text.startsWith('\n')) text = text.slice(1);
      if (text !== '') afterCr = text.endsWith('\r');
      rest += text;
      // Without a line end in it, a chunk is only kept: searching it again and again would be superlinear.
      if (/[\r\n]/.test(text)) {
        const lines = rest.split(/\r\n|\n|\r/);
        rest = lines.pop() ?? '';
        for (const line of lines) lineOf(line);
      }
      if (rest.length + held <= maxLength) return;
      broken = true;
      rest = '';
      data = [];
      overflow();
    },
    lastEventId: () => lastId,
    retryMs: () => retry,
  };
}
