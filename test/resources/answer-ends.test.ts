/** How the answers of compared runs ended: in commands, reports and on screen, without false claims. */
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type AnswerEnds, cutOffMessage, describeAnswerEnds, readAnswerEnds } from '../../src/resources/answer-ends.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { CompareView } from '../../src/ui/views/runs/compare.tsx';
import { CompareManyView } from '../../src/ui/views/runs/compare-many.tsx';
import { RunView } from '../../src/ui/views/runs/run.tsx';
import { answering } from '../answering.ts';
import { cliOn } from '../commands/cli.ts';
import { type Answer, type Answers, pageOf } from '../queries/scripted-service.ts';
import { fakeService } from '../service/fake-service.ts';
import { apiKey, hostileServer, refusal } from '../service/hostile-server.ts';
import { openViewOnStage } from '../ui/stage.tsx';

const ends = (cutOff: number, answers: number, toolErrors = 0, rollouts = 0, isWhole = true): AnswerEnds => ({
  cutOff: { count: cutOff, of: answers },
  toolErrors: { count: toolErrors, of: rollouts },
  isWhole,
});

it.each<[string, AnswerEnds | undefined, AnswerEnds | undefined, string]>([
  [
    'a large share',
    ends(40, 80),
    ends(79, 80),
    '79 of 80 answers of the new run were cut off at the token limit (40 of 80 in the base)',
  ],
  [
    'a large share of both',
    ends(79, 80),
    ends(79, 80),
    '79 of 80 answers of the new run were cut off at the token limit (79 of 80 in the base)',
  ],
  [
    'a difference',
    ends(20, 80),
    ends(0, 80),
    '0 of 80 answers of the new run were cut off at the token limit (20 of 80 in the base)',
  ],
  ['no difference beyond chance', ends(20, 80), ends(28, 80), ''],
  ['one of four', ends(0, 4), ends(1, 4), ''],
  ['a small difference of many', ends(10, 1000), ends(40, 1000), ''],
  [
    'an unreported base',
    undefined,
    ends(3, 4),
    '3 of 4 answers of the new run were cut off at the token limit (not reported in the base)',
  ],
  [
    'an unreported new run',
    ends(3, 4),
    ends(0, 0),
    '3 of 4 answers of the base were cut off at the token limit (not reported in the new run)',
  ],
  ['nothing reported', undefined, undefined, ''],
  [
    'the first answers',
    ends(0, 9, 0, 9, false),
    ends(0, 9, 6, 9),
    '6 of 9 rollouts of the new run had a tool error (0 of 9 read in the base)',
  ],
])('says %s', (_, base, fresh, words) => {
  expect(describeAnswerEnds(base, fresh)).toBe(words);
});

const tasks = Array.from({ length: 20 }, (_, index) => `t${index}`);
/** Lists the rollouts of a run, with these fields. */
const listing =
  (fields: (run: unknown, index: number) => object): Answer =>
  (_, { eval_run_id } = {}) =>
    pageOf(
      tasks.map((task_id, index) => ({
        ...{ eval_run_id, task_id, trajectory_id: `traj_${eval_run_id}_${task_id}`, status: 'completed', reward: 1 },
        ...fields(eval_run_id, index),
      })),
    );
const answers: Answers = {
  getEvalRun: ({ eval_run_id }) => ({ eval_run_id, bench_id: 'b', status: 'completed', display_name: eval_run_id }),
  getEvalProgress: () => ({ status: 'completed', total_rollouts: 20 }),
  getTrajectoryRewards: ({ eval_run_id }) => ({
    trajectory_rewards: tasks.map(task_id => ({
      ...{ task_id, reward: eval_run_id === 'evr_base' ? 0 : 1 },
      trajectory_id: `traj_${eval_run_id}_${task_id}`,
    })),
  }),
  listTrajectories: listing((run, index) => ({
    reward: run === 'evr_base' ? 0 : 1,
    finish_reason: run === 'evr_base' && index % 2 ? 'stop' : 'length',
  })),
};
const words = '20 of 20 answers of the new run were cut off at the token limit (10 of 20 in the base)';

