import { expect, it } from 'vitest';
import { EventStreamError, readEvents, type ServerEvent } from '../../src/service/chat.ts';

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function eventsOf(text: string | Uint8Array, size = 1_000_000): Promise<ServerEvent[]> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  const events: ServerEvent[] = [];
  for await (const event of readEvents(chunksOf(bytes, size))) events.push(event);
  return events;
}

const data = (...texts: string[]) => texts.map(text => ({ event: undefined, data: text }));

it.each([
  ['blank lines', 'data: a\n\ndata: b\n\n', data('a', 'b')],
  ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', data('a', 'b')],
  ['no space, several lines', 'data:a\ndata:b\n\n', data('a\nb')],
  ['a byte order mark', '\ufeffdata: a\n\n', data('a')],
  ['comments', ': ping\n\ndata: a\n: ping\n\n: ping\n', data('a')],
  ['a name', 'event: error\ndata: a\n\n', [{ event: 'error', data: 'a' }]],
  ['a last event without a blank line', 'data: a\n\ndata: [DONE]', data('a', '[DONE]')],
  ['a last event with one line end', 'data: a\n\ndata: [DONE]\n', data('a', '[DONE]')],
  [
    'a field called error',
    'data: a\n\nerror: {"message": "no slot"}\n\n',
    [...data('a'), { event: 'error', data: '{"message": "no slot"}' }],
  ],
  ['characters of several bytes', 'data: zażółć 😀\n\n', data('zażółć 😀')],
  ['nothing', '', []],
])('reads %s, in chunks of any size', async (_, text, expected) => {
  for (const size of [1, 2, 3, 7, 1_000]) expect(await eventsOf(text, size)).toEqual(expected);
});

it('yields each event as soon as it is complete', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('data: a\n\ndata: b');
    await promise;
  }
  const events = readEvents(chunks());
  expect((await events.next()).value).toEqual({ event: undefined, data: 'a' });
  resolve();
  expect((await events.next()).value).toEqual({ event: undefined, data: 'b' });
});

it('accepts a long event, and refuses an endless one', async () => {
  const long = 'x'.repeat(1024 * 1024);
  expect(await eventsOf(`data: ${long}\n\n`, 16_384)).toEqual(data(long));
  const oneLine = `data: ${'x'.repeat(9 * 1024 * 1024)}`;
  await expect(eventsOf(oneLine, 65_536)).rejects.toBeInstanceOf(EventStreamError);
  const manyLines = 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n'.repeat(200_000);
  await expect(eventsOf(manyLines, 65_536)).rejects.toBeInstanceOf(EventStreamError);
});
