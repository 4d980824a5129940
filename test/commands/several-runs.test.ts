/** One command that evaluates several models with several seeds. */
import { expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { startService } from '../local/server/running.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const models = ['benchtop/tutor-base', 'benchtop/clerk-small'] as const;
const both = models.flatMap(model => ['-m', model]);

it('evaluates each model with each seed, waits for all, and prints them in order', async () => {
  const service = await startService();
  onTestFinished(() => service.end());
  const cli = cliOn({ ...service, home: service.folder });
  await service.readyBenchmark('t-words');
  const words = ['t-words', ...both, '--seed', '1', '--seed', '2-3', '-o', 'evaluation_max_samples=4'];
  const dry = await cli('evaluate', [...words, '--dry-run', '--json']);
  const bodies = JSON.parse(dry.out).map(({ body }: { body: object }) => body);
  expect(dry.notes).toContain('Estimate: 6 runs x 4 tasks x 1 sample = at most 24 rollouts; cost unknown');
  const options = (seed: number) => ({ seed, evaluation_max_samples: 4 });
  const wanted = models.flatMap(model => [1, 2, 3].map(seed => ({ base_model_slug: model, options: options(seed) })));
  expect(
    bodies.map(({ model_slug, eval_options: sent }: never) => ({ base_model_slug: model_slug, options: sent })),
  ).toEqual(wanted);
  const { code, out } = await cli('evaluate', [...words, '--wait', '--json']);
  expect(code).toBe(exitCodes.done);
  const lines = out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(lines).toMatchObject(wanted.map(run => ({ ...run, status: 'completed', reward_count: 4 })));
  expect(new Set(lines.map(({ display_name }) => display_name)).size).toBe(6);
  expect(lines[4].display_name).toBe('t-words clerk-small seed 2 evaluation max samples 4');
  // All have started, so the same command starts six others.
  const again = await cli('evaluate', words);
  expect(again.out.trimEnd().split('\n')).toHaveLength(6);
  expect(again.out).not.toContain(lines[0].eval_run_id);
});

interface Sent {
  readonly model_slug: string;
  readonly display_name: string;
  readonly eval_options: { readonly seed: number };
}

/** A service that starts the runs that `answer` allows. */
async function startingService(answer: (sent: Sent) => 'started' | 'refused' | 'lost', options?: object) {
  const starts: (Sent & { readonly key: string })[] = [];
  const { url } = await hostileServer((response, request) => {
    if (options && request.url.includes('options')) return json(options)(response, request);
    if (request.method !== 'POST') {
      const [id] = /evr_\d+/.exec(request.url) ?? [];
      if (id !== undefined) return json({ eval_run_id: id, display_name: `run ${id}` })(response, request);
      const isBenchmark = request.url.startsWith('/api/v1/benchmarks');
      return isBenchmark
        ? json({ bench_id: 'bench_1', label: 'words', rollout_ready: true })(response, request)
        : refusal(404, 'not_found_error', 'not_found')(response, request);
    }
    const sent: Sent = JSON.parse(request.body);
    starts.push({ ...sent, key: String(request.headers['idempotency-key']) });
    const outcome = answer(sent);
    if (outcome === 'lost') return void response.destroy();
    if (outcome === 'refused') return refusal(422, 'validation_error', 'no_such_model')(response, request);
    return json({ eval_run_id: `evr_${starts.length}`, display_name: sent.display_name })(response, request);
  });
  return { cli: cliOn({ baseUrl: url, apiKey: 'key' }), url, starts };
}

const words = ['bench_1', '-m', 'acme/a', '-m', 'acme/b', '--seed', '1,2'];
const startsOf = (starts: readonly Sent[]) =>
  starts.map(({ model_slug, eval_options }) => `${model_slug} ${eval_options.seed}`);

it('names what started if a start is refused, and a repeat starts only the rest', async () => {
  let isRefused = true;
  const { cli, starts } = await startingService(({ model_slug }) =>
    model_slug === 'acme/a' && isRefused ? 'refused' : 'started',
  );
  const first = await cli('evaluate', words);
  expect(first).toMatchObject({ code: exitCodes.failed, out: 'evr_3\nevr_4\n' });
  expect(first.notes).toContain(
    'Started 2 of 4 runs: words b seed 1 (evr_3), words b seed 2 (evr_4). Not started: words a seed 1, words a seed 2.',
  );
  expect(new Set(starts.map(({ key }) => key)).size).toBe(4);
  isRefused = false;
  const second = await cli('evaluate', words);
  expect(second).toMatchObject({ code: exitCodes.done, out: 'evr_5\nevr_6\nevr_3\nevr_4\n' });
  expect(second.notes).toContain('words b seed 1 has already started, as evr_3.');
  expect(startsOf(starts.slice(4))).toEqual(['acme/a 1', 'acme/a 2']);
  // Now all of them have: the same command means new runs.
  expect((await cli('evaluate', words)).code).toBe(exitCodes.done);
  expect(startsOf(starts.slice(6))).toEqual(['acme/a 1', 'acme/a 2', 'acme/b 1', 'acme/b 2']);
  expect(starts[6]?.display_name).toBe('words a seed 1 2');
});

it('starts only the rest, even if the profile has another name and key meanwhile (A8, attack33 A1)', async () => {
  let isRefused = true;
  const { cli, url, starts } = await startingService(({ model_slug }) =>
    model_slug === 'acme/a' && isRefused ? 'refused' : 'started',
  );
  await cli('evaluate', words);
  isRefused = false;
  await cli('profile add', ['renamed', '--base-url', url, '--api-key-env', 'BENCHTOP_API_KEY', '--unchecked']);
  const environment = { BENCHTOP_API_KEY: 'rotated' };
  const second = await cli('evaluate', [...words, '--profile', 'renamed'], { environment });
  expect(second).toMatchObject({ code: exitCodes.done, out: 'evr_5\nevr_6\nevr_3\nevr_4\n' });
  expect(second.notes).toContain('run evr_3 has already started, as evr_3.');
  expect(starts).toHaveLength(6);
});

it('exits with the code of a refused start, even if others start after it', async () => {
  const { cli } = await startingService(({ model_slug }) => (model_slug === 'acme/a' ? 'refused' : 'started'));
  const { code, notes } = await cli('evaluate', [...words, '--json']);
  const codes = notes.split('\n').flatMap(line => JSON.parse(line || '{}').error?.exit_code ?? []);
  expect([code, ...codes]).toEqual([exitCodes.failed, exitCodes.failed, exitCodes.failed]);
});

it('skips what has started if the repeat names another model', async () => {
  const { cli, starts } = await startingService(({ model_slug }) => (model_slug === 'acme/b' ? 'refused' : 'started'));
  expect((await cli('evaluate', words)).code).toBe(exitCodes.failed);
  const corrected = await cli('evaluate', ['bench_1', '-m', 'acme/a', '-m', 'acme/c', '--seed', '1,2']);
  expect(corrected).toMatchObject({ code: exitCodes.done, out: 'evr_1\nevr_2\nevr_5\nevr_6\n' });
  expect(startsOf(starts.slice(4))).toEqual(['acme/c 1', 'acme/c 2']);
});

it('says how to repeat a start with a lost answer, and sends none that may have started', async () => {
  let isLost = true;
  const { cli, starts } = await startingService(({ eval_options: { seed } }) =>
    seed === 2 && isLost ? 'lost' : 'started',
  );
  const first = await cli('evaluate', ['bench_1', '-m', 'acme/a', '--seed', '1-3']);
  // Where a connection breaks, the next one would too.
  expect(first).toMatchObject({ code: exitCodes.endUnseen, out: 'evr_1\n' });
  expect(first.notes).toContain(
    `the same command for --model acme/a --seed 2 alone with --idempotency-key ${starts[1]?.key} cannot`,
  );
  expect(first.notes).toContain(
    'Started 1 of 3 runs: words a seed 1 (evr_1). May have started: words a seed 2. Not started: words a seed 3.',
  );
  isLost = false;
  const second = await cli('evaluate', ['bench_1', '-m', 'acme/a', '--seed', '1-3']);
  expect(second.code).toBe(exitCodes.endUnseen);
  expect(startsOf(starts).filter(each => each === 'acme/a 2')).toHaveLength(
    starts.filter(({ key }) => key === starts[1]?.key).length,
  );
  const key = starts[1]?.key ?? '';
  const alone = await cli('evaluate', ['bench_1', '-m', 'acme/a', '--seed', '2', '--idempotency-key', key]);
  expect(alone.code).toBe(exitCodes.done);
  expect(starts.at(-1)).toEqual(starts[1]);
  expect(startsOf(starts).filter(each => each === 'acme/a 1')).toHaveLength(1);
  // Only its own starts count.
  const count = starts.length;
  const third = await cli('evaluate', ['bench_1', '-m', 'acme/a', '--seed', '1-3']);
  expect(third).toMatchObject({ code: exitCodes.done, out: `evr_1\nevr_${count}\nevr_${count - 1}\n` });
  expect(starts).toHaveLength(count);
  await cli('evaluate', ['bench_1', '-m', 'acme/a', '--seed', '1-3']);
  expect(starts).toHaveLength(count + 3);
});

it('starts only the rest even if the service may have forgotten the keys', async () => {
  let isRefused = true;
  const { cli, starts } = await startingService(({ model_slug }) =>
    model_slug === 'acme/a' && isRefused ? 'refused' : 'started',
  );
  await cli('evaluate', words);
  isRefused = false;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 60 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await cli('evaluate', words)).toMatchObject({ out: 'evr_5\nevr_6\nevr_3\nevr_4\n' });
  expect(startsOf(starts.slice(4))).toEqual(['acme/a 1', 'acme/a 2']);
});