it('prints it below the verdict in commands and reports, with counts for programs', async () => {
  const { url } = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: url, apiKey });
  const { out } = await cli('compare', ['evr_base', 'evr_new']);
  expect(out).toContain(`verdict\tthe new run is better\nanswers\t${words}\n`);
  const pair = JSON.parse((await cli('compare', ['evr_base', 'evr_new', '--json'])).out);
  // The service reports no tool errors, so none are counted.
  expect(pair.base.answer_ends).toEqual({ answers: 20, cut_off: 10, complete: true });
  expect(pair.new.answer_ends).toEqual({ answers: 20, cut_off: 20, complete: true });
  expect((await cli('compare', ['evr_base', 'evr_new', 'evr_other'])).out).toContain(
    `B evr_new: the new run is better; ${words}.`,
  );
  expect((await cli('report', ['evr_base', 'evr_new', '--format', 'markdown'])).out).toContain(words);
});

it.each<[string, (index: number) => object, object | null]>([
  ['an empty tool error as none', () => ({ tool_error: '' }), { rollouts: 20, tool_errors: 0 }],
  ['an empty finish reason as unreported', () => ({ finish_reason: '' }), null],
  ['a finish reason in capitals', () => ({ finish_reason: 'MAX_TOKENS' }), { answers: 20, cut_off: 20 }],
  [
    'no rollout that has not ended',
    index => (index < 3 ? { tool_error: 'boom' } : { tool_error: null, status: 'pending', reward: null }),
    { rollouts: 3, tool_errors: 3 },
  ],
  [
    'a rollout that was cut off, whatever its status is called',
    index => (index < 5 ? { status: 'truncated', reward: null, finish_reason: 'length' } : { finish_reason: 'stop' }),
    { answers: 20, cut_off: 5 },
  ],
  [
    'no answer of a rollout that runs',
    index => ({ finish_reason: 'tool_calls', ...(index < 5 && { status: 'running', reward: null }) }),
    { answers: 15, cut_off: 0 },
  ],
])('counts %s (B6, C1, attack26 A2)', async (_, more, counts) => {
  const listTrajectories = listing((_run, index) => more(index));
  const { url } = await hostileServer(answering({ ...answers, listTrajectories }));
  const { out } = await cliOn({ baseUrl: url, apiKey })('compare', ['evr_base', 'evr_new', '--json']);
  expect(JSON.parse(out).new.answer_ends).toEqual(counts && { ...counts, complete: true });
});

it('makes no claims if the service lists no trajectories', async () => {
  const { listTrajectories: _, ...others } = answers;
  const { url } = await hostileServer(answering(others));
  const { out } = await cliOn({ baseUrl: url, apiKey })('compare', ['evr_base', 'evr_new', '--json']);
  expect(JSON.parse(out)).toMatchObject({ verdict: 'better', base: { answer_ends: null }, new: { answer_ends: null } });
});

