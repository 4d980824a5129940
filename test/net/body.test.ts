/** Reading response bodies. */
import { expect, it } from 'vitest';
import { readBody } from '../../src/net/body.ts';

it('lets other work have its turn after every 64 KB', async () => {
  const part = Buffer.alloc(16 * 1024, ' ');
  let [count, longest, sinceTurn] = [0, 0, 0];
  const look = (): void => {
    sinceTurn = 0;
    if (count < 100) setImmediate(look);
  };
  setImmediate(look);
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    // All have already arrived.
    for (; count < 100; count += 1) yield part;
  }
  const text = await readBody({ status: 200, headers: {}, chunks, close: () => {} }, 10_000_000, {
    add: ({ length }) => {
      sinceTurn += length;
      longest = Math.max(longest, sinceTurn);
    },
    text: () => `${count}`,
  });
  expect([text, longest]).toEqual(['100', 64 * 1024]);
});
