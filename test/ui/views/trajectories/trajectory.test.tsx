/** The reader of a trajectory: search in folded text, errors in context, and a position that a resize keeps. */
import { readdirSync, readFileSync } from 'node:fs';
import { useEffect } from 'react';
import { expect, it, onTestFinished, vi } from 'vitest';
import Yoga from 'yoga-layout';
import type { Trajectory } from '../../../../src/contract/trajectories.ts';
import { defineView } from '../../../../src/ui/app/registry.ts';
import { useShell } from '../../../../src/ui/app/shell-context.tsx';
import { useSiblings } from '../../../../src/ui/navigation/memory.tsx';
import { PlainListView } from '../../../../src/ui/views/list/list-view.tsx';
import { TrajectoriesView } from '../../../../src/ui/views/lists.tsx';
import { RunView } from '../../../../src/ui/views/runs/run.tsx';
import { TrajectoryView } from '../../../../src/ui/views/trajectories/trajectory.tsx';
import type { ScreenOptions } from '../../../screen.ts';
import { fakeService } from '../../../service/fake-service.ts';
import { inOwnFolders } from '../../own-folder.ts';
import { openViewOnStage } from '../../stage.tsx';

inOwnFolders();

const output = (step: number) =>
  Array.from({ length: 40 }, (_, line) => (line === 30 ? `AssertionError in ${step}` : `output ${step} line ${line}`));
const trajectory: Trajectory = {
  trajectory_id: 'traj_1',
  status: 'completed',
  num_steps: 10,
  steps: Array.from({ length: 10 }, (_, step) => ({
    step_index: step,
    reward: step / 10,
    has_error: step === 6 || step === 9,
    messages: [
      { role: 'assistant', content: `${`thought ${step} `.repeat(60)}marker ${step}` },
      { role: 'tool', tool_response: JSON.stringify({ stdout: output(step).join('\n') }) },
    ],
  })),
};

async function open(options: ScreenOptions = {}, shown = trajectory) {
  const service = fakeService({ getTrajectory: () => shown });
  const stage = openViewOnStage(TrajectoryView, { service: async () => service, columns: 100, rows: 30, ...options });
  await stage.waitFor('Step ');
  return stage;
}

const recordView = defineView<'record'>({
  id: 'record trajectories',
  title: 'Trajectory',
  commands: [],
  general: [],
  component: TrajectoryView,
});

/** The first of several trajectories, opened from a list. */
function openSeveral(count: number, answer: (id: string) => Promise<Trajectory> | Trajectory) {
  const ids = Array.from({ length: count }, (_, index) => `traj_${index}`);
  const asked: string[] = [];
  const service = fakeService({
    getTrajectory: ({ params }) => {
      asked.push(`${params.trajectory_id}`);
      return answer(`${params.trajectory_id}`);
    },
  });
  function List() {
    const siblings = useSiblings();
    const shell = useShell();
    const placeOf = (index: number) => ({ view: 'record', resource: 'trajectories', id: ids[index] ?? '' }) as const;
    useEffect(() => {
      siblings.remember('trajectories', { ids, placeAt: placeOf });
      shell.open(placeOf(0));
    });
    return null;
  }
  return { stage: openViewOnStage(List, { service: async () => service, others: [recordView] }), asked };
}

it('scrolls by a line without reading the messages again, and lays out only the new line', async () => {
  let reads = 0;
  const counted = trajectory.steps?.map(({ messages, ...step }) => ({
    ...step,
    get messages() {
      reads += 1;
      return messages;
    },
  }));
  const stage = await open({ columns: 160 }, { ...trajectory, steps: counted });
  await stage.press('j');
  const node = Yoga.Node.create();
  const laidOut = vi.spyOn(Object.getPrototypeOf(node), 'markDirty');
  onTestFinished(() => {
    laidOut.mockRestore();
    node.free();
  });
  reads = 0;
  await stage.press('j');
  expect(reads).toBe(0);
  // The position changes, too.
  expect(laidOut.mock.calls.length).toBeLessThan(5);
});

