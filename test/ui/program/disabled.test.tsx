/** A key that does nothing now says why: the reason is declared with the action. */
import { expect, it } from 'vitest';
import { openView } from './actions.tsx';

it.each([
  ['runs', ['down', 'c'], 'Disabled: cancel the run. It has already ended'],
  ['training', ['d'], 'Disabled: delete the run. It has not ended yet: cancel it first'],
  ['deployments', ['e'], 'It already serves its slug'],
  ['deployments', ['down', 'u'], 'It does not serve its slug'],
  ['deployments', ['space', 'space', 't'], '2 are marked; this works on one at a time'],
  ['trajectories', ['down', '+'], 'Disabled: log a reward to it. It has already ended'],
  ['datasets', ['ctrl-r'], 'There is no unfinished upload'],
] as const)('in %s after %j', async (resource, keys, words) => {
  const { double, screen } = await openView({ view: 'list', resource });
  await screen.waitFor('▸');
  await screen.press(...keys);
  await screen.waitFor(words);
  expect(double.writes()).toEqual([]);
});

it('uses an end that is known before the list is read again', async () => {
  const { screen, workbench } = await openView({ view: 'list', resource: 'training' });
  await screen.waitFor('▸');
  const run = workbench.statuses.all().find(({ kind, status }) => kind === 'training' && status === 'running');
  const now = Date.now();
  workbench.statuses.report([{ kind: 'training', id: run?.id ?? '', status: 'cancelled' }], { askedAt: now, at: now });
  await screen.waitFor(text => /▸ .*‖/.test(text));
  await screen.press('d');
  await screen.waitFor('Delete this training run?');
});
