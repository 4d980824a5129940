/** Every view of the built program, reached as a user would, and shown at every size. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PopulatedHome, populatedHome } from './populated.ts';
import { openSession, type Session } from './session.ts';
import { go, goWay, sizes, viewed, viewSessions } from './views.ts';

let home: PopulatedHome;
let session: Session;
beforeAll(async () => {
  home = await populatedHome(viewed);
  const [[columns, rows]] = sizes;
  session = openSession(home.env, { columns, rows });
  await session.waitFor('▸ t-words');
});
afterAll(async () => {
  session.press('esc', 'esc', 'ctrl-c');
  expect((await session.ended).exitCode).toBe(0);
  expect(session.leftOn()).toEqual([]);
  await home.remove();
});

it.each(viewSessions)('$name', async ({ way, shows, selected, back = [] }) => {
  await goWay(session, [...go('benchmarks'), { see: /▸ t-words (.|\n)*opposites/ }, ...way]);
  for (const [columns, rows] of sizes) {
    session.resize(columns, rows);
    // Framed on all sides, at any size.
    await session.waitFor(new RegExp(`^┌.{${columns - 2}}┐\\n(.*\\n){${rows - 2}}└.{${columns - 2}}┘$`));
    for (const words of shows) await session.waitFor(words);
    if (selected) await session.waitFor(`▸ ${selected}`);
  }
  await goWay(session, back);
});
