/** `compare` for two runs of a scripted service. */
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { answering } from '../answering.ts';
import { type Answers, notFound } from '../queries/scripted-service.ts';
import { apiKey, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** A run: the reward of each of its tasks, and other fields of its record. */
type Run = { readonly rewards: readonly number[] } & Readonly<Record<string, unknown>>;

/** The command line on a service with these runs; `answer` handles other requests. */
async function cliWith(
  runs: Readonly<Record<string, Run>>,
  others: Readonly<Record<string, object>> = {},
  before: (id: string) => Promise<void> = async () => {},
) {
  const { url } = await hostileServer(async (response, request) => {
    const { pathname } = new URL(request.url, 'http://s');
    const [, id = '', part] = /^\/api\/v1\/eval\/(evr_\w+)(\/[\w-]+)?$/.exec(pathname) ?? [];
    await before(id);
    const { rewards = [], lost, ...more }: Partial<Run> = runs[id] ?? {};
    const other = others[pathname];
    if (other) return json(other)(response, request);
    if (!runs[id]) return refusal(404, 'not_found_error', 'resource_not_found')(response, request);
    const run = { eval_run_id: id, bench_id: 'b1', status: 'completed', ...more };
    if (part === undefined) return json(run)(response, request);
    if (part === '/progress') return json({ ...run, total_rollouts: rewards.length })(response, request);
    if (lost) return refusal(404, 'not_found_error', 'resource_not_found')(response, request);
    const trajectory_rewards = rewards.map((reward, task) => ({
      trajectory_id: `${id}_${task}`,
      task_id: `t${task}`,
      reward,
    }));
    return json({ trajectory_rewards })(response, request);
  });
  return cliOn({ baseUrl: url, apiKey });
}

const all = (reward: number) => ({ rewards: Array<number>(20).fill(reward) });

it.each(['test', 'validation'])(
  'says if the %s tasks may have chosen the checkpoint that they measure',
  async split => {
    const made = { reward_mean: 1, split: 'test', parent_checkpoint_id: 'ckpt_1', training_run_id: 'trn_1' };
    const runs = { evr_base: { ...all(0), split: 'test' }, evr_new: { ...all(1), ...made, lost: false } };
    const cli = await cliWith(runs, {
      '/api/v1/train/trn_1/step/held-out-reward-by-step': {
        held_out_rewards: [{ step: 1, split, held_out_reward: 1 }],
      },
    });
    const applies = split === 'test';
    const words = 'the new run is optimistic if its checkpoint was chosen by held-out reward on these tasks';
    const { out } = await cli('compare', ['evr_base', 'evr_new', '--fail-below', '0']);
    expect(out).toContain('verdict\tthe new run is better');
    expect(out.includes(`caution\t${words}\n`)).toBe(applies);
    expect(/^gate\tPassed\..* The new run is optimistic .*\.$/m.test(out)).toBe(applies);
    const { code, out: record } = await cli('compare', ['evr_base', 'evr_new', '--json']);
    expect([code, JSON.parse(record).caution]).toEqual([exitCodes.done, applies ? words : null]);
    // `watch` and `--wait` say it with the mean too.
    const watched = await cli('watch', ['evr_new']);
    const short = 'optimistic if its checkpoint was chosen by held-out reward on these tasks';
    expect([watched.code, watched.out.includes(`; ${short})`)]).toEqual([exitCodes.done, applies]);
    const { out: change } = await cli('watch', ['evr_new', '--json']);
    expect(JSON.parse(change).caution).toBe(applies ? short : null);
    runs.evr_new.lost = true;
    const unread = await cli('watch', ['evr_new']);
    expect(unread.out.endsWith(applies ? `mean 1.00 (${short})\n` : 'mean 1.00\n')).toBe(true);
    expect(unread.notes).toMatch(/^evr_new: No interval, because its rewards could not be read\. /m);
  },
);

it('says why rewards are not compared, and what the shared tasks show', async () => {
  const tasks = (from: number, count: number, reward: number | null, named = true) =>
    Array.from({ length: count }, (_, index) => ({
      trajectory_id: `${from}_${index}`,
      ...(named && { task_id: `t${from + index}` }),
      reward,
    }));
  const read = async (one: readonly object[], other: readonly object[], ...flags: string[]) => {
    const { url } = await hostileServer((response, request) => {
      const [, id = '', part] = /eval\/(evr_\w+)(\/[\w-]+)?/.exec(request.url) ?? [];
      const trajectory_rewards = id === 'evr_base' ? one : other;
      if (part === '/trajectory-rewards') return json({ eval_run_id: id, trajectory_rewards })(response, request);
      return refusal(404, 'not_found_error', 'route_not_found')(response, request);
    });
    return cliOn({ baseUrl: url, apiKey })('compare', ['evr_base', 'evr_new', ...flags]);
  };
  const nameless = await read(tasks(0, 10, 0), tasks(0, 10, 1, false), '--ended');
  expect(nameless.out).toMatch(/^new\tno reward with a readable task, 10 rollouts, evr_new$/m);
  expect(nameless.out).toContain('verdict\tundecided: the rewards of the new run have no readable task');
  expect(nameless.notes).not.toContain('reports no status');
  const mixed = [...tasks(0, 10, 0), ...tasks(10, 10, 1)];
  const shared = await read(mixed, tasks(10, 10, 1));
  expect(shared.out).toMatch(
    /^difference\t0 over 10 tasks in both\nmeans\tover the 10 tasks in both: base 1\.00, new 1\.00$/m,
  );
  expect(shared.notes).toContain('The service reports no status for evr_base and evr_new: comparing their rewards');
  const both = JSON.parse((await read(mixed, tasks(10, 10, 1), '--json')).out);
  expect(both).toMatchObject({ base: { mean: 0.5, mean_in_both: 1 }, new: { mean: 1, mean_in_both: 1 } });
  expect((await read(mixed, mixed)).out).not.toContain('means\t');
});

it('names the model, the checkpoint and its step, in every form', async () => {
  const base_model_slug = 'acme/small';
  const trained = { base_model_slug, parent_checkpoint_id: 'ckpt_1', training_run_id: 'trn_1', step: 6 };
  const runs = {
    evr_base: { ...all(0), base_model_slug, display_name: 'before' },
    evr_new: { ...all(1), ...trained, display_name: 'after' },
  };
  const compare = async (...flags: string[]) =>
    (await (await cliWith(runs))('compare', ['evr_base', 'evr_new', ...flags])).out;
  const words = [
    '0 over 20 tasks, before (evr_base), acme/small',
    '1.00 over 20 tasks, after (evr_new), acme/small at step 6 (ckpt_1)',
  ] as const;
  expect(await compare()).toContain(`base\t${words[0]}\nnew\t${words[1]}\n`);
  const markdown = await compare('--markdown');
  for (const each of words) expect(markdown).toContain(`| ${each} |`);
  const untrained = { parent_checkpoint_id: null, training_run_id: null, step: null };
  expect(JSON.parse(await compare('--json'))).toMatchObject({
    base: { display_name: 'before', base_model_slug, ...untrained },
    new: { display_name: 'after', ...trained },
  });
});

it('names an evaluated checkpoint after its training run, like the list of runs', async () => {
  const trained = { base_model_slug: 'acme/small', parent_checkpoint_id: 'ckpt_1', training_run_id: 'trn_1', step: 6 };
  const runs = { evr_base: all(0), evr_new: { ...all(1), ...trained }, evr_third: all(0.5) };
  const training = { training_run_id: 'trn_1', display_name: 'long words', status: 'completed' };
  const at = '/api/v1/train/trn_1';
  const cli = await cliWith(runs, { [at]: training, [`${at}/progress`]: { status: 'completed' } });
  expect((await cli('get', ['training', 'trn_1', '--json'])).notes).toBe('');
  expect((await cli('compare', ['evr_base', 'evr_new'])).out).toContain('long words step 6 (ckpt_1)\n');
  expect((await cli('compare', ['evr_base', 'evr_new', 'evr_third'])).out).toContain('long words step 6 (ckpt_1)');
  expect((await cli('compare', ['evr_base', 'evr_new', '--json'])).out).not.toContain('trained_in');
});

it.each(['getEvalRun', 'getTrajectoryRewards'])('names the run that %s cannot find', async lost => {
  const cli = await cliWith({
    evr_base: all(0),
    ...(lost === 'getTrajectoryRewards' && { evr_new: { ...all(1), lost } }),
  });
  const { code, notes } = await cli('compare', ['evr_base', 'evr_new']);
  expect(code).toBe(exitCodes.notFound);
  expect(notes).toContain('evr_new');
});

it('reads both runs in parallel', async () => {
  const both = Promise.withResolvers<void>();
  const asked = new Set<string>();
  const cli = await cliWith({ evr_base: all(0), evr_new: all(1) }, {}, id => {
    asked.add(id);
    if (asked.size === 2) both.resolve();
    return both.promise;
  });
  expect((await cli('compare', ['evr_base', 'evr_new'])).code).toBe(exitCodes.done);
});

it('compares up to eight runs, each with the first', async () => {
  const shifted = (by: number) => ({
    rewards: Array.from({ length: 40 }, (_, task) => 0.3 + (task % 5) / 20 + by + (task % 3) / 50),
  });
  const runs = { evr_a: shifted(0), evr_b: shifted(0.3), evr_c: shifted(0.001), evr_d: shifted(-0.2) };
  const cli = await cliWith(runs);
  const { code, out } = await cli('compare', ['evr_a', 'evr_b', 'evr_c', 'evr_d'], { columns: 100 });
  expect(code).toBe(exitCodes.done);
  expect(out).toMatch(/RUN +# +MEAN +DIFF +VERDICT +98\.3% CI +N/);
  expect(out).toMatch(/evr_a +A .* baseline/);
  expect(out).toMatch(/evr_b +B .* \+0\.300 +better +\+0\.\d+\.\.\+0\.\d+ +40/);
  expect(out).toMatch(/evr_d +D .* -0\.200 +worse/);
  expect(out).toContain('98.3% CI each, so that all 3 hold at 95% (Bonferroni)');
  expect(out).toMatch(/TASK +A +B +C +D +SPREAD\nt\d+ .* 0\.500\n/);
  const { runs: rows, ...more } = JSON.parse((await cli('compare', [...Object.keys(runs), '--json'])).out);
  expect(more).toMatchObject({ base: 'evr_a', confidence: 0.95, correction: 'bonferroni' });
  expect(more.confidence_each).toBeCloseTo(1 - 0.05 / 3);
  expect(more.tasks).toHaveLength(40);
  expect(rows.map(({ verdict }: { verdict: string }) => verdict)).toEqual(['base', 'better', 'undecided', 'worse']);
  const refused = async (...words: string[]) => (await cli('compare', words)).notes;
  expect(await refused('evr_a', 'evr_b', 'evr_b')).toContain('A run is named twice.');
  expect(await refused(...Object.keys(runs), '--fail-below', '0')).toContain(
    '--fail-below is for two runs or two pools.',
  );
  expect(await refused(...Array.from({ length: 9 }, () => 'evr_a'))).toContain('At most 8 runs');
});

it('says why each of several runs is undecided, and which tasks its mean covers', async () => {
  const rewards = (count: number, reward: number) => Array<number>(count).fill(reward);
  const runs = {
    evr_a: { rewards: rewards(30, 0.2) },
    evr_few: { rewards: [...rewards(6, 0.8), ...rewards(6, 1)], status: null },
    evr_open: { rewards: rewards(30, 0.9), status: null },
    evr_plain: { rewards: rewards(30, 0.9) },
  };
  // The mean of the baseline over the 12 tasks differs from that over all.
  runs.evr_a.rewards[20] = 1;
  const progress = (id: string) => [`/api/v1/eval/${id}/progress`, { eval_run_id: id }] as const;
  const cli = await cliWith(runs, Object.fromEntries(['evr_few', 'evr_open'].map(progress)));
  const few = /^B evr_few: undecided: .*; over the 12 tasks in both: base 0\.200, new 0\.900\.$/m;
  const open = /^C evr_open: undecided: the service does not report that both runs have ended; if they have .*\.$/m;
  const table = await cli('compare', Object.keys(runs), { columns: 120 });
  expect(table.out).toMatch(few);
  expect(table.out).toMatch(open);
  expect(table.out).toMatch(/evr_few +B +0\.900 +\+0\.700 +undecided/);
  expect(table.out).not.toMatch(/^D /m);
  // The verdicts are what stays on screen (out34 C11).
  expect(table.out.search(/^TASK /m)).toBeLessThan(table.out.search(/^RUN /m));
  expect(table.out.trimEnd().split('\n').at(-1)).toMatch(open);
  expect(table.notes).not.toContain('over the 12');
  const markdown = await cli('compare', [...Object.keys(runs), '--markdown']);
  for (const text of [markdown.out, markdown.notes]) {
    expect(text).toMatch(few);
    expect(text).toMatch(open);
  }
  // As on screen (out32 B4).
  expect(markdown.out).toMatch(/^\| RUN \| # \| MEAN \| DIFF \| VERDICT \| 98\.3% CI \| N \| N FOR DIFF\/2 \|$/m);
  expect(markdown.out).toMatch(
    /^\| evr_plain \| D \| 0\.900 \| \+0\.673 \| better \| \+0\.\d{3}\.\.\+0\.\d{3} \| 30 \|/m,
  );
  expect(markdown.out).toMatch(/^\| TASK \| A \| B \| C \| D \| SPREAD \|$/m);
  expect(markdown.out).not.toMatch(/\d\.\d{5}/);
  const { out, notes } = await cli('compare', [...Object.keys(runs), '--json']);
  const [, row] = JSON.parse(out).runs;
  expect(row.mean_in_both).toBeCloseTo(0.9);
  expect(row.base_mean_in_both).toBeCloseTo(0.2);
  expect(notes).toContain(row.verdict_words);
});

it('compares only runs of one benchmark, and says if one is unknown', async () => {
  const runs = {
    evr_a: all(0),
    evr_b: { ...all(1), bench_id: 'b2' },
    evr_c: { ...all(1), bench_id: null },
    evr_d: { ...all(1), bench_id: null },
    evr_e: { ...all(1), bench_id: null },
  };
  const cli = await cliWith(runs);
  const doubt = 'The benchmark of evr_c is unknown, and evr_a is of b1: tasks of the same name may differ.';
  for (const [command, words] of [
    ['compare', (...ids: string[]) => ids],
    ['tasks', (base: string, fresh: string) => [fresh, '--base', base]],
    ['report', (...ids: string[]) => [...ids, '--best', '0']],
  ] as const) {
    const different = await cli(command, words('evr_a', 'evr_b'));
    expect([command, different.code, different.out]).toEqual([command, exitCodes.failed, '']);
    expect(different.notes).toMatch(/Only runs of one benchmark can be compared: evr_\w is of b\d, evr_\w of b\d\.$/m);
    const unknown = await cli(command, words('evr_a', 'evr_c'));
    expect([command, unknown.code]).toEqual([command, exitCodes.done]);
    expect(unknown.notes).toContain(doubt);
    if (command === 'report') expect(unknown.out).toContain(doubt);
    const neither = await cli(command, words('evr_c', 'evr_d'));
    expect(neither.notes).toContain('The benchmarks of these runs are unknown: tasks of the same name may differ.');
  }
  const { notes } = await cli('compare', ['evr_a', 'evr_c', 'evr_d', 'evr_e']);
  expect(notes).toContain('The benchmark of evr_c, evr_d and evr_e is unknown, and evr_a is of b1');
});

it('passes no gate on rollouts that the service neither lists nor counts (A2)', async () => {
  let [each, options]: [number, object | null] = [1, null];
  const { url } = await hostileServer((response, request) => {
    const [, id = '', part] = /eval\/(evr_\w+)(\/[\w-]+)?$/.exec(request.url) ?? [];
    const run = { eval_run_id: id, bench_id: 'b1', status: 'completed', options: id === 'evr_new' ? options : null };
    if (part === undefined && id) return json(run)(response, request);
    if (part !== '/trajectory-rewards') return refusal(404, 'not_found_error', 'resource_not_found')(response, request);
    const rewards = id === 'evr_base' ? [0, 0, 1, 1] : Array<number>(each).fill(1);
    const trajectory_rewards = Array.from({ length: 12 }, (_, task) =>
      rewards.map((reward, index) => ({ trajectory_id: `${id}_${task}_${index}`, task_id: `t${task}`, reward })),
    ).flat();
    return json({ eval_run_id: id, trajectory_rewards })(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  const gate = async (...flags: string[]) => {
    const { code, out } = await cli('compare', ['evr_base', 'evr_new', '--fail-below', '0', ...flags]);
    return { code, ...Object.fromEntries(out.split('\n').map(line => line.split('\t'))) };
  };
  const unknown = 'the service does not report how many rollouts the runs have';
  expect(await gate()).toMatchObject({
    code: exitCodes.failed,
    new: '1.00 over 12 tasks, 12 rollouts, total unknown; 0.250 to 1.00 with the 36 missing at 4 per task, evr_new',
    verdict: expect.stringContaining(
      'the new run lists 12 rollouts, 36 fewer than with 4 per task as in the other run',
    ),
    gate: expect.stringMatching(/^Undecided .* --missing ignore\. The service does not report how many rollouts/),
  });
  // Even if the user says that these are all: the runs differ, or rollouts are missing.
  expect((await gate('--ended')).code).toBe(exitCodes.failed);
  expect((await gate('--missing', 'ignore')).code).toBe(exitCodes.done);
  const record = JSON.parse((await cli('compare', ['evr_base', 'evr_new', '--json'])).out);
  expect(record.new).toMatchObject({
    rated_rollouts: 12,
    rollouts: 12,
    total_rollouts: null,
    mean_bounds: { low: 0.25 },
  });
  expect((await cli('get', ['evr_new'])).out).toContain(
    '95% CI 0.735 to 1.00 over 12 tasks, if these are all its rollouts (total unknown)',
  );
  // The options of the run say how many each task has.
  options = { evaluation_samples_per_task: 4 };
  expect((await cli('get', ['evr_new'])).out).toMatch(
    /if no task has more than 4 rollouts \(total unknown\); 0\.250 to 1\.00 with the 36 missing at 4 per task$/m,
  );
  options = { evaluation_samples_per_task: 1 };
  expect((await gate('--ended')).code).toBe(exitCodes.done);
  // As many as the base has, which may not be all.
  [each, options] = [4, null];
  expect(await gate()).toMatchObject({
    code: exitCodes.failed,
    verdict: `undecided: ${unknown}; if all rollouts are listed, the new run is better`,
    gate: `Undecided whether the difference is at least 0: ${unknown}. To treat the listed rewards as complete, use --ended.`,
  });
  expect(await gate('--ended')).toMatchObject({ code: exitCodes.done, verdict: 'the new run is better' });
});

it('takes the number of rollouts per task from the user if the service returns none, and says so', async () => {
  let options: object = {};
  const { url } = await hostileServer((response, request) => {
    const [, id = '', part] = /eval\/(evr_\w+)(\/[\w-]+)?$/.exec(request.url) ?? [];
    const run = { eval_run_id: id, bench_id: 'b1', status: 'completed', total_rollouts: 80, options };
    if (id && (part === undefined || part === '/progress')) return json(run)(response, request);
    if (part !== '/trajectory-rewards') return refusal(404, 'not_found_error', 'resource_not_found')(response, request);
    const rewards = id === 'evr_base' ? [0, 0, 0, 1] : [1, 1, 1, 1];
    const trajectory_rewards = Array.from({ length: 20 }, (_, task) =>
      rewards
        .slice(0, id === 'evr_new' && task < 4 ? 3 : 4)
        .map((reward, index) => ({ trajectory_id: `${id}_${task}_${index}`, task_id: `t${task}`, reward })),
    ).flat();
    return json({ eval_run_id: id, trajectory_rewards })(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  const words = ['evr_base', 'evr_new', '--fail-below', '0.4'];
  const unsure = await cli('compare', words);
  expect(unsure.code).toBe(exitCodes.failed);
  expect(unsure.out).toContain('If each task has 4 rollouts, compare --samples-per-task 4 decides it.');
  const said = await cli('compare', [...words, '--samples-per-task', '4', '--json']);
  expect(said.code).toBe(exitCodes.done);
  expect(JSON.parse(said.out)).toMatchObject({
    verdict: 'better',
    samples_per_task: 4,
    caution: 'the new run is assumed to have 4 rollouts per task (--samples-per-task 4)',
  });
  options = { evaluation_samples_per_task: 3 };
  const other = await cli('compare', [...words, '--samples-per-task', '4', '--json']);
  expect(JSON.parse(other.out)).toMatchObject({
    caution: 'the service reports 3 rollouts per task for the new run, so --samples-per-task 4 is not used',
  });
});

it('counts missing rollouts by the options it sent, if the service does not return them (A1)', async () => {
  let started = 0;
  let record: (id: string) => object = id => notFound(id);
  const answers: Answers = {
    getBenchmark: () => ({ bench_id: 'b1', label: 'words', rollout_ready: true }),
    startEval: () => ({ eval_run_id: `evr_${++started}`, bench_id: 'b1' }),
    getEvalRun: ({ eval_run_id = '' }) => record(eval_run_id),
    getTrajectoryRewards: ({ eval_run_id }) => ({
      trajectory_rewards: Array.from({ length: 20 }, (_, task) => {
        const reward = (eval_run_id === 'evr_1' ? 0.3 : 0.52) + task / 100;
        return { trajectory_id: `${eval_run_id}_${task}`, task_id: `t${task}`, reward };
      }),
    }),
  };
  const { url } = await hostileServer(answering(answers));
  const cli = cliOn({ baseUrl: url, apiKey });
  for (const name of ['f1', 'f2']) {
    const words = ['b1', '-m', 'acme/a', '--name', name, '-o', 'evaluation_samples_per_task=4', '-o', 'seed=7'];
    expect((await cli('evaluate', words)).code).toBe(exitCodes.done);
  }
  const gate = async () => {
    const { code, out } = await cli('compare', ['evr_1', 'evr_2', '--ended', '--fail-below', '0', '--json']);
    return { code, ...JSON.parse(out) };
  };
  const isUndecided = {
    ...{ code: exitCodes.failed, verdict: 'undecided' },
    new: { rollouts: 20, mean_bounds: { low: expect.closeTo(0.615 / 4), high: expect.closeTo((0.615 + 3) / 4) } },
  };
  expect(await gate()).toMatchObject(isUndecided);
  // The same for a start by `api`, with the number as text.
  const options = `options=${JSON.stringify({ evaluation_samples_per_task: '4' })}`;
  const api = cliOn({ baseUrl: url, apiKey });
  for (const name of ['f1', 'f2']) {
    const words = ['startEval', 'bench_id=b1', 'model_slug=acme/a', `display_name=${name}`, options];
    expect((await api('api', words)).code).toBe(exitCodes.done);
  }
  const { code, out } = await api('compare', ['evr_3', 'evr_4', '--ended', '--fail-below', '0', '--json']);
  expect({ code, ...JSON.parse(out) }).toMatchObject({ ...isUndecided, new: { rollouts: 20 } });
  expect((await cli('get', ['run', 'evr_1'])).out).toMatch(
    /with the 60 missing at 4 per task[\s\S]*^options sent +evaluation samples per task 4\n +seed 7$/m,
  );
  const got = async (id: string) => JSON.parse((await cli('get', ['run', id, '--json'])).out);
  expect((await got('evr_1')).sent_options).toEqual({ evaluation_samples_per_task: 4, seed: 7 });
  // A record without options.
  record = eval_run_id => ({ eval_run_id, bench_id: 'b1', status: 'completed', options: null });
  expect(await gate()).toMatchObject(isUndecided);
  expect((await got('evr_1')).sent_options).toEqual({ evaluation_samples_per_task: 4, seed: 7 });
  // The service's own number takes precedence.
  record = eval_run_id => ({
    eval_run_id,
    bench_id: 'b1',
    status: 'completed',
    options: { evaluation_samples_per_task: 1 },
  });
  expect(await gate()).toMatchObject({ code: exitCodes.done, verdict: 'better' });
  record = eval_run_id => ({
    ...{ eval_run_id, bench_id: 'b1', status: 'completed' },
    options: { evaluation_samples_per_task: 1, seed: 7 },
  });
  expect(await got('evr_1')).not.toHaveProperty('sent_options');
});

const seeded = (base_model_slug: string, seed: number, reward: number, more: object = {}) => ({
  ...{
    rewards: Array.from({ length: 20 }, (_, task) => ((task + seed) % 2 === 0 ? reward : 1 - reward)),
    base_model_slug,
  },
  ...{ display_name: `${base_model_slug} ${seed}`, options: { seed, evaluation_samples_per_task: 1 }, ...more },
});
const seeds = {
  ...{ evr_a1: seeded('a', 1, 0), evr_a2: seeded('a', 2, 0), evr_b1: seeded('b', 1, 0.9) },
  ...{
    evr_b2: seeded('b', 2, 1),
    evr_c1: seeded('c', 1, 0),
    evr_x: seeded('b', 3, 1, { options: { seed: 3, other: 1 } }),
  },
};

it('pools runs of a model that differ only in their seed', async () => {
  const cli = await cliWith(seeds);
  const words = ['evr_a1', 'evr_b1', 'evr_a2', 'evr_b2', '--pool'];
  const { code, out } = await cli('compare', [...words, '--fail-below', '-0.2']);
  expect(code).toBe(exitCodes.done);
  expect(out).toContain('base\t0.500 over 20 tasks, 40 rollouts, a 1 +1 (evr_a1, evr_a2), a\n');
  expect(out).toContain('new\t0.500 over 20 tasks, 40 rollouts, b 1 +1 (evr_b1, evr_b2), b\n');
  // One seed alone has larger differences between its tasks.
  expect(out).toContain('95% CI\t-0.169 to +0.169');
  expect((await cli('compare', ['evr_a1', 'evr_b1'])).out).toMatch(/95% CI\t-0\.[3-9]\d\d to \+0\.[3-9]/);
  const { out: record } = await cli('compare', [...words, '--json']);
  expect(JSON.parse(record)).toMatchObject({
    base: { eval_run_id: 'evr_a1', eval_run_ids: ['evr_a1', 'evr_a2'], rated_rollouts: 40, display_name: 'a 1 +1' },
    new: { eval_run_ids: ['evr_b1', 'evr_b2'], total_rollouts: 40 },
    n: 20,
  });
});

it('pools into a grid, and separates runs that differ in more than the seed', async () => {
  const cli = await cliWith(seeds);
  const words = ['evr_a1', 'evr_b1', 'evr_x', 'evr_a2', 'evr_b2', '--pool'];
  const { code, out, notes } = await cli('compare', [...words, '--json']);
  expect([code, notes]).toEqual([exitCodes.done, expect.not.stringContaining('pooled')]);
  const { runs } = JSON.parse(out);
  expect(runs.map(({ eval_run_ids: ids }: { eval_run_ids: object }) => ids)).toEqual([
    ['evr_a1', 'evr_a2'],
    ['evr_b1', 'evr_b2'],
    ['evr_x'],
  ]);
  const gate = await cli('compare', [...words, '--fail-below', '0']);
  expect(gate).toMatchObject({
    code: exitCodes.usage,
    notes: expect.stringContaining('--fail-below is for two runs or two pools.'),
  });
  // The help says so before (out32 B5).
  const help = (await cli('compare', ['--help'])).out.replace(/\s+/g, ' ');
  expect(help).toContain('With --fail-below, for two runs or two pools, the exit code');
  expect(help).toContain('if the lower bound is below this; for two runs or two pools');
});

it('does not pool runs of the same seed, and names them (out32 B1)', async () => {
  const cli = await cliWith({ ...seeds, evr_a3: seeded('a', 1, 0) });
  const same = 'evr_a1 and evr_a3 have the same seed, and are not pooled with each other.';
  const { out, notes } = await cli('compare', ['evr_a1', 'evr_a3', 'evr_a2', 'evr_b1', '--pool', '--json']);
  expect(notes).toContain(same);
  expect(JSON.parse(out).runs.map(({ eval_run_ids }: { eval_run_ids: object }) => eval_run_ids)).toEqual([
    ['evr_a1', 'evr_a2'],
    ['evr_a3'],
    ['evr_b1'],
  ]);
  const none = await cli('compare', ['evr_a1', 'evr_a3', '--pool']);
  expect(none.notes).toContain(same);
  expect(none.notes).toContain('none are pooled');
});

it('says which runs it cannot pool', async () => {
  const cli = await cliWith(seeds);
  const none = await cli('compare', ['evr_a1', 'evr_b1', '--pool']);
  expect(none.notes).toContain('No two of these runs differ only in the seed');
  const one = await cli('compare', ['evr_a1', 'evr_a2', '--pool']);
  expect(one).toMatchObject({
    code: exitCodes.failed,
    out: '',
    notes: expect.stringContaining('name another run to compare'),
  });
  const twice = await cli('compare', ['evr_a1', 'evr_b1', 'evr_a1', '--pool']);
  expect(twice.notes).toContain('A run is named twice.');
});

it('prints flags and notes of compared and pooled runs (out32 C7)', async () => {
  const cli = await cliWith(seeds);
  await cli('notes set', ['evr_a1', '--flag', 'gamed']);
  await cli('notes set', ['evr_b2', '--flag', 'look again', '--note', 'too short']);
  const pair = await cli('compare', ['evr_a1', 'evr_b2']);
  expect(pair.out).toContain('note\tbase: flagged gamed\nnote\tnew: flagged look again · too short\n');
  const { base, new: fresh } = JSON.parse((await cli('compare', ['evr_a1', 'evr_b1', '--json'])).out);
  expect([base.flags, fresh.flags]).toEqual([['gamed'], []]);
  // Those of a run and itself once (attack36 C).
  const same = await cli('compare', ['evr_a1', 'evr_a1']);
  expect(same.out.match(/^note\t.*/gm)).toEqual(['note\tbase and new: flagged gamed']);
  const pools = await cli('compare', ['evr_a1', 'evr_b1', 'evr_b2', '--pool']);
  expect(pools.out).toContain('note\tnew: flagged look again · too short\n');
  const grid = await cli('compare', ['evr_a1', 'evr_b1', 'evr_b2']);
  expect(grid.out).toContain('A a 1: flagged gamed.\n');
  expect(grid.out).toMatch(/C b 2: flagged look again; too short; .*\n/);
});

it('says that the number of rollouts per task is not used for a run with all its rewards (out32 C1)', async () => {
  const cli = await cliWith({ evr_a: all(0.4), evr_b: all(0.5) });
  const { out } = await cli('compare', ['evr_a', 'evr_b', '--samples-per-task', '4']);
  expect(out).toContain('caution\tno reward is missing, so --samples-per-task 4 is not used\n');
  expect((await cli('compare', ['evr_a', 'evr_b', '--samples-per-task', '1'])).out).not.toContain('caution');
  const open = { ...all(0.4), status: 'running' };
  const running = await cliWith(
    { evr_a: open, evr_b: open },
    {
      '/api/v1/eval/evr_a/progress': { status: 'running' },
      '/api/v1/eval/evr_b/progress': { status: 'running' },
    },
  );
  const { out: soFar } = await running('compare', ['evr_a', 'evr_b', '--samples-per-task', '4']);
  expect(soFar).toContain('the service does not report how many rewards are missing');
  expect(soFar).not.toContain('no reward is missing');
});

it('names the tasks that cannot be graded in either run, and what to do', async () => {
  const lacking = (reward: (task: number) => number) =>
    ({ rewards: Array.from({ length: 12 }, (_, task) => (task < 4 ? null : reward(task))) }) as never;
  const cli = await cliWith({
    evr_a: lacking(task => (task % 2) / 2),
    evr_b: lacking(() => 0.5),
    evr_c: lacking(() => 1),
    evr_none: { rewards: Array(12).fill(null) },
    evr_nil: { rewards: Array(12).fill(null) },
  });
  const { out } = await cli('compare', ['evr_a', 'evr_b']);
  expect(out).toContain('not graded\tt0, t1, t2, t3 in neither run\n');
  expect(out).toContain('missing\t4 of 12 tasks have no reward in one or both of the runs\n');
  // The advice is not to give what was given (out32 C3).
  for (const missing of ['bound', 'ignore']) {
    const { out: nothing } = await cli('compare', ['evr_none', 'evr_nil', '--missing', missing]);
    expect(nothing).toMatch(/verdict\tundecided: no task has a reward in both runs/);
    expect(nothing).not.toContain('--missing ignore');
  }
  expect(out).toMatch(
    /verdict\tundecided: 4 of 12 .*; neither run has graded these tasks: --missing ignore compares the 8 tasks that both graded, which is undecided too\n/,
  );
  // Missing rewards could reverse it, but not while they stay missing.
  expect((await cli('compare', ['evr_a', 'evr_c'])).out).toMatch(/undecided: 4 .*--missing ignore/);
  expect((await cli('compare', ['evr_a', 'evr_c', '--missing', 'ignore'])).out).toMatch(
    /verdict\tthe new run is better, /,
  );
  const { ungraded_tasks } = JSON.parse((await cli('compare', ['evr_a', 'evr_b', '--json'])).out);
  expect(ungraded_tasks).toEqual(['t0', 't1', 't2', 't3']);
});

it('compares the rewards that another grader would have given', async () => {
  const answers = { evr_base: 'no', evr_new: 'yes', evr_third: 'yes', evr_lost: 'yes' };
  const states: Readonly<Record<string, object>> = {
    evr_new_0: { status: 'failed' },
    evr_new_1: { status: 'running' },
  };
  const trajectories = Object.entries(answers).flatMap(([run, content]) =>
    Array.from({ length: 20 }, (_, task) => {
      const [trajectory_id, steps] = [
        `${run}_${task}`,
        [{ step_index: 0, messages: [{ role: 'assistant', content }] }],
      ];
      const row = { trajectory_id, task_id: `t${task}`, status: 'completed', ...states[trajectory_id], steps };
      return [`/api/v1/trajectories/${trajectory_id}`, row] as const;
    }),
  );
  const cli = await cliWith(
    {
      ...{ evr_base: { ...all(1), reward_mean: 1 }, evr_new: { ...all(0), reward_mean: 0 } },
      ...{ evr_third: all(0), evr_lost: all(0) },
    },
    Object.fromEntries(trajectories.filter(([path]) => !/evr_lost_(?:[4-9]|1\d)$/.test(path))),
  );
  const grader = ['--with', 'contains yes'];
  expect((await cli('compare', ['evr_base', 'evr_new'])).out).toContain('verdict\tthe new run is worse');
  const { out, notes, code } = await cli('compare', ['evr_base', 'evr_new', ...grader, '--fail-below', '0.5']);
  expect(out).toMatch(/^grader\tcontains yes\n/);
  expect(out).toContain('verdict\tthe new run is better');
  expect(code).toBe(exitCodes.done);
  // Rollouts that cannot be read are no passed gate (attack35 B2).
  const unread = await cli('compare', [
    'evr_base',
    'evr_lost',
    ...grader,
    '--missing',
    'ignore',
    '--fail-below',
    '-0.5',
  ]);
  expect(unread.notes).toContain('evr_lost: 4 of 20 rollouts regraded, 16 not gradable (');
  expect(unread.code).toBe(exitCodes.failed);
  expect(notes).toContain('evr_base: 20 of 20 rollouts regraded');
  expect(notes).toContain('evr_new: 18 of 20 rollouts regraded, 1 failed, 1 running');
  const { out: record } = await cli('compare', ['evr_base', 'evr_new', ...grader, '--json']);
  expect(JSON.parse(record)).toMatchObject({
    grader: 'contains yes',
    base: { mean: 0, rated_rollouts: 20, rollouts: 20 },
    new: { mean: 1, rated_rollouts: 18, rollouts: 20, mean_bounds: { low: 0.9, high: 1 } },
    difference: 1,
  });
  const many = await cli('compare', ['evr_base', 'evr_new', 'evr_third', ...grader, '--markdown']);
  expect(many.out).toContain('Rewards by the grader contains yes.');
  // A grader that cannot grade any rollout decides nothing.
  const none = await cli('compare', ['evr_base', 'evr_new', '--with', 'exact', '--fail-below', '0']);
  expect(none.notes).toContain(
    'evr_base: 0 of 20 rollouts regraded, 20 not gradable (the grader needs expected, and the service stored no grader',
  );
  expect(none.code).toBe(exitCodes.failed);
  expect((await cli('compare', ['evr_base', 'evr_new', '--with', 'none'])).notes).toContain('There is no grader none');
});