it('derives a key for each run from the given one, and starts nothing twice', async () => {
  const { cli, starts } = await startingService(() => 'started');
  const out = 'evr_1\nevr_2\nevr_3\nevr_4\n';
  for (const _ of [1, 2])
    expect(await cli('evaluate', [...words, '--idempotency-key', 'nightly'])).toMatchObject({ out });
  const keys = ['a-1', 'a-2', 'b-1', 'b-2'].map(each => `nightly-acme%2F${each}`);
  expect(starts.map(({ key }) => key)).toEqual(keys);
  // With other options it is another request, which the service may refuse.
  const other = await cli('evaluate', [...words, '-o', 'samples=2', '--idempotency-key', 'nightly']);
  expect(other.out).toBe('evr_5\nevr_6\nevr_7\nevr_8\n');
  expect(starts[4]?.display_name).toBe('words a seed 1 samples 2');
  expect(starts.slice(4).map(({ key }) => key)).toEqual(keys);
});

it('starts all runs again with another key', async () => {
  const { cli, starts } = await startingService(({ model_slug }) => (model_slug === 'acme/b' ? 'refused' : 'started'));
  for (const key of [[], ['--idempotency-key', 'again']]) await cli('evaluate', [...words, ...key]);
  expect(startsOf(starts.slice(4))).toEqual(startsOf(starts.slice(0, 4)));
});

