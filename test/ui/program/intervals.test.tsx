/** The interval of a run’s mean: the same in its view, in lists and in Watch, and absent if it would be wrong. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runMeanOf } from '../../../src/queries/run-mean.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { reward } from '../../../src/text/numbers.ts';
import { testFolder } from '../../commands/cli.ts';
import { eventually } from '../../eventually.ts';
import { pageOf, scriptedService } from '../../queries/scripted-service.ts';
import { randomRuns } from '../../random-runs.ts';
import { openProgram } from './rig.tsx';
import { often } from './scripted-world.tsx';

const { runs, answers } = randomRuns(1);
const nameOf = ({ record }: (typeof runs)[number]): string => record.display_name ?? '';

/** The limits that the run's view shows. */
function limitsOf({ rewards, record, total }: (typeof runs)[number]): string | undefined {
  const { interval, isUncounted } = runMeanOf(rewards, { status: record.status, total });
  return interval && !isUncounted ? `${reward(interval.low)}..${reward(interval.high)}` : undefined;
}

function open(view: 'list' | 'watch', more: object = {}) {
  const scripted = scriptedService({ ...answers });
  const start = view === 'watch' ? ({ view } as const) : ({ view, resource: 'runs' } as const);
  const rig = openProgram({ service: scripted.service, start, columns: 240, rows: 40, poll: often, ...more });
  let isOpen = true;
  const close = (): void => {
    if (isOpen) rig.close();
    isOpen = false;
  };
  onTestFinished(close);
  // The line in the main pane.
  const line = (name: string): string => {
    const lines = rig.screen.text().split('\n');
    return lines.map(text => text.split('│')[2] ?? '').find(text => text.includes(` ${name} `)) ?? '';
  };
  return { ...scripted, ...rig, line, close };
}

const ended = runs.filter(({ record }) => record.status === 'completed');

it('is read once for the completed runs of a list, and is the same for the run (A1, A3, A9, B3)', async () => {
  const { line, asked, screen } = open('list');
  for (const run of ended) {
    const limits = limitsOf(run);
    if (limits) await eventually(() => expect(line(nameOf(run))).toContain(limits));
  }
  for (const run of runs) if (!limitsOf(run)) expect(line(nameOf(run))).not.toMatch(/\d\.\.\d/);
  for (const { record } of ended) expect(asked('getTrajectoryRewards', record.eval_run_id)).toBeLessThanOrEqual(2);
  expect(screen.text()).toContain('95% CI');
});

it('is the same for the run in Watch, whose mean shows that more rewards may come (A9, C15)', async () => {
  const { line, workbench, asked } = open('watch');
  for (const run of runs) workbench.pins.toggle({ kind: 'run', id: run.record.eval_run_id, label: nameOf(run) });
  for (const run of ended) {
    const limits = limitsOf(run);
    if (limits) await eventually(() => expect(line(nameOf(run))).toContain(limits));
    else await eventually(() => expect([1, 2]).toContain(asked('getTrajectoryRewards', run.record.eval_run_id)));
  }
  for (const run of runs) if (!limitsOf(run)) expect(line(nameOf(run))).not.toMatch(/\d\.\.\d/);
  const open_ = runs.find(({ shape }) => shape === 'neither status nor total');
  const words = `${reward(open_?.record.reward_mean)} n=${open_?.rewards.length}+`;
  await eventually(() => expect(line(open_ ? nameOf(open_) : '')).toContain(words));
});

it('is remembered, and not read again after a restart', async () => {
  const path = join(testFolder(), 'state.db');
  const remembered = () => RememberedStore.open(path, 'test');
  const first = open('list', { remembered });
  const shows = async ({ line }: typeof first): Promise<void> => {
    for (const run of ended) {
      const limits = limitsOf(run);
      if (limits) await eventually(() => expect(line(nameOf(run))).toContain(limits));
    }
  };
  await shows(first);
  const ids = ended.map(({ record }) => record.eval_run_id);
  const { statuses } = first.workbench;
  for (const id of ids) await eventually(() => expect(statuses.get({ kind: 'run', id })?.certainty).toBeDefined());
  first.close();
  const second = open('list', { remembered });
  await shows(second);
  // The preview of the run under the cursor draws its rewards.
  const selected = runs[0]?.record.eval_run_id;
  for (const id of ids.filter(each => each !== selected)) expect(second.asked('getTrajectoryRewards', id)).toBe(0);
});

it.each(['watch', 'list'] as const)(
  'shows in the facts of a running evaluation what it covers: %s (B4)',
  async view => {
    const id = 'evr_half';
    const record = {
      eval_run_id: id,
      bench_id: 'bench_1',
      display_name: 'half',
      status: 'running',
      options: { evaluation_samples_per_task: 1 },
    };
    const rewards = Array.from({ length: 40 }, (_, index) => ({
      ...{ trajectory_id: `r${index}`, task_id: `t${index}`, reward: index % 2 },
    }));
    const { service } = scriptedService({
      ...answers,
      listEvalRuns: () => [record],
      getEvalRun: () => record,
      getEvalProgress: () => ({ ...record, terminal_rollouts: 40, total_rollouts: 64 }),
      getTrajectoryRewards: () => ({ trajectory_rewards: rewards }),
      listTrajectories: () => pageOf([]),
    });
    const start = view === 'watch' ? ({ view } as const) : ({ view, resource: 'runs' } as const);
    const rig = openProgram({ service, start, columns: 300, rows: 40, poll: often });
    onTestFinished(rig.close);
    const inspector = (text: string): string =>
      text
        .split('\n')
        .map(line => line.split('│').at(-2)?.trim() ?? '')
        .join(' ');
    await rig.screen.waitFor(text =>
      /interval +95% CI 0\.\d+ to 0\.\d+ over 40 tasks, with 24 of 64 rewards missing/.test(inspector(text)),
    );
  },
);
