/** A view that fails is shown as a pane, and the program goes on: a session of torture has to notice it all the same. */
import { expect, it, vi } from 'vitest';
import { breadthSession } from '../../tools/torture/breadth.ts';
import { makeWorld } from '../../tools/torture/world.ts';

vi.mock('../../src/ui/app/help.tsx', () => ({
  HelpOverlay: () => {
    throw new TypeError('help is broken');
  },
}));

it('a session in which a window fails is a failure, with its stack', async () => {
  const world = await makeWorld();
  const { failures } = await breadthSession({ world, seed: 'one', keys: 1 });
  world.remove();
  expect(failures.map(({ what }) => what).join('\n')).toMatch(/survives: TypeError: help is broken\n +at HelpOverlay/);
});
