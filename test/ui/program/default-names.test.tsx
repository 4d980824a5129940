/** The default names in forms: never a used one, even if the previous run has just been started. */
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { openView, sayYes } from './actions.tsx';

it.each([
  ['e', 't-words first step 2'],
  ['t', 't-words first step 2, continued'],
] as const)('%s on a checkpoint starts with the name of its step (W41)', async (key, name) => {
  const place: Place = { view: 'record', resource: 'training', id: 'trn_2', label: 'first', parent: 'bench_1' };
  const { screen } = await openView(place);
  await screen.waitFor('▸ step 2');
  await screen.press(key);
  await screen.waitFor(text => text.includes(`│ ${name} `));
});

it('follows the options until a name is typed (W41)', async () => {
  const { screen } = await openView(benchmarks);
  await screen.waitFor('▸ t-words');
  await screen.press('t');
  await screen.waitFor('│ t-words small ');
  await screen.press('tab', 'tab');
  await screen.type('9');
  await screen.waitFor('│ t-words small steps 9 ');
  await screen.press('shift-tab');
  await screen.type(' x');
  await screen.waitFor('│ t-words small steps 9 x');
  await screen.press('tab');
  await screen.type('9');
  await screen.waitFor(text => /│ 99\b/.test(text) && text.includes('│ t-words small steps 9 x '));
});

const benchmarks: Place = { view: 'list', resource: 'benchmarks' };

it.each([
  ['e', 'Evaluate on', 't-words small', 'run'],
  ['t', 'Train on', 't-words small', 'training'],
] as const)('%s starts with its own name', async (key, title, name, kind) => {
  const { screen, workbench, double } = await openView(benchmarks);
  const sentNames = () => double.requests.map(({ body }) => body && JSON.parse(body).display_name).filter(Boolean);
  await screen.waitFor('▸ t-words');
  await screen.press(key);
  await screen.waitFor(text => text.includes(title) && text.includes(`│ ${name} `));
  await sayYes(screen);
  await screen.waitFor('Started');
  expect(sentNames()).toEqual([name]);
  // As the local service repeats the name that it was sent; the double has one of its own.
  workbench.remembered.see([1, 2].map(number => ({ kind, id: `${number}`, label: number === 1 ? name : `${name} 2` })));
  await screen.press('-');
  await screen.waitFor('▸ t-words');
  await screen.press(key);
  await screen.waitFor(text => text.includes(title) && text.includes(`│ ${name} 3 `));
});