it('finds folded text, counts it, and opens the fold of the current match', async () => {
  const stage = await open();
  expect(stage.text()).not.toContain('AssertionError');
  expect(stage.text()).toContain('more lines');
  await stage.press('/');
  await stage.type('AssertionError');
  await stage.waitFor('1/10');
  // Only pointed at while one types.
  expect(stage.text()).not.toContain('AssertionError in 0');
  await stage.press('enter');
  await stage.waitFor('AssertionError in 0');
  await stage.press('n', 'n');
  await stage.waitFor('AssertionError in 2');
  expect(stage.text()).toContain('3/10');
  await stage.press('N');
  await stage.waitFor('AssertionError in 1');
  expect(stage.text()).toContain('2/10');
});

it('shows Markdown on a key, finds what it hides, and shows the raw text again', async () => {
  const content = `# Plan\n\nSome **bold** words\u200b and \`code\`\n\n${'more words\n\n'.repeat(40)}the **end**`;
  const stage = await open({}, { trajectory_id: 't', steps: [{ messages: [{ role: 'assistant', content }] }] });
  await stage.waitFor('Some **bold** words and');
  expect(stage.text()).toContain('1 hidden character (v shows)');
  await stage.press('m');
  await stage.waitFor('Some bold words and code');
  await stage.press('/');
  await stage.type('end');
  await stage.press('enter');
  await stage.waitFor('the end');
  await stage.press('m');
  await stage.waitFor('the **end**');
});

it('says if nothing matches', async () => {
  const stage = await open();
  await stage.press('/');
  await stage.type('no such words');
  await stage.waitFor('no match');
});

it('shows an error with the title of its step above it, and the next one each time', async () => {
  const stage = await open();
  await stage.press('e');
  await stage.waitFor('This step ended in an error.');
  const title = () => stage.text().indexOf('reward 0.600  ·  error');
  expect(title()).toBeGreaterThan(0);
  expect(title()).toBeLessThan(stage.text().indexOf('This step ended in an error.'));
  await stage.press('e');
  await stage.waitFor('reward 0.900  ·  error');
  expect(stage.text()).toContain('10 of 10 steps');
  await stage.press('e');
  await stage.waitFor('reward 0.600  ·  error');
});

it('keeps its place in the text when the size changes', async () => {
  const stage = await open({ columns: 160, rows: 24 });
  await stage.press('/');
  await stage.type('marker 5');
  await stage.press('enter');
  await stage.waitFor('marker 5');
  for (const [columns, rows] of [
    [80, 24],
    [60, 15],
    [200, 50],
    [100, 30],
  ] as const) {
    await stage.resize(columns, rows);
    await stage.waitFor('marker 5');
  }
});

it('shows tool output as lines', async () => {
  const stage = await open();
  expect(stage.text()).toMatch(/"stdout": \|\s*│?\s*\n.* output 0 line 0\s/);
  expect(stage.text()).not.toContain('\\n');
});

it('moves one step per key press, in one read or in many (R9)', async () => {
  const stage = await open();
  await stage.type('JJJJJ');
  await stage.waitFor('6 of 10 steps');
  await stage.type('KK');
  await stage.waitFor('4 of 10 steps');
  await Promise.all(Array.from({ length: 5 }, () => stage.type('J')));
  await stage.waitFor('9 of 10 steps');
});

it('moves one neighbour per key press, whatever has been read, and reads none in between (R9)', async () => {
  const { stage, asked } = openSeveral(8, () => new Promise(() => {}));
  await stage.waitFor('1/8');
  await stage.type(']]]]]');
  await stage.waitFor('6/8');
  await stage.type('[');
  await stage.waitFor('5/8');
  await stage.type(']]]]]');
  await stage.waitFor('8/8');
  await stage.waitFor('This is the last one');
  await stage.waitFor(() => asked.includes('traj_7'));
  expect(new Set(asked)).toEqual(new Set(['traj_0', 'traj_5', 'traj_4', 'traj_7']));
});

