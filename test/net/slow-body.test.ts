/** The progress of a body that arrives slowly. */
import { expect, it } from 'vitest';
import { readBody, reportingSlow } from '../../src/net/body.ts';
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
    const slow = reportingSlow(
      answer,
      () => elapsed,
      received => reports.push(received),
    );
    expect(await readBody(slow, 1_000)).toHaveLength(60);
    return reports;
  };
  expect(await read(1_000)).toEqual([25, 50]);
  expect(await read(10)).toEqual([]);
});
