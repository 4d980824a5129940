/** Every view of the built program, at every size, reached as a user would. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PopulatedHome, populatedHome } from './populated.ts';
import { openSession } from './session.ts';
import { goWay, sizes, viewSessions } from './views.ts';

let home: PopulatedHome;
beforeAll(async () => {
  home = await populatedHome();
}, 60_000);
afterAll(() => home.remove());

describe.each(sizes)('at %i×%i', (columns, rows) => {
  it.each(viewSessions)('$name', async ({ way, shows, selected }) => {
    const session = openSession(home.env, { columns, rows });
    await session.waitFor('▸ t-words');
    await goWay(session, way);
    for (const words of shows) await session.waitFor(words);
    if (selected) await session.waitFor(`▸ ${selected}`);
    const lines = session.text().split('\n');
    // Framed on all sides, at any size.
    expect(lines[0]).toMatch(/^┌.*┐$/);
    expect(lines.at(-1)).toMatch(/^└.*┘$/);
    session.press('esc', 'esc', 'ctrl-c');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });
});
