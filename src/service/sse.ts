/** Server-sent events (WHATWG HTML, section 9.2) from the bytes of an answer. */

export interface ServerEvent {
  /** Name of the event, where it has one. */
  readonly event: string | undefined;
  readonly data: string;
}

/** A line or an event longer than this, in characters, is no event of a chat. */
const longestEvent = 8 * 1024 * 1024;

/** The stream is not what a server of events sends. */
export class EventStreamFault extends Error {}

/**
 * Reads events as they come. Comments, which keep a connection alive, are passed over. The field `error`, which is in
 * no standard but which some servers send, is read as an event of that name.
 *
 * @throws EventStreamFault, and whatever `chunks` throws
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const { createParser } = await import('eventsource-parser');
  const ready: ServerEvent[] = [];
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: ({ event, data }) => ready.push({ event, data }),
    onError: error => {
      if (error.type === 'unknown-field' && error.field === 'error') {
        ready.push({ event: 'error', data: (error.value ?? '').trim() });
      }
      if (error.type === 'max-buffer-size-exceeded') throw new EventStreamFault();
    },
  });
  const decoder = new TextDecoder();
  // The parser forgets an unfinished line of an unknown field, so it is given whole lines only.
  let rest = '';
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    if (rest.length + text.length > longestEvent) throw new EventStreamFault();
    if (end === 0) {
      rest += text;
      continue;
    }
    parser.feed(rest + text.slice(0, end));
    rest = text.slice(end);
    yield* ready.splice(0);
  }
  // A last event may come without the blank line that ends it.
  parser.feed(`${rest}${decoder.decode()}\n\n`);
  yield* ready.splice(0);
}
