/** The action menu of a run’s view: actions for the run, and for a rollout. */
import { expect, it } from 'vitest';
import { pageOf } from '../../../queries/scripted-service.ts';
import { openWorld, world } from '../../program/scripted-world.tsx';

it('names what the actions apply to, and offers those of its rollouts (B20)', async () => {
  const service = world('completed');
  const row = { trajectory_id: 'traj_1', task_id: 'task-1', status: 'completed', reward: 0.5, eval_run_id: 'evr_1' };
  service.answers.listTrajectories = () => pageOf([row]);
  const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
  await screen.waitFor('task-1');
  await screen.press('a');
  await screen.waitFor('┌─ run baseline, rollout task-1 ─');
  for (const words of [
    /▸ how they ended: .*\(f\)/,
    /spread and pass@k {2}\(V\)/,
    /length: .*\(L\)/,
    /\(ctrl-s\)/,
    /\(R\)/,
  ])
    expect(screen.text()).toMatch(words);
  expect(screen.text()).toMatch(/ delete the run {2}\(d\).*\n.* rollout: flag it: /);
  await screen.press('enter');
  await screen.waitFor('CLASS');
});

it('shows the run’s own flag and note above its rollouts and in its facts (out30 B8)', async () => {
  const screen = openWorld(world('completed'), { view: 'record', resource: 'runs', id: 'evr_1' });
  await screen.waitFor('baseline');
  const run = { kind: 'run', id: 'evr_1', label: 'baseline' };
  screen.workbench.notes.say([run], { flag: 'gamed', text: 'it counts' });
  await screen.waitFor('flagged gamed  ·  it counts');
  await screen.waitFor('gamed - it counts');
  await screen.press(':');
  await screen.type('runs');
  await screen.press('enter');
  await screen.waitFor(text => /RUN +FLAG .*\n(?:.*\n)*.*gamed - it counts/.test(text));
});

it('names both subjects and all keys on a narrow terminal with long names (C3)', async () => {
  const service = world('completed');
  const name = `${'n'.repeat(45)} ${'m'.repeat(44)}`;
  const row = { trajectory_id: 'traj_1', task_id: name, status: 'completed', reward: 0.5, eval_run_id: 'evr_1' };
  const run = service.answers.getEvalRun?.({}, {}) as object;
  service.answers.getEvalRun = () => ({ ...run, display_name: name });
  service.answers.listTrajectories = () => pageOf([row]);
  const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' }, { columns: 60 });
  await screen.waitFor(text => /▸ n{5}/.test(text));
  await screen.press('a');
  await screen.waitFor(text => /┌─ run n{10,}…, rollout n{10,}… ─/.test(text));
  for (const words of [/how they ended: .*… {2}\(f\)/, /rollout: flag it: .*… {2}\(1, 2, 3, …\)/])
    expect(screen.text()).toMatch(words);
});
