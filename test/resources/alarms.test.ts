/** The alarms of a run: from data that was read only, with the same rules for past and present. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AlarmRules, alarmDefaults, resolveAlarms, rulesFor } from '../../src/config/alarms.ts';
import type { Settings } from '../../src/config/schema.ts';
import type { EvalProgress } from '../../src/contract/evaluations.ts';
import { emptyCurve } from '../../src/contract/trainer-curve.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../../src/contract/training.ts';
import { checkpointTimesQuery } from '../../src/queries/checkpoints.ts';
import { evalProgressQuery } from '../../src/queries/evaluations.ts';
import { type HeldOutMean, heldOutMeans, heldOutMeansOf } from '../../src/queries/held-out.ts';
import { knownResource } from '../../src/queries/statuses/known-resource.ts';
import { heldOutRewardsQuery } from '../../src/queries/training-curves.ts';
import { reportLines } from '../../src/resources/alarm-report.ts';
import { alarmsIn, judge, type Reading, readingOf } from '../../src/resources/alarms.ts';
import { alarmOf, describeEventKind, eventFields } from '../../src/resources/inbox.ts';
import { stateOf } from '../../src/resources/line-state.ts';
import { historyOf, pastAlarms, reportOf, reportOfRun, type TrainingHistory } from '../../src/resources/past-alarms.ts';
import { intervalOfHeldOut } from '../../src/resources/training-columns.ts';
import { noteAlarms, watchedOf } from '../../src/resources/watch.ts';
import fc from '../../tools/rig/property.ts';
import { Random } from '../../tools/rig/random.ts';
import { scriptedService } from '../queries/scripted-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

const minuteMs = 60_000;
const off: AlarmRules = rulesFor(
  resolveAlarms({ alarms: { silentPaces: 0, belowBest: 0, failedPercent: 0, heldOut: 'off' } }),
  [],
);
const kindsIn = (reading: Reading, rules: Partial<AlarmRules> = {}): string[] =>
  alarmsIn(judge(reading, { ...off, ...rules }, [0, 1])).map(({ kind }) => kind);

const curve = (rewards: readonly (number | null)[], more: object = {}) =>
  rewards.map((held_out_reward, index) => ({
    step: (index + 1) * 10,
    held_out_reward,
    expected_samples: 128,
    completed_samples: 128,
    ...more,
  }));
const heldOut = (rewards: readonly (number | null)[], more?: object): Reading => ({
  heldOut: heldOutMeans(curve(rewards, more)),
});

describe('the limits', () => {
  const resolved = (alarms: Settings['alarms'], ...names: string[]) => rulesFor(resolveAlarms({ alarms }), names);

  it('are off by default, and replaced by those of a benchmark', () => {
    expect(resolved(undefined)).toEqual(alarmDefaults.all);
    const alarms = {
      silentMinutes: 30,
      failedPercent: 0,
      benchmarks: { 'kernel-*': { silentMinutes: 60, heldOut: '0.2..1' }, '*-7': { heldOut: 'off' } },
    } as const;
    expect(resolved(alarms, 'web')).toMatchObject({ silentMs: 30 * minuteMs, failedShare: undefined, belowBest: 4 });
    expect(resolved(alarms, 'bench_1', 'Kernel-cuda')).toMatchObject({ silentMs: 60 * minuteMs, heldOut: [0.2, 1] });
    expect(resolved(alarms, 'kernel-7').heldOut).toBeUndefined();
  });

  it.each([
    ['a*c*e', 'abcde', true],
    ['a*c*e', 'ace', true],
    ['aa*a', 'aa', false],
    ['*', '', true],
    ['a.c', 'abc', false],
    ['*b*b*', 'abc', false],
  ])('match %s against the whole of %j: %s', (pattern, name, isMatch) => {
    expect(resolved({ benchmarks: { [pattern]: { silentMinutes: 1 } } }, name).silentMs).toBe(
      isMatch ? minuteMs : undefined,
    );
  });
});

describe('a reading', () => {
  it('raises no alarm without data, and decides nothing', () => {
    expect(judge({}, alarmDefaults.all, [0, 1]).size).toBe(0);
    expect(kindsIn({ silence: null }, { silentMs: 1 })).toEqual([]);
  });

  it('is a stall after the configured minutes, or after a multiple of its own pace', () => {
    const silence = (ms: number, stepMs?: number): Reading => ({ silence: { ms, stepMs, step: 3 } });
    expect(kindsIn(silence(31 * minuteMs), { silentMs: 30 * minuteMs })).toEqual(['stall']);
    expect(kindsIn(silence(30 * minuteMs), { silentMs: 30 * minuteMs })).toEqual([]);
    // Without a pace, a slow run would look like one that has stalled.
    expect(kindsIn(silence(31 * minuteMs), { silentPaces: 10 })).toEqual([]);
    expect(kindsIn(silence(99 * minuteMs, 10 * minuteMs), { silentPaces: 10 })).toEqual([]);
    expect(kindsIn(silence(101 * minuteMs, 10 * minuteMs), { silentPaces: 10 })).toEqual(['stall']);
    // Nor is the one that was raised with a pace over because it is not known at the next start.
    expect(judge(silence(101 * minuteMs), { ...off, silentPaces: 10 }, [0, 1]).has('stall')).toBe(false);
    expect(kindsIn(silence(4 * minuteMs, 10), { silentPaces: 10 })).toEqual([]);
    const [stall] = alarmsIn(judge(silence(6 * minuteMs, 2_000), { ...off, silentPaces: 10 }, [0, 1]));
    expect(stall?.words).toBe('no new step for more than 5m, after 2 s/step');
  });

  it('is a drop if the newest held-out rewards are below the best by more than the intervals', () => {
    expect(kindsIn(heldOut([0.3, 0.7, 0.5, 0.5]), { belowBest: 2 })).toEqual(['held-out drop']);
    expect(kindsIn(heldOut([0.3, 0.7, 0.5, 0.5]), { belowBest: 3 })).toEqual([]);
    expect(kindsIn(heldOut([0.7, 0.3, 0.65]), { belowBest: 1 })).toEqual([]);
    // Few samples have wide intervals, and a mean of an unknown number has none.
    const few = { expected_samples: 8, completed_samples: 8 };
    expect(kindsIn(heldOut([0.7, 0.3, 0.3], few), { belowBest: 2 })).toEqual([]);
    const unknown = { expected_samples: null, completed_samples: null };
    expect(kindsIn(heldOut([0.7, 0.1, 0.1], unknown), { belowBest: 2 })).toEqual([]);
    // A gap is not a reward.
    expect(kindsIn(heldOut([0.7, null, null, null]), { belowBest: 2 })).toEqual([]);
  });

  it('is a drop in the first rounds of a collapse that are as unlikely as a long one (B3)', () => {
    const wordsOf = (rewards: readonly number[], more?: object) =>
      alarmsIn(judge(heldOut(rewards, more), alarmDefaults.all, [0, 1])).map(({ words }) => words);
    const best = 'is below its best 0.700 at step 10 by more than the';
    expect(wordsOf([0.7, 0.1])).toEqual([`held-out 0.100 ${best} 99.9% intervals`]);
    expect(wordsOf([0.7, 0.4])).toEqual([]);
    expect(wordsOf([0.7, 0.4, 0.4])).toEqual([`held-out 0.400 ${best} 99.7% intervals, 2 in a row`]);
    expect(wordsOf([0.7, 0.5, 0.5, 0.5])).toEqual([]);
    expect(wordsOf([0.7, 0.5, 0.5, 0.5, 0.5])).toEqual([`held-out 0.500 ${best} 95% intervals, 4 in a row`]);
    // Half of the round is missing, and would not help.
    const half = { completed_samples: 64, round_completed: false };
    const begun = heldOutMeans([...curve([0.9]), ...curve([0, 0.1], half).slice(1)]);
    expect(kindsIn({ heldOut: begun }, { belowBest: 1 })).toEqual(['held-out drop']);
  });

  it('counts failed rollouts of a sample, or of the total', () => {
    const rollouts = (failed: number, graded: number, isOver = false): Reading => ({
      rollouts: { failed, graded, isOver, mean: undefined, ended: failed + graded },
    });
    expect(kindsIn(rollouts(3, 4), { failedShare: 0.2 })).toEqual([]);
    expect(kindsIn(rollouts(3, 4, true), { failedShare: 0.2 })).toEqual(['failed rollouts']);
    expect(kindsIn(rollouts(4, 16), { failedShare: 0.2 })).toEqual([]);
    expect(kindsIn(rollouts(5, 16), { failedShare: 0.2 })).toEqual(['failed rollouts']);
    expect(kindsIn(heldOut([0.5], { completed_samples: 90, failed_samples: 38 }), { failedShare: 0.2 })).toEqual([
      'failed rollouts',
    ]);
  });

  it('alarms on held-out rounds in which every rollout failed, until a later one has a reward', () => {
    const failed = curve([null, null], { completed_samples: 0, failed_samples: 128 });
    const judged = (...answers: (readonly HeldOutReward[])[]) => {
      const observations = answers.map(
        rows => heldOutRewardsQuery('trn_1', false).observes?.(rows) ?? { kind: 'training', id: 'trn_1' },
      );
      const run = knownResource({ kind: 'training', id: 'trn_1', label: 'trn_1' }, observations);
      return alarmsIn(judge(readingOf(run, [], undefined), { ...off, failedShare: 0.2 }, [0, 1])).map(
        ({ step, words }) => `${step}: ${words}`,
      );
    };
    const all = '20: 128 of 128 rollouts failed (100%), more than 20%';
    expect(judged(failed)).toEqual([all]);
    const before = { step: 5, held_out_reward: 0.5, completed_samples: 128, failed_samples: 0 };
    expect(judged([before, ...failed])).toEqual([all]);
    expect(judged(failed, [...failed, { ...before, step: 30 }])).toEqual([]);
  });

  it('counts completed rollouts without a score as ended, in Watch and in the past of a run', () => {
    const live = { scored_rollouts: 4, failed_rollouts: 2, provisional_reward_mean: 1 };
    const progress = { status: 'completed', terminal_rollouts: 32, total_rollouts: 32, live } as const;
    const judged = (answer: EvalProgress) => {
      const observed = evalProgressQuery('evr_1').observes?.(answer) ?? { kind: 'run', id: 'evr_1' };
      const run = knownResource({ kind: 'run', id: 'evr_1', label: 'evr_1' }, [observed]);
      const now = alarmsIn(judge(readingOf(run, [], undefined), { ...off, failedShare: 0.2 }, [0, 1]));
      const past = reportOfRun(run, { ...off, failedShare: 0.2 }, [0, 1]);
      expect(past.alarms.map(({ words }) => words)).toEqual(now.map(({ words }) => words));
      return { words: now.map(({ words }) => words), unjudged: past.unjudged };
    };
    expect(judged(progress)).toEqual({ words: [], unjudged: [] });
    expect(judged({ ...progress, live: { ...live, failed_rollouts: 7 } }).words).toEqual([
      '7 of 32 rollouts failed (21.9%), more than 20%',
    ]);
    // Without the number of ended rollouts, a share would be wrong.
    expect(judged({ ...progress, terminal_rollouts: null }).unjudged).toEqual([
      'failed rollouts, because their number is unknown',
    ]);
  });

  it('takes means outside their ranges', () => {
    const limits: Partial<AlarmRules> = { heldOut: [0.2, 0.9], trainer: [0.1, 1], evaluation: [0.5, 1] };
    expect(kindsIn({ ...heldOut([0.1]), trainer: { reward: 0.05, step: 1 } }, limits)).toEqual([
      'held-out range',
      'trainer range',
    ]);
    // The base model need not be in the range, but must not be above it (out34 B6).
    const base = (reward: number): Reading => ({
      heldOut: heldOutMeans(curve([reward]).map(round => ({ ...round, step: 0 }))),
    });
    expect([0.1, 0.95].map(reward => kindsIn(base(reward), limits))).toEqual([[], ['held-out range']]);
    const rollouts = { mean: 0.4, graded: 12, failed: 0, ended: 12, isOver: false };
    expect(kindsIn({ rollouts }, limits)).toEqual([]);
    expect(kindsIn({ trainer: { reward: 1.0000000000000002, step: 1 } }, limits)).toEqual([]);
    expect(kindsIn({ rollouts: { ...rollouts, graded: 20 } }, limits)).toEqual(['evaluation range']);
  });
});

describe('an incomplete held-out round', () => {
  const begun = { step: 90, expected_samples: 400, completed_samples: 5, failed_samples: 1, round_completed: false };
  const reading = (before: readonly number[], round: object, more: object = {}): Reading => ({
    heldOut: heldOutMeans([
      ...curve(before, { failed_samples: 0, ...more }),
      { ...begun, held_out_reward: 0, ...round },
    ]),
  });
  const limits: Partial<AlarmRules> = { failedShare: 0.2, heldOut: [0.3, 1] };

  it('raises and ends no alarm at its start', () => {
    expect(kindsIn(reading([], { completed_samples: 1 }), limits)).toEqual([]);
    expect(kindsIn(reading([0.5], { completed_samples: 1 }), limits)).toEqual([]);
    const failing = { completed_samples: 90, failed_samples: 38 };
    expect(kindsIn(reading([0.2], {}, failing), limits)).toEqual(['failed rollouts', 'held-out range']);
    expect(kindsIn(reading([0.7, 0.3, 0.3], { held_out_reward: 0.9 }), { belowBest: 2 })).toEqual(['held-out drop']);
  });

  it('is judged without a reward after 20 failed rollouts, and until then keeps the alarm of an earlier one', () => {
    const known = (failed_samples: number, before: readonly HeldOutReward[]): Reading => {
      const lost = { ...begun, held_out_reward: null, completed_samples: 0, failed_samples };
      const observation = heldOutRewardsQuery('trn_1', false).observes?.([...before, lost]);
      const run = { kind: 'training', id: 'trn_1', label: 'sweep' };
      return readingOf(knownResource(run, observation ? [observation] : []), [], undefined);
    };
    const [good, bad] = [
      curve([0.5], { failed_samples: 0 }),
      curve([0.5], { completed_samples: 90, failed_samples: 38 }),
    ];
    expect([0, 19, 20].map(failed => kindsIn(known(failed, good), limits))).toEqual([[], [], ['failed rollouts']]);
    expect(kindsIn(known(19, bad), limits)).toEqual(['failed rollouts']);
    expect(kindsIn(known(60, []), limits)).toEqual(['failed rollouts']);
  });

  it.each([
    { held_out_reward: null, completed_samples: 0, failed_samples: 10 },
    { held_out_reward: 0.5, completed_samples: 1, failed_samples: 9 },
    { held_out_reward: 0.5, completed_samples: 1, failed_samples: 8, cancelled_samples: 1 },
  ])('is judged by its failures once all of fewer rollouts have ended, even if it is open: %o', counts => {
    const judged = (expected_samples: number | undefined) => {
      const round = { step: 10, ...counts, expected_samples, round_completed: false };
      const observation = heldOutRewardsQuery('trn_1', false).observes?.([round]);
      const run = { kind: 'training', id: 'trn_1', label: 'sweep' };
      return kindsIn(readingOf(knownResource(run, observation ? [observation] : []), [], undefined), limits);
    };
    expect([10, 11, undefined].map(judged)).toEqual([['failed rollouts'], [], []]);
  });

  it('is judged by its failures after 20 ended rollouts, and by its mean once it is complete', () => {
    const some = { completed_samples: 15, failed_samples: 5 };
    expect(kindsIn(reading([0.5], some), limits)).toEqual(['failed rollouts']);
    const complete = { completed_samples: 396, failed_samples: 4, round_completed: true };
    expect(kindsIn(reading([0.5], complete), limits)).toEqual(['held-out range']);
  });
});

const nothing: TrainingHistory = { heldOut: [], trainer: emptyCurve, points: [], silences: [], times: [] };

describe('the past of a run', () => {
  it('has each alarm once, with its step, its time if known, and its end', () => {
    const history = {
      ...nothing,
      heldOut: curve([0.3, 0.7, 0.5, 0.5, 0.72, 0.72, 0.5]),
      times: [{ completed_steps: 45, at: 5_000 }],
    };
    expect(pastAlarms(history, { ...off, belowBest: 2 }, [0, 1])).toMatchObject([
      { kind: 'held-out drop', step: 40, at: 5_000, value: 0.5, limit: 0.7, overAtStep: 50 },
    ]);
    // At the end it says the same as Watch.
    const last = { ...nothing, heldOut: curve([0.7, 0.5, 0.5]) };
    expect(pastAlarms(last, { ...off, belowBest: 2 }, [0, 1])).toMatchObject([{ step: 30, overAtStep: undefined }]);
  });

  it('has the drops that a plain rule finds, which judges each round by earlier ones', () => {
    const anyCurve = fc.array(fc.constantFrom(0.05, 0.3, 0.5, 0.52, 0.7, 0.72, 0.9), { minLength: 1, maxLength: 40 });
    const isDrop = (known: readonly HeldOutMean[], count: number): boolean => {
      const best = known.reduce((most, mean) => (mean.reward >= most.reward ? mean : most));
      return known.slice(-count).some((_, at, { length }) => {
        const rounds = length - at;
        const confidence = rounds === count ? undefined : 1 - 0.05 ** (count / rounds);
        const low = intervalOfHeldOut(best, [0, 1], confidence)?.low ?? 0;
        const highs = known.slice(-rounds).map(mean => intervalOfHeldOut(mean, [0, 1], confidence)?.high ?? 1);
        return highs.every(high => high < low);
      });
    };
    fc.assert(
      fc.property(anyCurve, fc.integer({ min: 1, max: 5 }), (rewards, count) => {
        const means = heldOutMeansOf(curve(rewards));
        const raised = means.map((_, at) => isDrop(means.slice(0, at + 1), count));
        const isRepeat = (at: number): boolean => raised.slice(Math.max(0, at - count), at).includes(true);
        const begins = means.filter((_, at) => raised[at] && !isRepeat(at)).map(({ step }) => step);
        const rules = { ...off, belowBest: count };
        const drops = pastAlarms({ ...nothing, heldOut: curve(rewards) }, rules, [0, 1]);
        expect(drops.map(({ step }) => step)).toEqual(begins);
        // Watch says the same as the past of a run.
        expect(kindsIn(heldOut(rewards), rules)).toEqual(raised.at(-1) ? ['held-out drop'] : []);
      }),
    );
  });

  it('has a drop from noise alone in about 1 of 20 runs with 200 held-out rewards', () => {
    const random = new Random('noise');
    const sample = (): number => Array.from({ length: 128 }, () => random.chance(0.5)).filter(Boolean).length;
    const raised = Array.from({ length: 100 }, () => {
      const rewards = Array.from({ length: 200 }, () => sample() / 128);
      return pastAlarms({ ...nothing, heldOut: curve(rewards) }, alarmDefaults.all, [0, 1]).length > 0;
    });
    expect(raised.filter(Boolean).length).toBeLessThanOrEqual(9);
  });

  it('has one drop for a run that collapses and recovers, which ends at its last recovery (B8, A3)', () => {
    const rewards = [...Array.from({ length: 30 }, (_, index) => (index % 2 ? 0.05 : 0.8)), 0.8, 0.8, 0.8];
    const drops = (more: readonly number[]) =>
      pastAlarms({ ...nothing, heldOut: curve([...rewards, ...more]) }, alarmDefaults.all, [0, 1]);
    expect(drops([])).toMatchObject([{ step: 20, overAtStep: 310 }]);
    expect(drops([0.05])).toMatchObject([{ step: 20, overAtStep: undefined }]);
    expect(drops([0.8, 0.05])).toMatchObject([{ step: 20, overAtStep: 310 }, { step: 350 }]);
    // A run that ended at its best has no alarm.
    for (const more of [[], [0.92, 0.95]]) {
      const recovered = [0.7, 0.1, 0.9, ...more];
      expect(kindsIn(heldOut(recovered), { belowBest: 4 })).toEqual([]);
      const past = { ...nothing, heldOut: curve(recovered) };
      expect(pastAlarms(past, alarmDefaults.all, [0, 1])).toMatchObject([{ step: 20, overAtStep: 30 }]);
    }
  });

  it('has one drop for a collapse longer than the stored means, whatever new best interrupts it', () => {
    const rewards = [0.7, ...Array.from({ length: 50 }, () => 0.05), 0.9, 0.05];
    const drops = pastAlarms({ ...nothing, heldOut: curve(rewards) }, alarmDefaults.all, [0, 1]);
    expect(drops).toMatchObject([{ step: 20, limit: 0.7, overAtStep: undefined }]);
    const [alarm] = alarmsIn(judge(heldOut(rewards), alarmDefaults.all, [0, 1]));
    expect(alarm).toMatchObject({ step: 530, limit: 0.9, fromStep: 140 });
  });

  it('does not take a partial round as the best, and names what it could not check', () => {
    const [part] = curve([0.95], { completed_samples: 5, round_completed: false });
    const rules = { ...off, belowBest: 2, heldOut: [0.5, 1] as const };
    const rest = curve([0.7, 0.5, 0.5]).map(point => ({ ...point, step: point.step + 10 }));
    const drops = pastAlarms(
      { ...nothing, heldOut: [...(part ? [part] : []), ...rest] },
      { ...off, belowBest: 2 },
      [0, 1],
    );
    expect(drops).toMatchObject([{ kind: 'held-out drop', step: 40, limit: 0.7 }]);
    expect(reportOf({ ...nothing, heldOut: part ? [part] : [] }, rules, [0, 1]).unjudged).toEqual([
      'the range of held-out rewards, because no round is complete',
    ]);
  });

  it('has the silences between answers, and of unwatched times only what is certain', () => {
    const points = [
      { at: 0, completed_steps: 1 },
      { at: 10 * minuteMs, completed_steps: 2 },
      { at: 100 * minuteMs, completed_steps: 11 },
      { at: 160 * minuteMs, completed_steps: 12 },
    ];
    const rules = { ...off, silentMs: 20 * minuteMs };
    // Nine steps in 90 minutes are ten parts of 9; one step in 60 leaves one part of at least 30.
    expect(pastAlarms({ ...nothing, points }, rules, [0, 1])).toMatchObject([
      { kind: 'stall', step: 11, value: 30 * minuteMs, overAtStep: 12 },
    ]);
    const silences = [{ at: 100 * minuteMs, until: 159 * minuteMs, completed_steps: 11 }];
    expect(pastAlarms({ ...nothing, points, silences }, rules, [0, 1])).toMatchObject([
      { value: 59 * minuteMs, at: 159 * minuteMs },
    ]);
  });

  it('has a stall before the first look from checkpoints; unchecked without a pace', () => {
    const saved = (step: number, at: number) => ({ completed_steps: step, at, since: at });
    const met = { at: 180 * minuteMs, completed_steps: 27 };
    const history: TrainingHistory = {
      ...nothing,
      points: [met],
      silences: [{ ...met, until: 216 * minuteMs }],
      hints: { checkpoints: [saved(10, 4 * minuteMs), saved(20, 8 * minuteMs)] },
    };
    const report = reportOf(history, { ...off, silentPaces: 10 }, [0, 1]);
    expect(report.unjudged).toEqual([]);
    expect(report.alarms).toMatchObject([{ kind: 'stall', step: 27, value: 57.5 * minuteMs, at: 216 * minuteMs }]);
    const once = reportOf({ ...history, silences: [] }, { ...off, silentPaces: 10 }, [0, 1]);
    expect(once).toMatchObject({ alarms: [{ kind: 'stall', value: 21.5 * minuteMs }], unjudged: [] });
    const unknown = reportOf({ ...history, hints: {} }, { ...off, silentPaces: 10 }, [0, 1]);
    expect(unknown).toEqual({ alarms: [], unjudged: ['missing steps, because the time per step is unknown'] });
  });

  it('has no stall after the end of a run that was first seen later', () => {
    const [end, seen] = [60 * minuteMs, 600 * minuteMs];
    const run = (completed_at?: string) =>
      ({ training_run_id: 'trn_1', status: 'succeeded', created_at: at(0), completed_at }) as TrainingRun;
    const at = (ms: number): string => new Date(ms).toISOString();
    const checkpoints = [30, 59].map(
      minute => ({ checkpoint_id: `ckpt_${minute}`, step: minute, created_at: at(minute * minuteMs) }) as Checkpoint,
    );
    const points = [{ at: seen, completed_steps: 60 }];
    const memory = { progress: { of: () => points, silencesOf: () => [] } as never };
    const nothingRead = { heldOut: [], trainer: emptyCurve };
    const rules = { ...off, silentMs: 5 * minuteMs };
    for (const completed_at of [at(end), undefined]) {
      const report = reportOf(historyOf(run(completed_at), nothingRead, checkpoints, memory), rules, [0, 1]);
      expect(report).toEqual({ alarms: [], unjudged: ['missing steps, because this machine has not watched the run'] });
    }
    // It had stood still for 10 minutes before its end.
    const before = { at: 50 * minuteMs, completed_steps: 59 };
    const stalled = { progress: { of: () => [before, ...points], silencesOf: () => [] } as never };
    expect(
      reportOf(historyOf(run(at(end)), nothingRead, [], stalled), { ...off, silentMs: 4 * minuteMs }, [0, 1]).alarms,
    ).toMatchObject([{ kind: 'stall', step: 59, value: 5 * minuteMs }]);
  });

  it('says when a stall ended, even by a step that was seen late', () => {
    const points = [10, 14].map((completed_steps, index) => ({ at: index * 600 * minuteMs, completed_steps }));
    const silences = [{ at: 0, until: 40 * minuteMs, completed_steps: 10 }];
    const memory = { progress: { of: () => points, silencesOf: () => silences } as never };
    const rules = { ...off, silentMs: 30 * minuteMs };
    const linesOf = (status: string, seen = memory, steps: readonly number[] = [], saved: Checkpoint[] = []) => {
      const run = { training_run_id: 'trn_1', status } as TrainingRun;
      const trainer = { ...emptyCurve, steps: Float64Array.from(steps), rewards: new Float64Array(steps.length) };
      const report = reportOf(historyOf(run, { heldOut: [], trainer }, saved, seen), rules, [0, 1]);
      return reportLines(report, rules, ms => `${ms / minuteMs}m`);
    };
    const [, stall] = linesOf('cancelled');
    expect(stall).toBe('  step 10, by 40m: no new step for more than 30m: at least 40m; over at step 14');
    const alone = { progress: { of: () => points.slice(0, 1), silencesOf: () => silences } as never };
    expect(linesOf('cancelled', alone, [9, 12])[1]).toMatch(/; over at step 12$/);
    expect(linesOf('running', alone, [9, 10])[1]).toMatch(/at least 40m; not over$/);
    const saved = { checkpoint_id: 'c', step_index: 11, created_at: new Date(100 * minuteMs).toISOString() };
    expect(linesOf('cancelled', alone, [9, 60], [saved as Checkpoint])[1]).toMatch(/; over at step 11$/);
  });

  it.each([
    [undefined, 120],
    [new Date(170 * minuteMs).toISOString(), 140],
  ])('has the stall that a run was in when it ended (at %s): %i minutes', (completed_at, minutes) => {
    const { workbench } = world();
    const memory = workbench.remembered;
    const read = (status: string, done: number, minute: number): void => {
      const endTime = status === 'running' ? undefined : completed_at;
      const observed = { kind: 'training', id: 'trn_1', label: 'sweep', status, done, endTime };
      const at = minute * minuteMs;
      workbench.statuses.report([observed], { askedAt: at, at });
      workbench.records.observed([observed], { askedAt: at, at });
    };
    for (let step = 1; step <= 30; step += 1) read('running', step, step);
    read('running', 30, 150);
    for (const minute of [180, 600]) read('cancelled', 30, minute);
    const nothingRead = { heldOut: [], trainer: emptyCurve };
    const run = { training_run_id: 'trn_1', status: 'cancelled', completed_at } as TrainingRun;
    const report = reportOf(historyOf(run, nothingRead, [], memory), { ...off, silentMs: 30 * minuteMs }, [0, 1]);
    expect(report).toMatchObject({ alarms: [{ kind: 'stall', step: 30, value: minutes * minuteMs }], unjudged: [] });
  });
});

function world(alarms = alarmDefaults) {
  const { service } = scriptedService({});
  const workbench = newWorkbench({ service: async () => service, alarms });
  onTestFinished(() => workbench.close());
  const begin = Date.now();
  const ref = { kind: 'training', id: 'trn_1', label: 'sweep' } as const;
  const read = (done: number, at: number, more: object = {}): void => {
    workbench.statuses.report([{ ...ref, status: 'running', done, total: 400, ...more }], { askedAt: at, at });
    workbench.remembered.recordProgress(ref.id, done, at);
    noteAlarms(workbench, at);
  };
  const raised: string[] = [];
  onTestFinished(workbench.inbox.onRaised(events => raised.push(...events.map(({ what }) => what))));
  const inbox = () => workbench.inbox.list().map(({ what }) => what);
  return { workbench, begin, read, raised, inbox, line: (now: number) => watchedOf(workbench, now)[0] };
}

describe('Watch', () => {
  it('marks a line with an alarm, records it once, and clears it once it is over', () => {
    const { workbench, begin, read, raised, inbox, line } = world();
    for (let step = 1; step <= 10; step += 1) read(step, begin + step * 2_000);
    const early = begin + 4 * minuteMs;
    read(10, early);
    const silent = line(early);
    expect(silent && stateOf(silent, early)).toEqual({
      word: 'running',
      text: 'no new step for 3m',
      short: 'no step 3m',
      look: 'running',
    });
    expect(raised).toEqual([]);
    const later = begin + 7 * minuteMs;
    read(10, later);
    read(10, later + 2_000);
    expect(raised).toEqual(['stall']);
    expect(inbox()).toEqual(['stall']);
    // It was noticed after it began, and continues.
    const [event] = workbench.inbox.list();
    expect(event).toMatchObject({ at: later, detail: { since: begin + 20_000 } });
    // As of the last read in both, so that time without a read does not count as silence.
    expect(event && describeEventKind(event, workbench.statuses.doneReadAt(event))).toBe('stalled 6m');
    expect(event && describeEventKind(event)).toBe('stalled 6m+');
    const stalled = line(later + 2_000);
    expect(stalled && stateOf(stalled, later + 2_000)).toMatchObject({
      text: 'ALARM stalled 6m',
      short: 'ALARM stall 6m',
      look: 'alarm',
    });
    read(11, later + 4_000);
    expect(inbox()).toEqual([]);
    expect(line(later + 4_000)?.alarms).toEqual([]);
  });

  it('never shows stalled for a run without a pace, as no limit applies to it', () => {
    const { begin, read, raised, line } = world();
    read(7, begin);
    read(7, begin + 20 * minuteMs);
    const silent = line(begin + 20 * minuteMs);
    expect(silent && stateOf(silent, begin + 20 * minuteMs).text).toBe('no new step for 20m+');
    expect(raised).toEqual([]);
  });

  it('shows no time left for a stalled run, however rarely its steps were read', () => {
    const { begin, read, inbox, line } = world();
    for (const minutes of [0, 5, 10, 15]) read(1 + 150 * minutes, begin + minutes * minuteMs, { total: 9_000 });
    expect(line(begin + 15 * minuteMs)?.pace).toMatch(/ETA/);
    read(2_251, begin + 22 * minuteMs, { total: 9_000 });
    expect(inbox()).toEqual(['stall']);
    expect(line(begin + 22 * minuteMs)).toMatchObject({ pace: '', rate: '' });
  });

  it('recognises a run that stood still at the first read by its mean pace', () => {
    const { workbench, begin, read, inbox, line } = world();
    const startedAt = new Date(begin - 20 * minuteMs).toISOString();
    read(100, begin, { startedAt });
    // The mean pace grows while it stands still.
    expect(line(begin)?.pace).toBe('12 s/step');
    read(100, begin + 4 * minuteMs, { startedAt });
    expect(inbox()).toEqual([]);
    const later = begin + 6 * minuteMs;
    read(100, later, { startedAt });
    expect(inbox()).toEqual(['stall']);
    const stalled = line(later);
    expect(stalled && stateOf(stalled, later)).toMatchObject({ text: 'ALARM stalled 6m+', short: 'ALARM stall 6m+' });
    const [event] = workbench.inbox.list();
    expect(event && describeEventKind(event, later)).toBe('stalled 6m+');
  });

  it('recognises a run that stalled before the first read by its checkpoints, until a step arrives', () => {
    const { workbench, begin, read, inbox, line } = world();
    const at = (hoursAgo: number) => new Date(begin - hoursAgo * 60 * minuteMs).toISOString();
    const checkpoints = [10, 20].map((step_index, index) => ({
      ...{ checkpoint_id: `ckpt_${index}`, step_index },
      created_at: at(3 - index * 0.05),
    }));
    const observation = checkpointTimesQuery('trn_1', false).observes?.(checkpoints) ?? {
      kind: 'training',
      id: 'trn_1',
    };
    workbench.statuses.report([observation], { askedAt: begin, at: begin });
    read(27, begin, { startedAt: at(3.1) });
    expect(inbox()).toEqual(['stall']);
    const stalled = line(begin);
    const state = stalled && stateOf(stalled, begin);
    expect(state).toMatchObject({ text: 'ALARM stalled, last checkpoint 2h ago', short: 'ALARM stall 22m+' });
    expect(stalled?.pace).toBe('last checkpoint 2h ago');
    const [event] = workbench.inbox.list();
    // One of eight gaps may have lasted long, and the others as long as before: what is certain is their mean.
    expect(event && describeEventKind(event, begin)).toBe('stalled 22m+');
    // It grows as fast in Watch as in the inbox.
    const later = begin + 16 * minuteMs;
    read(27, later, { startedAt: at(3.1) });
    const same = line(later);
    expect(same && stateOf(same, later).short).toBe('ALARM stall 38m+');
    expect(event && describeEventKind(event, later)).toBe('stalled 38m+');
    read(28, later + 2_000);
    expect(inbox()).toEqual([]);
    expect(line(later + 2_000)?.pace).toMatch(/^18 s\/step {2}ETA/);
  });

  it('does not call a run stalled that waits, stops or has completed all steps', () => {
    const { begin, read, inbox } = world();
    for (let step = 1; step <= 10; step += 1) read(step, begin + step * 2_000);
    for (const more of [{ status: 'pending' }, { status: 'cancel_signaled' }, { total: 10 }])
      read(10, begin + 20 * minuteMs, more);
    expect(inbox()).toEqual([]);
  });

  it('keeps an alarm that the next answer does not judge', () => {
    const { workbench, begin, read, inbox } = world();
    read(70, begin, { measured: heldOutMeans(curve([0.7, 0.3, 0.3, 0.3, 0.3])) });
    expect(inbox()).toEqual(['held-out drop']);
    const [event] = workbench.inbox.list();
    expect(event?.detail.alarm).toBe(
      'held-out 0.300 is below its best 0.700 at step 10 by more than the 95% intervals, 4 in a row',
    );
    workbench.statuses.forget({ kind: 'training', id: 'trn_1' });
    read(80, begin + minuteMs);
    expect(inbox()).toEqual(['held-out drop']);
  });

  it('rings once while a held-out reward collapses and recovers, and says when that ended (B8)', () => {
    const { workbench, begin, read, raised, inbox, line } = world();
    const rewards = [0.7];
    const add = (reward: number, status = 'running'): void => {
      rewards.push(reward);
      const step = rewards.length * 10;
      read(step, begin + step * minuteMs, { measured: heldOutMeans(curve(rewards)), status });
    };
    const words = (): string => workbench.inbox.list().map(alarmOf).join();
    for (const reward of [0.1, 0.7, 0.1, 0.7, 0.05]) add(reward);
    // It has the numbers of the newest round (attack29 C3).
    expect(words()).toMatch(/^held-out 0.0500 is below /);
    expect(workbench.inbox.list()[0]).toMatchObject({
      at: begin + 20 * minuteMs,
      detail: { done: 60, measured: { last: { step: 60, reward: 0.05 } } },
    });
    expect([raised, inbox()]).toEqual([['held-out drop'], ['held-out drop']]);
    expect(line(begin)?.alarms).toHaveLength(1);
    expect(words()).not.toContain('over');
    add(0.7);
    expect(line(begin)?.alarms).toEqual([]);
    expect(words()).toMatch(/^held-out 0.0500 is below .*; over at step 70$/);
    // One that is dismissed stays so as long as it repeats, whether it holds or is over.
    workbench.inbox.dismiss(workbench.inbox.list());
    for (const reward of [0.1, 0.7, 0.1]) add(reward, 'preempted');
    expect([raised, inbox()]).toEqual([['held-out drop'], []]);
    workbench.inbox.restore([{ kind: 'training', id: 'trn_1', what: 'held-out drop' }]);
    expect(words()).not.toContain('over');
    for (const reward of [0.7, 0.7, 0.7, 0.7]) add(reward);
    expect(words()).toMatch(/; over at step 110$/);
    // After that, one is news, even if the first was dismissed.
    workbench.inbox.dismiss(workbench.inbox.list());
    add(0.1);
    expect([raised, inbox()]).toEqual([['held-out drop', 'held-out drop'], ['held-out drop']]);
    expect(workbench.inbox.list()[0]?.detail.overAtStep).toBeUndefined();
  });

  it('keeps each past alarm with its step, except stalls, and rings for the next one', () => {
    const range = [0.2, 0.9] as const;
    const rules = { ...off, heldOut: range, trainer: range, evaluation: range, failedShare: 0.2 };
    const { workbench, begin, read, raised, inbox } = world({ all: rules, benchmarks: [] });
    const words = (): string[] =>
      workbench.inbox
        .list()
        .map(alarmOf)
        .filter(each => each !== undefined)
        .sort();
    const both = (done: number, reward: number): void =>
      read(done, begin + done * 1_000, { mean: reward, measured: heldOutMeans(curve([reward])) });
    both(11, 0.1);
    expect(words().join()).not.toContain('over');
    both(14, 0.5);
    expect(words()).toEqual([
      'held-out 0.100 is outside 0.2..0.9; over at step 10',
      'trainer reward 0.100 is outside 0.2..0.9; over at step 14',
    ]);
    workbench.inbox.dismiss(workbench.inbox.list());
    both(17, 0.1);
    expect([raised.length, words().length]).toEqual([4, 2]);
    workbench.inbox.dismiss(workbench.inbox.list());
    const evaluated = (done: number, failed: number, mean: number): void => {
      const run = { kind: 'run', id: 'evr_1', label: 'base', status: 'running', total: 100 };
      const at = begin + 60_000 + done;
      workbench.statuses.report([{ ...run, done, failed, mean, graded: done - failed }], { askedAt: at, at });
      noteAlarms(workbench, at);
    };
    evaluated(40, 10, 0.1);
    expect(inbox().sort()).toEqual(['evaluation range', 'failed rollouts']);
    evaluated(80, 10, 0.5);
    expect(words()).toEqual([
      '10 of 40 rollouts failed (25%), more than 20%; over after 80 rollouts',
      'mean 0.100 is outside 0.2..0.9; over after 80 rollouts',
    ]);
    expect(workbench.inbox.list().map(event => eventFields(event, [0, 1]).over_at_rollouts)).toEqual([80, 80]);
  });

  it('judges a completed run by its last round, even with a limit that is set later (out32 A2)', () => {
    const { workbench, begin, read, raised, line } = world({ all: off, benchmarks: [] });
    const upTo = (...rewards: number[]) =>
      heldOutMeans(rewards.map((held_out_reward, at) => ({ step: at * 5, held_out_reward, completed_samples: 40 })));
    read(11, begin, { total: 15, measured: upTo(0.5, 0.6, 0.7), mean: 0.7 });
    read(15, begin + 1_000, { status: 'succeeded', total: 15 });
    const limitTo = (low: number, high: number): void => {
      workbench.alarms = { all: { ...off, heldOut: [low, high], trainer: [low, high] }, benchmarks: [] };
      noteAlarms(workbench, begin + 2_000);
    };
    limitTo(0.75, 1);
    expect([raised, line(begin + 2_000)?.alarms]).toEqual([[], []]);
    read(15, begin + 3_000, { status: 'succeeded', total: 15, measured: upTo(0.5, 0.6, 0.7, 0.8), mean: 0.8 });
    expect(raised).toEqual([]);
    limitTo(0, 0.75);
    expect(workbench.inbox.list().flatMap(event => alarmOf(event) ?? [])).toEqual([
      'held-out 0.800 is outside 0..0.75',
      'trainer reward 0.800 is outside 0..0.75',
    ]);
    expect(raised).toEqual(['held-out range', 'trainer range']);
  });

  it('puts the alarm of a run that ended before the program started into the inbox, once (out32 A3)', () => {
    const range = { ...off, heldOut: [0.75, 1] as const };
    const { workbench, begin, raised, inbox } = world({ all: range, benchmarks: [] });
    const { statuses } = workbench;
    const ended = { kind: 'training', label: 'sweep', status: 'succeeded', done: 5, total: 5 };
    const seenAt = begin - 60 * minuteMs;
    // The inbox has only the end of one of them.
    statuses.recall([{ ...ended, id: 'trn_1', seenAt, endedAt: seenAt }]);
    workbench.pins.toggle({ kind: 'training', id: 'trn_2', label: 'sweep' });
    const measured = heldOutMeans(
      [0.5, 0.6].map((each, at) => ({ step: at * 5, held_out_reward: each, completed_samples: 40 })),
    );
    statuses.report(
      ['trn_1', 'trn_2'].map(id => ({ ...ended, id, measured })),
      { askedAt: begin, at: begin },
    );
    for (const at of [begin, begin + 1_000]) noteAlarms(workbench, at);
    expect(watchedOf(workbench, begin).map(({ alarms }) => alarms.length)).toEqual([1, 1]);
    expect([inbox(), raised]).toEqual([['held-out range'], ['held-out range']]);
    expect(workbench.inbox.list()).toMatchObject([{ id: 'trn_1' }]);
    workbench.inbox.dismiss(workbench.inbox.list());
    noteAlarms(workbench, begin + 2_000);
    expect(inbox()).toEqual([]);
  });

  it('rings for a collapse whose rounds are read together, whether the previous one is over or not (attack26 A1)', () => {
    const { workbench, begin, read, raised, inbox } = world();
    const rewards = [0.7];
    const addAll = (...more: readonly number[]): void => {
      rewards.push(...more);
      const step = rewards.length * 10;
      read(step, begin + step * minuteMs, { measured: heldOutMeans(curve(rewards)) });
    };
    const good = Array.from({ length: 20 }, () => 0.7);
    addAll(0.1);
    addAll(...good);
    workbench.inbox.dismiss(workbench.inbox.list());
    addAll(0.1, 0.1, 0.1);
    expect([raised.length, inbox()]).toEqual([2, ['held-out drop']]);
    expect(workbench.inbox.list()[0]?.at).toBe(begin + rewards.length * 10 * minuteMs);
    workbench.inbox.dismiss(workbench.inbox.list());
    addAll(...good, 0.1, 0.1);
    expect([raised.length, inbox()]).toEqual([3, ['held-out drop']]);
  });

  it.each(['held', 'over', 'dismissed'])(
    'rings at steps that a run repeats after one that was %s (attack29 A2)',
    was => {
      const rules = { ...off, trainer: [0, 1] as const, belowBest: 4 };
      const { workbench, begin, read, raised } = world({ all: rules, benchmarks: [] });
      const { records, inbox } = workbench;
      let reads = 0;
      const readAll = (done: number, mean: number, ...rewards: readonly number[]): void => {
        reads += 1;
        const at = begin + reads * minuteMs;
        const measured = heldOutMeans(curve(rewards));
        records.observed([{ kind: 'training', id: 'trn_1', done }], { askedAt: at, at, by: 'progress' });
        read(done, at, { mean, measured });
      };
      const words = (): string[] =>
        inbox
          .list()
          .flatMap(event => alarmOf(event) ?? [])
          .sort();
      const good = Array.from({ length: 10 }, () => 0.7);
      readAll(110, 0.5, ...good);
      readAll(120, 2, ...good, 0.1, 0.1);
      if (was !== 'held') readAll(130, 0.5, ...good, 0.1, 0.1, 0.7);
      expect(words()).toHaveLength(2);
      if (was === 'dismissed') inbox.dismiss(inbox.list());
      readAll(40, 0.5, 0.7, 0.7, 0.7, 0.7);
      expect(raised.splice(0)).toHaveLength(2);
      readAll(50, 3, 0.7, 0.7, 0.7, 0.7, 0.05);
      expect(raised).toEqual(['held-out drop', 'trainer range']);
      expect(words()).toEqual([
        'held-out 0.0500 is below its best 0.700 at step 40 by more than the 99.9% intervals',
        'trainer reward 3.00 is outside 0..1',
      ]);
      // It is the same one while it continues, and after it has passed the old step.
      readAll(60, 3, 0.7, 0.7, 0.7, 0.7, 0.05, 0.05);
      readAll(140, 3, 0.7, 0.7, 0.7, 0.7, ...Array.from({ length: 10 }, () => 0.05));
      expect([raised.length, words().length]).toEqual([2, 2]);
    },
  );

  it('rings once for each past drop that holds at some read, however many rounds a read has', () => {
    const anyReads = fc.array(fc.array(fc.constantFrom(0.1, 0.4, 0.7), { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(anyReads, reads => {
        const { workbench, begin, read, raised, inbox } = world();
        const rewards = [0.7];
        const rung = new Set<number>();
        for (const more of reads) {
          rewards.push(...more);
          const heldOut = curve(rewards);
          const step = rewards.length * 10;
          const past = pastAlarms({ ...nothing, heldOut }, alarmDefaults.all, [0, 1]).at(-1);
          const isNew = past?.overAtStep === undefined && past?.step !== undefined && !rung.has(past.step);
          if (isNew) rung.add(past.step);
          read(step, begin + step * minuteMs, { measured: heldOutMeans(heldOut) });
          expect([raised.length, inbox().length]).toEqual([rung.size, isNew ? 1 : 0]);
          workbench.inbox.dismiss(workbench.inbox.list());
        }
        workbench.close();
      }),
      { numRuns: 50 },
    );
  });
});