it('tells runs of models with the same last word apart', async () => {
  const { cli, starts } = await startingService(() => 'started');
  await cli('evaluate', ['bench_1', '-m', 'acme/a', '-m', 'other/a']);
  expect(starts.map(({ display_name }) => display_name)).toEqual(['words a', 'words a 2']);
});

it.each([
  [['--name', 'x', '--seed', '1-2'], '--name is for one run'],
  [['--name', 'x'.repeat(257)], '--name is not valid. 257 characters; at most 256. Nothing was started.'],
  [['--name', ' '], '--name is not valid. Give the run a name. Nothing was started.'],
  [['--name', 'a\nb'], '--name is not valid. A name has only one line. Nothing was started.'],
  [['--seed', '1-'], '--seed takes up to 100 whole numbers, e.g. 1, 1,2,3 or 1-3, not 1-.'],
  [['--seed', '1', '-o', 'seed=2'], 'Give the seed once: --seed, or --option seed=N.'],
  [['-m', 'b', '--seed', '1-60'], 'This would start 120 runs: at most 100 can be started at once.'],
])('refuses %j before it sends anything', async (flags, why) => {
  const { cli, starts } = await startingService(() => 'started');
  const { code, notes } = await cli('evaluate', ['bench_1', '-m', 'a', ...flags]);
  expect(code).toBe(exitCodes.usage);
  expect(notes).toContain(why);
  expect(starts).toEqual([]);
});

it.each([
  [['-o', 'samples=x'], 'samples=x is not valid. Type a whole number for acme/a. Nothing was started.'],
  [['-o', 'samples=0'], 'samples=0 is not valid. From 1 to 8 for acme/a. Nothing was started.'],
  [['--seed', '8-12'], 'seed=10 is not valid. At most 9 for acme/a. Nothing was started.'],
  [['-o', 'sampels=2'], 'There is no option sampels. Did you mean samples?'],
])('refuses the value of an option before it sends anything: %j', async (flags, why) => {
  const options = { seed: { type: 'integer', max: 9 }, samples: { type: 'integer', min: 1, max: 8 } };
  const { cli, starts } = await startingService(() => 'started', { models: [{ model_slug: 'acme/a', options }] });
  const refused = await cli('evaluate', ['bench_1', '-m', 'acme/a', ...flags]);
  expect(refused).toMatchObject({ code: exitCodes.usage, notes: expect.stringContaining(why) });
  expect(starts).toEqual([]);
});

it('repeats a lost start with its key if several runs would have the same name (attack 25, A1)', async () => {
  let isLost = true;
  const { cli, starts } = await startingService(({ model_slug }) =>
    model_slug === 'other/m' && isLost ? 'lost' : 'started',
  );
  const same = ['bench_1', '-m', 'acme/m', '-m', 'other/m'];
  const first = await cli('evaluate', same);
  expect(first.notes).toContain('May have started: words m 2.');
  isLost = false;
  const second = await cli('evaluate', same);
  const [, lost, ...again] = starts;
  expect(lost).toMatchObject({ model_slug: 'other/m', display_name: 'words m 2' });
  // This service does not promise to honour keys.
  expect([again, second.code]).toEqual([[], exitCodes.endUnseen]);
  expect(second.notes).toContain('its response was lost: it may have succeeded');
});
