/** Measures learning and speed of training in the local service, over HTTP. */
import { setTimeout as wait } from 'node:timers/promises';
import type { BenchOptions } from '../bench.ts';
import { type BuiltService, readyBenchmark, startBuiltService } from './built-service.ts';
import { printTable } from './table.ts';

const seeds = [1, 2, 3, 4, 5];
const goal = { base: 0.3, learnt: 0.8, seconds: 120 } as const;
/** Duration of the curve that a default run should give, in seconds. */
const defaultRun = { least: 30, most: 90 } as const;
const usualModel = 'benchtop/reader-large';
const smallModel = 'benchtop/tutor-base';

interface HeldOut {
  readonly step: number;
  readonly held_out_reward: number;
}

/** Trains until `enough`, or to the end. @throws Error for a failed run */
async function train(
  service: BuiltService,
  benchmark: string,
  model: string,
  options: object,
  enough: (heldOut: readonly HeldOut[]) => boolean,
) {
  const { call } = service;
  const bench_id = await readyBenchmark(service, benchmark);
  const begun = performance.now();
  const secondsSoFar = (): number => (performance.now() - begun) / 1_000;
  const { training_run_id } = await call('POST', 'train', { bench_id, base_model_slug: model, options });
  const path = `train/${training_run_id}`;
  const heldOut = async (): Promise<readonly HeldOut[]> =>
    (await call('GET', `${path}/step/held-out-reward-by-step`)).held_out_rewards;
  let seconds: number | undefined;
  for (;;) {
    const { status, failure, error } = await call('GET', `${path}/progress`);
    if (status === 'succeeded' || status === 'cancelled') break;
    if (status === 'failed' || error)
      throw new Error(`Training on ${benchmark} failed: ${(failure ?? error)?.message ?? 'no reason'}`);
    if (seconds === undefined && enough(await heldOut())) {
      seconds = secondsSoFar();
      await call('POST', `${path}/cancel`);
    }
    await wait(50);
  }
  seconds ??= secondsSoFar();
  const { trainer_rewards } = await call('GET', `${path}/step/trainer-reward-by-step`);
  const curve: number[] = trainer_rewards.map((each: { trainer_reward: number }) => each.trainer_reward);
  return { heldOut: await heldOut(), curve, seconds };
}

const never = (): boolean => false;
const three = (value: number | undefined): string => (value === undefined ? 'none' : value.toFixed(3));
const verdict = (met: boolean): string => (met ? 'yes' : 'NO');

/** Options for the shortest possible run. */
const brief = { num_steps: 2, held_out_every: 1, train_batch_size: 2, samples_per_instance: 2 };

/** Returns the exit code: 1 if a goal was missed, which `smoke` ignores. */
export async function benchTraining({ smoke }: BenchOptions): Promise<number> {
  const model = smoke ? smallModel : usualModel;
  await using service = await startBuiltService();
  const missed: string[] = [];
  const note = (met: boolean, what: string): string => {
    if (!met) missed.push(what);
    return verdict(met);
  };
  process.stdout.write(`t-words, ${model}, default options: held-out mean reward\n`);
  const rows = [['SEED', 'BASE', 'END', 'STEPS', 'SECONDS', 'GOAL MET']];
  for (const seed of smoke ? seeds.slice(0, 1) : seeds) {
    const over = (heldOut: readonly HeldOut[]): boolean => heldOut.some(each => each.held_out_reward > goal.learnt);
    const { heldOut, seconds } = await train(service, 't-words', model, { seed, ...(smoke && brief) }, over);
    const base = heldOut.find(each => each.step === 0)?.held_out_reward ?? 1;
    const reached = heldOut.find(each => each.held_out_reward > goal.learnt);
    const met = base < goal.base && reached !== undefined && seconds < goal.seconds;
    const row = [String(seed), three(base), three(heldOut.at(-1)?.held_out_reward), String(reached?.step ?? '')];
    rows.push([...row, seconds.toFixed(1), note(met, `t-words with seed ${seed}`)]);
  }
  printTable(rows);
  process.stdout.write(`goal: base under ${goal.base}, over ${goal.learnt} within ${goal.seconds} s\n\n`);

  const short = { seed: 7, ...(smoke ? brief : { num_steps: 10 }) };
  const [first, second] = [
    await train(service, 't-words', model, short, never),
    await train(service, 't-words', model, short, never),
  ];
  const same = first.curve.length === short.num_steps && JSON.stringify(first.curve) === JSON.stringify(second.curve);
  process.stdout.write(`the same seed gives the same curve: ${note(same, 'same seed')}\n`);

  const other = await train(service, 'opposites', smallModel, smoke ? brief : {}, never);
  const [from, to] = [other.heldOut[0]?.held_out_reward ?? 0, other.heldOut.at(-1)?.held_out_reward ?? 0];
  process.stdout.write(
    `opposites, ${smallModel}: held-out ${three(from)} → ${three(to)} in ${other.seconds.toFixed(1)} s, rises clearly: ${note(to - from > 0.3, 'opposites')}\n`,
  );

  const whole = await train(service, 't-words', model, smoke ? brief : {}, never);
  const inRange = whole.seconds >= defaultRun.least && whole.seconds <= defaultRun.most;
  process.stdout.write(
    `a default run of t-words: ${whole.curve.length} steps in ${whole.seconds.toFixed(1)} s, ${defaultRun.least} to ${defaultRun.most} s: ${note(inRange, 'length of a default run')}\n`,
  );
  if (missed.length > 0) process.stdout.write(`missed: ${missed.join(', ')}\n`);
  return missed.length > 0 && !smoke ? 1 : 0;
}