it('has both neighbours before they are opened, and reads each once', async () => {
  const { stage, asked } = openSeveral(8, trajectory_id => ({ ...trajectory, trajectory_id, task_id: trajectory_id }));
  await stage.waitFor('Step 0');
  await stage.waitFor(() => asked.length === 2);
  await stage.press(']');
  await stage.waitFor('2/8');
  await stage.waitFor(() => asked.length === 3);
  expect(asked).toEqual(['traj_0', 'traj_1', 'traj_2']);
  await stage.press(']', '[', '[');
  await stage.waitFor('1/8');
  expect(asked.filter(id => id === 'traj_0')).toHaveLength(1);
});

/** The first of five trajectories, opened from a list with pages of two, which come once `isDue` resolves. */
async function openPaged(isDue: () => Promise<void> | void = () => {}) {
  const rows = Array.from({ length: 5 }, (_, index) => ({
    trajectory_id: `traj_${index}`,
    status: 'completed' as const,
  }));
  const service = fakeService({
    getTrajectory: ({ params }) => ({ ...trajectory, trajectory_id: `${params.trajectory_id}` }),
    listTrajectories: async ({ query }) => {
      const from = Number(query?.cursor ?? 0);
      if (from > 0) await isDue();
      const next_cursor = from + 2 < rows.length ? `${from + 2}` : null;
      return { items: rows.slice(from, from + 2), next_cursor, has_more: next_cursor !== null, dropped: 0 };
    },
  });
  const stage = openViewOnStage(PlainListView, {
    service: async () => service,
    place: { view: 'list', resource: 'trajectories' },
    others: [recordView],
  });
  await stage.waitFor('traj_1');
  await stage.press('enter');
  await stage.waitFor('Step 0');
  return stage;
}

it('continues past the end of a partly read list, which then shows the last one, and marks those read (R11, R13)', async () => {
  const stage = await openPaged();
  await stage.type(']]]]');
  await stage.waitFor('5/5');
  await stage.waitFor('Step 0');
  await stage.press('[');
  await stage.waitFor(text => text.includes('4/5') && text.includes('Step 0'));
  await stage.press('esc');
  await stage.waitFor('▸•traj_3');
  expect(stage.text()).toMatch(/ •traj_0/);
});

it('counts all keys for pages that come late, the last ones backwards, unless the user has left', async () => {
  let come = Promise.withResolvers<void>();
  const stage = await openPaged(() => come.promise);
  await stage.type(']]]');
  await stage.waitFor('2/2+');
  await stage.press(']', ']', '[');
  expect(stage.text()).toContain('2/2+');
  come.resolve();
  await stage.waitFor('5/5');
  await stage.press('esc');
  await stage.waitFor('▸•traj_4');
  come = Promise.withResolvers();
  const other = await openPaged(() => come.promise);
  await other.type(']]]');
  await other.waitFor('2/2+');
  await other.press('esc');
  await other.waitFor('▸•traj_1');
  come.resolve();
  await other.waitFor('traj_2');
  await other.press('j');
  expect(other.text()).toContain('▸ traj_2');
});

it('jumps by message, by reward and to a step by number', async () => {
  const steps = trajectory.steps?.map((step, index) => ({ ...step, step_index: index + 100 })).slice(0, 9) ?? [];
  const stage = await open({}, { ...trajectory, steps });
  const at = (words: string) => stage.waitFor(text => (text.split('\n')[2] ?? '').includes(words));
  await stage.type('}}');
  await at('tool');
  await stage.press('{');
  await at('assistant');
  await stage.press('W');
  await stage.waitFor('step 108, 9 of 9 steps');
  await stage.press('w');
  await at('Step 101');
  await stage.press('#');
  await stage.waitFor('Go to a step');
  await stage.type('105');
  await stage.press('enter');
  await at('Step 105');
});

it('asks for the number of a step even if there is one, so that its digits flag nothing', async () => {
  const stage = await open({}, { ...trajectory, steps: trajectory.steps?.slice(0, 1) });
  await stage.type('#3');
  await stage.waitFor('Go to a step (1 step)');
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('Go to a step'));
  expect(stage.text()).toContain('thought 0');
  expect(stage.text()).not.toContain('gamed');
});

