/**
 * The data of one server-sent event, its `data` lines joined by LF (WHATWG HTML §9.2.6); undefined when the event
 * has none.
 */
export function eventData(frame: string): string | undefined {
  let data: string | undefined;
  const text = frame.startsWith('\uFEFF') ? frame.slice(1) : frame;
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line !== 'data' && !line.startsWith('data:')) continue;
    const value = line.slice(line.startsWith('data: ') ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }
  return data;
}

/** The name of one server-sent event; undefined when it has none. */
export function eventName(frame: string): string | undefined {
  return /(?:^|[\r\n])event: ?([^\r\n]*)/.exec(frame)?.[1];
}
