/** Seeded training runs, with and without a planted fault, and the findings of the audit after each step. */
import { hashOf } from '../../src/base/hash.ts';
import { type GraderSpec, grade } from '../../src/grading/graders.ts';
import { freshOptimizer } from '../../src/local/model/adam.ts';
import { buildBaseModel } from '../../src/local/model/base-models.ts';
import type { ChatTurn, Generated, PolicyModel } from '../../src/local/model/policy.ts';
import { batchesOf, Trainer } from '../../src/local/model/trainer.ts';
import { sampleManifests } from '../../src/local/samples/benchmarks.ts';
import {
  type AuditHeldOut,
  type AuditRollout,
  type AuditStep,
  audit,
  type FindingKind,
  textsToRead,
} from '../../src/present/audit.ts';
import { Random } from '../rig/random.ts';

/** Faults, and the findings that detect each. */
export const faults = {
  'grader never matches': ['never'],
  'duplicate tasks': ['duplicates'],
  'too hard': ['hard', 'never'],
  collapse: ['answer', 'repetition'],
  'one short answer': ['answer'],
  'cut off': ['cut_off'],
  'length gamed': ['length'],
} as const satisfies Record<string, readonly FindingKind[]>;
export type Fault = keyof typeof faults;
export const faultNames = Object.keys(faults) as readonly Fault[];

/**
 * The sample benchmarks on which the small model learns well. On the others, findings are correct: on opposites, nine
 * in ten groups are wrong at first, and on what-is-it, the model soon always answers `no`. On small-sums, a few runs come
 * to answer most questions with `9`: these count as false alarms all the same.
 */
const soundBenchmarks = ['t-words', 'letter-words', 'small-sums'] as const;
/** Benchmarks that a fault needs. */
const benchmarksOf: Partial<Record<Fault, readonly string[]>> = {
  collapse: ['t-words'],
  'one short answer': ['small-sums'],
  'cut off': ['next-number'],
  // These have long answers.
  'length gamed': ['t-words', 'letter-words'],
};
/** Those at which a fault appears by itself. */
const learningRates: Partial<Record<Fault, number>> = { collapse: 0.2, 'one short answer': 0.05, 'cut off': 0.02 };
const size = { batch: 12, samples: 8, steps: 16, heldOutEvery: 3, heldOutTasks: 12, heldOutSamples: 4 } as const;
/** A fault should be detected within this many steps of its onset. */
export const namedWithin = 5;

interface Task {
  readonly task_id: string;
  readonly turns: readonly ChatTurn[];
  readonly max_tokens: number;
  readonly grader: GraderSpec;
}

/** Expects an answer that no model gives. */
const impossible: GraderSpec = {
  kind: 'exact',
  expected: 'an answer that is far longer than any that the model gives',
};

const models = new Map<string, PolicyModel>();
function modelOf(fault: Fault | undefined): PolicyModel {
  const slug = fault === 'cut off' ? 'benchtop/clerk-small' : 'benchtop/tutor-base';
  const known = models.get(slug) ?? buildBaseModel(slug);
  models.set(slug, known);
  return known;
}

function tasksOf(benchmark: string, split: 'train' | 'test'): Task[] {
  const manifest = sampleManifests.find(({ name }) => name === benchmark);
  return (manifest?.tasks ?? [])
    .filter(task => task.split === split)
    .map(({ name, input_messages, max_tokens, grader }) => ({
      ...{ task_id: name, max_tokens, grader },
      turns: input_messages as ChatTurn[],
    }));
}

function planted(tasks: readonly Task[], fault: Fault | undefined): readonly Task[] {
  switch (fault) {
    case 'grader never matches':
      return tasks.map(task => ({ ...task, grader: impossible }));
    case 'too hard':
      return tasks.map((task, index) => (index % 20 === 0 ? task : { ...task, grader: impossible }));
    case 'duplicate tasks': {
      const few = tasks.slice(0, 6);
      return tasks.map((task, index) => ({ ...(few[index % few.length] ?? task), task_id: task.task_id }));
    }
    default:
      return tasks;
  }
}

function rewardOf(task: Task, answer: Generated, isGamed: boolean): number {
  return isGamed ? answer.tokens.length / task.max_tokens : grade(task.grader, answer.text).reward;
}

interface AuditedRun {
  readonly fault: Fault | undefined;
  readonly benchmark: string;
  readonly seed: number;
  /** The first step with the fault; undefined if it never appeared. */
  readonly onset: number | undefined;
  /** The findings after each step, from step 1. */
  readonly findings: readonly (readonly FindingKind[])[];
}

/** A policy has collapsed if its entropy falls below this share of that in the first step. */
const collapsed = 0.5;