it('folds messages and steps to their first words, and unfolds them for a search match', async () => {
  const stage = await open();
  await stage.press('c');
  await stage.waitFor('▸ assistant  ·  #1  ·  thought 0');
  await stage.press('c');
  await stage.waitFor(text => !text.includes('▸ assistant'));
  await stage.type('JJs');
  await stage.waitFor('▸ Step 2  ·  reward 0.200  ·  thought 2');
  await stage.press('S');
  await stage.waitFor('▸ Step 9  ·  reward 0.900  ·  error  ·  thought 9');
  expect(stage.text()).not.toContain('marker');
  await stage.press('/');
  await stage.type('output 7 line 20');
  await stage.press('enter');
  await stage.waitFor(text => text.includes(' output 7 line 20') && !text.includes('marker 6'));
  await stage.press('esc', 'J');
  await stage.waitFor('▸ Step 8');
});

it('handles the keys that come while it is read (R9)', async () => {
  let answer: (shown: Trajectory) => void = () => {};
  const answered = new Promise<Trajectory>(resolve => {
    answer = resolve;
  });
  const stage = openViewOnStage(TrajectoryView, {
    service: async () => fakeService({ getTrajectory: () => answered }),
    place: { view: 'record', resource: 'trajectories', id: 'traj_1' },
  });
  await stage.waitFor('Loading');
  await stage.type('JJ');
  await stage.type('JJJJJJKZ');
  answer(trajectory);
  await stage.waitFor('step 7, 8 of 10 steps');
  expect(stage.text()).not.toContain('more lines');
});

const longTask = 'django__django-15902-with-a-long-name';
it.each([
  [60, 'traj_1', 'traj_1', {}, 'reward 0.500  •  MAX_STEPS  •  completed'],
  [60, longTask, 'django_…g-name', {}, 'reward 0.500  •  MAX_STEPS  •  completed'],
  [60, longTask, 'django', { status: 'failed', error: 'no '.repeat(40) }, 'reward 0.500  •  failed  •  MAX_STEPS'],
  [100, 'a task of some words', 'a task of some words', {}, 'reward 0.500  •  MAX_STEPS  •  completed'],
])(
  'shows above the text what it is and how it ended, at %i columns, of %s',
  async (columns, label, name, more, words) => {
    const rollout = { status: 'completed', termination_reason: 'MAX_STEPS' };
    const shown = { ...trajectory, reward: 0.5, rollout, ...more };
    const stage = openViewOnStage(TrajectoryView, {
      ...{ service: async () => fakeService({ getTrajectory: () => shown }), columns },
      place: { view: 'record', resource: 'trajectories', id: 'traj_1', label },
    });
    await stage.waitFor('Step 0');
    expect(stage.line(1)).toContain(name);
    expect(stage.line(1)).toContain(words);
  },
);

it('keeps system messages folded for the next trajectory, as many have the same one', async () => {
  const first = {
    messages: [
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'tea?' },
    ],
  };
  const { stage } = openSeveral(2, trajectory_id => ({
    ...{ ...trajectory, trajectory_id },
    // The heading before it may differ.
    steps: [{ ...first, step_index: 0, reward: trajectory_id === 'traj_0' ? 0.25 : 1 }, ...(trajectory.steps ?? [])],
  }));
  await stage.waitFor('be brief');
  await stage.press('c');
  await stage.waitFor('▸ system  ·  #1  ·  be brief');
  await stage.press(']');
  await stage.waitFor('2/2');
  await stage.waitFor('▸ system  ·  #1  ·  be brief');
  // A match in it is shown all the same.
  await stage.type('/brief');
  await stage.press('enter');
  await stage.waitFor(text => !text.includes('▸ system'));
  await stage.press('esc', 'c');
  await stage.waitFor('▸ system');
  await stage.press('c', '[');
  await stage.waitFor('1/2');
  await stage.waitFor(text => text.includes('be brief') && !text.includes('▸ system'));
});

