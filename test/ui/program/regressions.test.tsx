/** Regressions among many tasks: from the changed number to the text that caused it, with few keys and requests. */
import { expect, it, onTestFinished } from 'vitest';
import type { TrajectoryMessage } from '../../../src/contract/trajectories.ts';
import { fakeService } from '../../service/fake-service.ts';
import { openProgram } from './rig.tsx';

const taskCount = 2_000;

type Messages = readonly Partial<TrajectoryMessage>[];
interface Rollout {
  readonly reward: number | null;
  /** The messages after twenty steps that are the same in both runs. */
  readonly ends: readonly Messages[];
  readonly more?: object;
}
interface Planted {
  readonly kind: string;
  readonly base: readonly Rollout[];
  readonly new: readonly Rollout[];
  /** Words of each side that must be on screen; undefined for none. */
  readonly shows: readonly [base: string | undefined, fresh: string | undefined];
  /** They are on one side only, so that no words are marked as different. */
  readonly isAlone?: true;
}

const assistantMessages = (content: string): Messages => [{ role: 'assistant', content }];
const cutOff = (content: string): Messages => [{ role: 'assistant', content, finish_reason: 'length' }];
const long = (count: number, between: string, middle: string): string => {
  const lines = Array.from({ length: count }, (_, index) => `Then the part ${index} of the plan is done.`);
  return [...lines, middle, ...lines].join(between);
};
const calling = (query: string): Messages => [
  {
    role: 'assistant',
    content: 'I look it up.',
    tool_calls: JSON.stringify([{ id: `call ${query}`, name: 'lookup', arguments: { query } }]),
  },
];
const thinking = (end: string, answer: string): Messages => [
  { role: 'assistant', content: answer, reasoning: `${'It may be one, or it may be the other. '.repeat(300)}${end}` },
];
const won = (...ends: readonly Messages[]): Rollout => ({ reward: 1, ends });
const lost = (reward: number, ...ends: readonly Messages[]): Rollout => ({ reward, ends });
const graded = (explanation: string): object => ({ rewards: [{ name: 'judge', value: 0.2, explanation }] });
const answer = assistantMessages('The answer is 42.');

/** In the order of their losses; after them come a gain, and tasks without a reward in the new run. */
const planted: readonly Planted[] = [
  {
    kind: 'a sentence in a long answer',
    base: [won(assistantMessages(long(90, '\n', 'It keeps the old file.')))],
    new: [lost(0, assistantMessages(long(90, '\n', 'It deletes the old file.')))],
    shows: ['It keeps the', 'It deletes the'],
  },
  {
    kind: 'a sentence in a long paragraph',
    base: [won(assistantMessages(long(400, ' ', 'Nobody may touch it.')))],
    new: [lost(0.05, assistantMessages(long(400, ' ', 'Nobody can touch it.')))],
    shows: ['may', 'can'],
  },
  {
    kind: 'another argument of a tool',
    base: [won(calling('capital of France'), answer)],
    new: [lost(0.1, calling('capital of Finland'), answer)],
    shows: ['France', 'Finland'],
  },
  {
    kind: 'an answer that is cut off',
    base: [won(assistantMessages(`${'The proof goes on. '.repeat(40)}Hence it holds.`))],
    new: [lost(0.15, cutOff(`${'The proof goes on. '.repeat(40)}Hence it`))],
    shows: ['holds.', 'finish length'],
    isAlone: true,
  },
  {
    kind: 'a refusal',
    base: [won(answer)],
    new: [lost(0.2, assistantMessages('I cannot help with that.'))],
    shows: ['The answer is 42.', 'I cannot help'],
  },
  {
    kind: "a grader's explanation",
    base: [{ ...won(answer), more: graded('right and short') }],
    new: [{ ...lost(0.25, answer), more: graded('right but rude') }],
    shows: ['right and short', 'right but rude'],
  },
  {
    kind: 'reasoning with another end',
    base: [won(thinking('So it is the first.', 'A'))],
    new: [lost(0.3, thinking('So it is neither, and I stop here.', 'A'))],
    shows: ['first', 'neither'],
  },
  {
    kind: 'a step more',
    base: [won(calling('weather'), answer)],
    new: [lost(0.35, calling('weather'), assistantMessages('I look again.'), answer)],
    shows: [undefined, 'I look again.'],
  },
  {
    kind: 'one of four rollouts',
    base: [won(answer), won(answer), won(answer), won(answer)],
    new: [won(answer), won(answer), lost(0, assistantMessages('The answer is 24.')), won(answer)],
    shows: ['The answer is 42.', 'The answer is 24.'],
  },
  {
    kind: 'a gain',
    base: [lost(0, assistantMessages('I do not know.'))],
    new: [won(answer)],
    shows: ['I do not know.', 'The answer is 42.'],
  },
  {
    kind: 'a failed execution',
    base: [won(answer)],
    new: [{ reward: null, ends: [], more: { status: 'failed', error: 'the sandbox was lost' } }],
    shows: ['The answer is 42.', 'the sandbox was lost'],
    isAlone: true,
  },
];
const missing: Planted = { kind: 'no rollout', base: [won(answer)], new: [], shows: ['The answer is 42.', undefined] };

/** The planted tasks lie anywhere among the others. */
const plantedAt = new Map([...planted, missing].map((each, index) => [(index * 661 + 7) % taskCount, each]));
const same: Planted = { kind: 'as before', base: [won(answer)], new: [won(answer)], shows: [undefined, undefined] };
const sides = { evr_old: 'base', evr_new: 'new' } as const;