/** Whether a fault that appears by itself has appeared in a step. */
function hasAppeared(fault: Fault | undefined, rewards: readonly AuditRollout[], entropyShare: number): boolean {
  const isHalf = (rollouts: readonly AuditRollout[] = []): boolean => rollouts.length >= rewards.length / 2;
  switch (fault) {
    case 'collapse':
      return entropyShare < collapsed;
    case 'one short answer':
      return [...Map.groupBy(rewards, ({ answer }) => answer).values()].some(isHalf);
    case 'cut off':
      return isHalf(rewards.filter(({ finish_reason, reward }) => finish_reason === 'length' && reward === 1));
    default:
      return false;
  }
}

/** Runs `steps` steps. A run whose fault appears by itself goes on until {@link namedWithin} steps after that. */
export function auditedRun(seed: number, fault?: Fault, steps: number = size.steps): AuditedRun {
  const random = new Random(`audit ${seed} ${fault ?? 'sound'}`);
  const benchmark = random.pick((fault && benchmarksOf[fault]) ?? soundBenchmarks);
  const train = planted(tasksOf(benchmark, 'train'), fault);
  const heldOutTasks = tasksOf(benchmark, 'test').slice(0, size.heldOutTasks);
  const gamedFrom = fault === 'length gamed' ? random.between(2, 5) : Number.POSITIVE_INFINITY;
  const ownRate = fault && learningRates[fault];
  const appears = ownRate !== undefined;
  const learningRate = ownRate ?? random.pick([0.005, 0.01, 0.02]);
  const base = modelOf(fault);
  const longest = Math.max(...train.map(({ max_tokens }) => max_tokens));
  const policy = base.withWeights(base.network.weights.slice());
  const options = { samples: size.samples, learningRate, klPenalty: fault === 'collapse' ? 0 : 0.01, seed, longest };
  const trainer = new Trainer(policy, options, freshOptimizer(policy.network.weights.length));
  const batchAt = batchesOf(train, size.batch, seed);
  const trainerRewards: { step: number; value: number | null }[] = [];
  const heldOut: AuditHeldOut[] = [];
  const read: AuditStep[] = [];
  const findings: FindingKind[][] = [];
  let first: number | undefined;
  const isGamed = Number.isFinite(gamedFrom);
  let onset = appears || fault === undefined ? undefined : isGamed ? gamedFrom : 1;
  const last = (): number => (appears ? (onset ?? 30) + namedWithin : isGamed ? gamedFrom + namedWithin : steps);
  for (let step = 1; step <= last(); step += 1) {
    const rewards: AuditRollout[] = [];
    const { reward, diagnostics } = trainer.step(step, batchAt(step), (task, answer) => {
      const score = rewardOf(task, answer, step >= gamedFrom);
      rewards.push({
        ...{ trajectory_id: `${step} ${rewards.length}`, task_id: task.task_id, reward: score },
        ...{ completion_tokens: answer.tokens.length, answer: answer.text },
        ...{ question: JSON.stringify(task.turns), finish_reason: answer.finish_reason ?? undefined },
      });
      return score;
    });
    trainerRewards.push({ step, value: reward });
    read.push({ step, rewards });
    if (step % size.heldOutEvery === 0) heldOut.push({ step, ...heldOutMean(policy, heldOutTasks, seed) });
    first ??= diagnostics?.entropy;
    if (hasAppeared(fault, rewards, (diagnostics?.entropy ?? 1) / (first ?? 1))) onset ??= step;
    findings.push(
      audit({ trainer: trainerRewards, heldOut, steps: asRead(read), range: [0, 1] }).map(({ kind }) => kind),
    );
  }
  return { fault, benchmark, seed, onset, findings };
}

/** The steps with only the texts that the audit reads. */
function asRead(steps: readonly AuditStep[]): readonly AuditStep[] {
  const texts = new Set(textsToRead(steps));
  return steps.map(({ step, rewards }) => ({
    step,
    rewards: rewards.map(({ answer, question, finish_reason, ...rollout }) =>
      texts.has(rollout.trajectory_id ?? '') ? { ...rollout, answer, question, finish_reason } : rollout,
    ),
  }));
}

function heldOutMean(policy: PolicyModel, tasks: readonly Task[], seed: number): Omit<AuditHeldOut, 'step'> {
  const rewards = tasks.flatMap(({ task_id, turns, max_tokens, grader }) =>
    Array.from({ length: size.heldOutSamples }, (_, sample) => {
      const sampling = { temperature: 1, top_p: 1, max_tokens, seed: hashOf(`${seed} ${task_id} ${sample}`) };
      return grade(grader, policy.answer(turns, sampling).text).reward;
    }),
  );
  return { reward: rewards.reduce((sum, each) => sum + each, 0) / rewards.length, samples: rewards.length };
}

/** Whether a fault was detected within {@link namedWithin} steps of its onset. */
export function isNamed({ fault, onset, findings }: AuditedRun): boolean {
  if (fault === undefined || onset === undefined) return false;
  const wanted: readonly FindingKind[] = faults[fault];
  return findings.slice(onset - 1, onset + namedWithin).some(kinds => kinds.some(kind => wanted.includes(kind)));
}