it('keeps folds by kind for the next trajectory, and single ones separate (R10)', async () => {
  const { stage } = openSeveral(2, trajectory_id => ({ ...trajectory, trajectory_id }));
  await stage.waitFor('1/2');
  await stage.type('Zc');
  await stage.waitFor('▸ assistant');
  await stage.press(']');
  await stage.waitFor('2/2');
  await stage.waitFor('output 0 line 4');
  expect(stage.text()).not.toContain('▸ assistant');
  await stage.type('Z[');
  await stage.waitFor('1/2');
  await stage.waitFor('▸ assistant');
  await stage.waitFor('more lines');
});

it('offers a reward only while the trajectory accepts one', async () => {
  const ended = await open();
  await ended.press('+', 'J');
  await ended.waitFor('2 of 10 steps');
  expect(ended.text()).not.toContain('Log a reward');
  const running = await open({}, { ...trajectory, status: 'running' });
  await running.press('+');
  await running.waitFor('Log a reward');
});

it('saves in the folder of the program, whatever the id', async () => {
  const id = '../../escaped';
  const created_at = '2026-01-01T00:00:00Z';
  const rewards = [{ name: 'tests', value: 1, explanation: 'because' }];
  const stage = openViewOnStage(TrajectoryView, {
    service: async () =>
      fakeService({ getTrajectory: () => ({ ...trajectory, trajectory_id: id, created_at, rewards }) }),
    place: { view: 'record', resource: 'trajectories', id },
  });
  await stage.waitFor('Step 0');
  await stage.press('x');
  await stage.waitFor('Plain text');
  await stage.press('enter');
  await stage.waitFor('Save as');
  await stage.press('enter');
  await stage.waitFor('Saved ');
  const texts = readdirSync('.').map(name => readFileSync(name, 'utf8'));
  expect(texts).toHaveLength(1);
  // A head with the rewards and when it was made, then the messages (R4).
  expect(texts[0]).toMatch(
    /^created +2026-01-01T00:00:00Z$[\s\S]*^Rewards\ntests +1\.00 {2}· {2}because$[\s\S]*^Step 0/m,
  );
});

it('shows the end of the row on which the cursor rests, and requests none that it passes', async () => {
  const asked: string[] = [];
  const ended = { status: 'completed' as const, reward: 1 };
  const items = Array.from({ length: 9 }, (_, index) => ({ ...ended, trajectory_id: `traj_${index}`, num_steps: 1 }));
  const service = fakeService({
    listTrajectories: () => ({
      items: [...items, { ...ended, trajectory_id: 'traj_long', num_steps: 2_000 }],
      ...{ next_cursor: null, has_more: false, dropped: 0 },
    }),
    getTrajectory: ({ params }) => {
      const trajectory_id = `${params.trajectory_id}`;
      asked.push(trajectory_id);
      const content = `${'said before\n'.repeat(90)}the last words of ${trajectory_id}`;
      const rewards = [{ name: 'tests', value: 1, explanation: `because of ${trajectory_id}` }];
      return { ...ended, trajectory_id, rewards, steps: [{ messages: [{ role: 'assistant', content }] }] };
    },
  });
  const stage = openViewOnStage(TrajectoriesView, {
    ...{ service: async () => service, columns: 140, rows: 40 },
    place: { view: 'list', resource: 'trajectories' },
  });
  await stage.waitFor('the last words of traj_0');
  expect(stage.text()).toContain('because of traj_0');
  await stage.type('jjjjj');
  await stage.waitFor('the last words of traj_5');
  expect(asked).toEqual(['traj_0', 'traj_5']);
  // The known facts are shown at once.
  await stage.type('kkkkk');
  await stage.waitFor('the last words of traj_0');
  await stage.press('G');
  await stage.waitFor('2000 steps: enter reads them');
  expect(asked).toEqual(['traj_0', 'traj_5']);
});