it('names the run that could not be read, and how the answers of the others ended (B4)', async () => {
  const answer = answering(answers);
  const { url } = await hostileServer((response, request) => {
    const isBase = /\/trajectories\?.*evr_base/.test(request.url);
    return isBase ? refusal(403, 'permission_error', 'forbidden')(response, request) : answer(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  const unread = 'how the answers of the base ended could not be read';
  const { out, notes } = await cli('compare', ['evr_base', 'evr_new']);
  expect(out).toContain(
    `20 of 20 answers of the new run were cut off at the token limit (not read in the base); ${unread}\n`,
  );
  expect(notes).toMatch(/^How the answers of evr_base ended could not be read: .+$/m);
  const record = JSON.parse((await cli('compare', ['evr_base', 'evr_new', '--json'])).out);
  const reason = notes.match(/could not be read: (.+)$/m)?.[1];
  expect(record).toMatchObject({
    base: { answer_ends: { error: reason } },
    new: { answer_ends: { answers: 20, cut_off: 20 } },
  });
  const many = await cli('compare', ['evr_base', 'evr_new', 'evr_other', '--json']);
  expect(JSON.parse(many.out).runs[0].answer_ends).toEqual({ error: reason });
  const report = await cli('report', ['evr_base', 'evr_new', '--format', 'markdown']);
  expect(report.out).toContain(unread);
  expect(report.notes).toContain('How the answers of evr_base ended could not be read');
});

it('says nothing about a run compared with itself, and reads it once (C2)', async () => {
  const asked: string[] = [];
  const answer = answering(answers);
  const { url } = await hostileServer((response, request) => {
    asked.push(new URL(request.url, 'http://s').pathname);
    return answer(response, request);
  });
  const { out } = await cliOn({ baseUrl: url, apiKey })('compare', ['evr_new', 'evr_new']);
  expect(out).toContain('this is the same run twice');
  expect(out).not.toContain('cut off');
  expect(asked.filter(path => path.endsWith('/trajectories'))).toHaveLength(1);
});

const service = fakeService(
  Object.fromEntries(
    Object.entries(answers).map(([operation, answer]) => [
      operation,
      ({ params = {}, query }: { params?: Record<string, string>; query?: Record<string, unknown> }) =>
        answer(params, query),
    ]),
  ),
);
const [base, fresh, other] = ['evr_base', 'evr_new', 'evr_other'].map(id => ({ id, name: id }));

it('waits only briefly for each page that the comparison can do without (attack26 C1)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const never = Promise.withResolvers<never>();
  const pages: (() => void)[] = [];
  const stalling = fakeService({
    listTrajectories: async ({ query }, { signal }) => {
      signal?.addEventListener('abort', () => never.reject(signal.reason));
      const { eval_run_id, cursor } = query ?? {};
      if (eval_run_id === 'evr_new') return never.promise;
      await new Promise<void>(resolve => pages.push(resolve));
      const row = { trajectory_id: `traj_${cursor}`, eval_run_id, status: 'completed', finish_reason: 'stop' };
      return { ...pageOf([row]), ...(cursor ? {} : { has_more: true, next_cursor: 'next' }) };
    },
  });
  const memory = RememberedStore.inMemory('test');
  const notes: string[] = [];
  const context = { service: stalling, signal: new AbortController().signal, memory };
  const read = readAnswerEnds([['evr_base'], ['evr_new']], context, words => void notes.push(words));
  for (const count of [1, 2]) {
    await vi.advanceTimersByTimeAsync(10_000);
    expect(pages).toHaveLength(count);
    pages.at(-1)?.();
    await setImmediate();
  }
  await vi.advanceTimersByTimeAsync(15_000);
  const [ofBase, ofNew] = await read;
  expect(ofBase).toMatchObject({ cutOff: { count: 0, of: 2 }, isWhole: true });
  expect(ofNew?.problem).toBe('no response within 15s');
  expect(notes).toEqual(['How the answers of evr_new ended could not be read: no response within 15s']);
});

it('is shown on both screens of a comparison', async () => {
  if (!base || !fresh || !other) throw new Error('There are three runs.');
  const pair = openViewOnStage(CompareView, {
    place: { view: 'compare', base, new: fresh },
    service: async () => service,
  });
  await pair.waitFor('20 of 20 answers of the new run were cut off');
  const many = openViewOnStage(CompareManyView, {
    place: { view: 'compare-many', base: base.id, runs: [base, fresh, other] },
    service: async () => service,
  });
  await many.waitFor('20 of 20 answers of the new run were cut off');
});

it('shows at the head of a run how many answers were cut off (B10)', async () => {
  const stage = openViewOnStage(RunView, {
    place: { view: 'record', resource: 'runs', id: 'evr_base' },
    service: async () => service,
  });
  await stage.waitFor('10 of 20 answers were cut off');
  const rows = ['length', 'stop'].map((finish_reason, index) => ({
    ...{ trajectory_id: `traj_${index}`, status: 'completed', finish_reason },
  }));
  expect(cutOffMessage(rows, false)).toBe('1 of 2 answers read were cut off');
  expect(cutOffMessage(rows.slice(1), true)).toBe('');
});
