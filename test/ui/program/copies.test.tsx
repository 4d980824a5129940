/** Copied texts, and the notices about them. */
import { afterEach, expect, it, vi } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { openView } from './actions.tsx';
import { openWorld, world } from './scripted-world.tsx';

const runs: Place = { view: 'list', resource: 'runs' };
const copied = (raw: readonly string[]): string =>
  Buffer.from(/52;c;([^\u0007]*)/.exec(raw.join(''))?.[1] ?? '', 'base64').toString();

afterEach(() => vi.unstubAllEnvs());

it('is the id of the row under the cursor, or the ids of all marked rows', async () => {
  vi.stubEnv('TMUX', '');
  const { screen, raw } = await openView(runs);
  await screen.waitFor('▸ baseline');
  await screen.press('y');
  await screen.waitFor('Sent to the clipboard: evr_1');
  expect(copied(raw)).toBe('evr_1');
  expect(screen.text()).not.toContain('tmux');
  await screen.press('space', 'space');
  await screen.waitFor('2 marked');
  await screen.press('y');
  expect(copied(raw.slice(1)).split('\n').sort()).toEqual(['evr_1', 'evr_2']);
});

it('is the id at the service in Watch too, with rows of several kinds', async () => {
  vi.stubEnv('TMUX', '');
  const screen = openWorld(world(), { view: 'watch' });
  await screen.waitFor('▸ baseline');
  await screen.press('y');
  await screen.waitFor('Sent to the clipboard: evr_1');
});

it('says what tmux needs for it, in tmux', async () => {
  vi.stubEnv('TMUX', '/tmp/tmux-0/default,1,0');
  const { screen, raw } = await openView(runs);
  await screen.waitFor('▸ baseline');
  await screen.press('y');
  await screen.waitFor('tmux needs `set -g set-clipboard on`');
  expect(raw.join('')).toContain('\u001bPtmux;');
});

it('names a sibling in the crumbs, like the one before', async () => {
  const { screen } = await openView({ view: 'list', resource: 'trajectories' });
  await screen.waitFor('▸ one');
  await screen.press('enter');
  await screen.waitFor('Trajectories › one');
  await screen.waitFor('hello');
  await screen.press(']');
  await screen.waitFor('2/2');
  expect(screen.text()).toContain('Trajectories › one');
  expect(screen.text()).not.toContain('› traj_2');
});