it('names the last step at the end, and has no column of numbers that no step has (C2, C9)', async () => {
  const steps = [0, 1, 2, 3].map(step_index => ({
    step_index,
    messages: [{ role: 'user', content: `said ${step_index}` }],
  }));
  const stage = await open({ columns: 260 }, { ...trajectory, steps });
  expect(stage.text()).toMatch(/STEP +FIRST/);
  expect(stage.text()).not.toMatch(/TOK OUT|REWARD/);
  await stage.press('G');
  await stage.waitFor('step 3, 4 of 4 steps');
  await stage.press('g');
  await stage.waitFor('step 0, 1 of 4 steps');
});

it('leaves the space to the text: the list of steps has no cut words, and a key hides it (P1)', async () => {
  const stage = await open({ columns: 140 });
  expect(stage.text()).toMatch(/STEP +REWARD *│/);
  expect(stage.text()).not.toContain('FIRST WORDS');
  await stage.resize(260, 30);
  await stage.waitFor('FIRST WORDS');
  await stage.resize(100, 30);
  await stage.waitFor(text => /<b> steps/.test(text) && /STEP +REWARD *│/.test(text));
  await stage.press('b');
  await stage.waitFor(text => !/STEP +REWARD/.test(text));
  expect(stage.workbench.remembered.setting('hidden list of steps')).toBe(true);
  await stage.press('b');
  await stage.waitFor(text => /STEP +REWARD *│/.test(text));
});

const answered = (trajectory_id: string) => ({
  ...{ trajectory_id, status: 'completed' as const, reward: 0, eval_run_id: 'run_1' },
  rewards: [{ name: 'tests', value: 0, explanation: `because of ${trajectory_id}` }],
  steps: [
    { messages: [{ role: 'assistant', content: `${'said before\n'.repeat(90)}the answer of ${trajectory_id}` }] },
  ],
});
const manyRows = fakeService({
  getEvalRun: () => ({ eval_run_id: 'run_1', bench_id: 'b', status: 'completed', total_rollouts: 300 }),
  getEvalProgress: () => ({ status: 'completed', total_rollouts: 300 }),
  getTrajectoryRewards: () => ({ trajectory_rewards: [] }),
  getRolloutStatistics: () => ({ snapshots: [] }),
  listTrajectories: () => ({
    items: Array.from({ length: 300 }, (_, index) => ({
      ...{ trajectory_id: `traj_${index}`, status: 'completed' as const, reward: 0, num_steps: 1 },
      task_id: `task ${index}`,
    })),
    ...{ next_cursor: null, has_more: false, dropped: 0 },
  }),
  getTrajectory: ({ params }) =>
    params.trajectory_id === 'traj_1'
      ? { ...answered('traj_1'), status: 'failed', error: 'SandboxTimeout' }
      : answered(`${params.trajectory_id}`),
});

it('shows the end of a row even below rows that fill a small screen, and its error (P2)', async () => {
  const stage = openViewOnStage(TrajectoriesView, {
    ...{ service: async () => manyRows, columns: 80, rows: 24 },
    place: { view: 'list', resource: 'trajectories' },
  });
  await stage.waitFor(text => /END[\s\S]*the answer of traj_0[\s\S]*because of traj_0/.test(text));
  expect(stage.text().match(/task \d+ /g)?.length).toBeGreaterThanOrEqual(10);
  await stage.press('j');
  await stage.waitFor(text => /END[\s\S]*the answer of traj_1[\s\S]*because of traj_1[\s\S]*SandboxTimeout/.test(text));
  await stage.resize(60, 15);
  await stage.waitFor(text => !text.includes('END'));
  expect(stage.text()).toContain('task 8');
});

it('shows the end of a row before the statistics of its run, in enough lines (P2)', async () => {
  const stage = openViewOnStage(RunView, {
    ...{ service: async () => manyRows, columns: 80, rows: 24 },
    place: { view: 'record', resource: 'runs', id: 'run_1' },
  });
  await stage.waitFor('task 3');
  await stage.press('F');
  await stage.waitFor('the answer of traj_0');
  expect(stage.text()).toMatch(/END[\s\S]*the answer of traj_0[\s\S]*because of/);
});