function manyTasks() {
  const asked: string[] = [];
  const run = (eval_run_id: string) => ({
    ...{
      eval_run_id,
      bench_id: 'b1',
      status: 'completed',
      display_name: eval_run_id === 'evr_old' ? 'before' : 'after',
    },
    created_at: eval_run_id === 'evr_old' ? '2026-01-01T00:00:00Z' : '2026-01-02T00:00:00Z',
  });
  const service = fakeService({
    listEvalRuns: () => [run('evr_new'), run('evr_old')],
    getEvalProgress: ({ params }) => ({
      ...{ eval_run_id: String(params.eval_run_id), status: 'completed' },
      ...{ terminal_rollouts: taskCount + 3, total_rollouts: taskCount + 3 },
    }),
    getRolloutStatistics: () => ({ snapshots: [] }),
    getEvalRun: ({ params }) => run(String(params.eval_run_id)),
    getTrajectoryRewards: ({ params }) => ({
      trajectory_rewards: Array.from({ length: taskCount }, (_, task) =>
        (plantedAt.get(task) ?? same)[sides[params.eval_run_id as keyof typeof sides]].map(({ reward }, index) => ({
          ...{ task_id: `task-${task}`, trajectory_id: `${params.eval_run_id}/${task}/${index}`, reward },
        })),
      ).flat(),
    }),
    getTrajectory: ({ params }) => {
      const id = String(params.trajectory_id);
      asked.push(id);
      const [run = '', task, index] = id.split('/');
      const rollout = (plantedAt.get(Number(task)) ?? same)[sides[run as keyof typeof sides]][Number(index)];
      const before = Array.from({ length: 20 }, (_, step) =>
        assistantMessages(`This is step ${step} of task ${task}.`),
      );
      return {
        ...{
          trajectory_id: id,
          task_id: `task-${task}`,
          eval_run_id: run,
          status: 'completed',
          reward: rollout?.reward,
        },
        steps: [...before, ...(rollout?.ends ?? [])].map((messages, step_index) => ({ step_index, messages })),
        ...rollout?.more,
      };
    },
  });
  return { service, asked };
}

const runs = { base: { id: 'evr_old', name: 'before' }, new: { id: 'evr_new', name: 'after' } };

it.each([
  [200, 60],
  [120, 40],
  [80, 24],
  [60, 15],
])('shows the texts of both, side by side and marked, with one key each in %i columns', async (columns, rows) => {
  const { service, asked } = manyTasks();
  const { screen, close } = openProgram({ service, start: { view: 'compare', ...runs }, columns, rows });
  onTestFinished(close);
  await screen.waitFor('▸ task-7 ');
  const shown = planted.length + 1;
  for (const [index, { kind, shows, isAlone }] of planted.entries()) {
    await screen.press(index === 0 ? '=' : ']');
    await screen.waitFor(text => text.includes(`task ${index + 1}/${shown}`) && text.includes(' differ'));
    const lines = screen.text().split('\n');
    for (const words of shows) {
      if (words === undefined) continue;
      const row = lines.findIndex(line => line.includes(words));
      expect(row, `${kind}: ${words}\n${screen.text()}`).toBeGreaterThan(0);
    }
    const [base, fresh] = shows;
    const marked = (words: string): boolean =>
      lines.some((line, row) => {
        const at = line.indexOf(words);
        return at >= 0 && Array.from(words, (_, each) => screen.styleAt(at + each, row).bold).some(Boolean);
      });
    if (base && fresh && !isAlone) expect([marked(base), marked(fresh)], kind).toEqual([true, true]);
  }
  // The new run has no rollout of the last one: its only one is shown, and the next key continues from there.
  await screen.press(']');
  await screen.waitFor(`${shown}/${shown} changed`);
  await screen.press('=');
  await screen.waitFor('after has no rollout of this task to open');
  await screen.press('[');
  await screen.waitFor('the sandbox was lost');
  // Each was read once, and those of no other task.
  expect(asked).toHaveLength(new Set(asked).size);
  expect(asked.filter(id => !plantedAt.has(Number(id.split('/')[1])))).toEqual([]);
  await screen.press('esc');
  const failed = [...plantedAt].find(([, { kind }]) => kind === 'a failed execution')?.[0];
  await screen.waitFor(`▸ task-${failed} `);
});

it('opens the worst rollout of the task with the largest loss with three keys from the run, and that of the base with one', async () => {
  const { service } = manyTasks();
  const start = { view: 'record', resource: 'runs', id: 'evr_new' } as const;
  const { screen, close } = openProgram({ service, start, columns: 200, rows: 60 });
  onTestFinished(close);
  await screen.waitFor('<=> compare');
  await screen.press('=');
  await screen.waitFor('▸ before');
  await screen.press('enter');
  await screen.waitFor(text => /TASK +BASE/.test(text) && text.includes('▸ task-7 '));
  await screen.press('enter');
  await screen.waitFor('task-7 in after');
  await screen.press('tab');
  await screen.waitFor('task-7 in before');
  // Side by side, the base stays at the left.
  await screen.press('=');
  await screen.waitFor(text => /before {2}reward 1\.00.*after {2}reward 0 /.test(text));
  await screen.press('<');
  await screen.waitFor('task-7 in before');
  await screen.press('tab');
  await screen.waitFor('task-7 in after');
});
