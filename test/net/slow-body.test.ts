/** The reports about a body that arrives slowly, or is large. */
import { expect, it } from 'vitest';
import { readBody, reporting } from '../../src/net/body.ts';
import type { WireAnswer } from '../../src/net/wire.ts';

it('is reported every five seconds, and never for a fast body (out26 B9)', async () => {
  const read = async (msPerPart: number) => {
    let elapsed = 0;
    async function* chunks() {
      for (let part = 0; part < 12; part += 1) {
        elapsed += msPerPart;
        yield Buffer.from('12345');
      }
    }
    const reports: number[] = [];
    const answer = { headers: {}, chunks, close: () => {} } as unknown as WireAnswer;
    const slow = reporting(answer, () => elapsed, { onSlow: received => reports.push(received), onLarge: () => {} });
    expect(await readBody(slow, 1_000)).toHaveLength(60);
    return reports;
  };
  expect(await read(1_000)).toEqual([25, 50]);
  expect(await read(10)).toEqual([]);
});

it('is reported once if it is large, before it has arrived', async () => {
  const read = async (parts: number) => {
    let sent = 0;
    async function* chunks() {
      for (; sent < parts; sent += 1) yield Buffer.alloc(1024 * 1024, 'x');
    }
    const reports: number[] = [];
    const answer = { headers: {}, chunks, close: () => {} } as unknown as WireAnswer;
    const large = reporting(answer, () => 0, { onSlow: () => {}, onLarge: () => reports.push(sent) });
    await readBody(large, 10 * 1024 * 1024);
    return reports;
  };
  expect(await read(4)).toEqual([]);
  expect(await read(8)).toEqual([4]);
});
