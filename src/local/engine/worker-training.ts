/** A training run in a worker: batches, held-out evaluations, checkpoints. */
import { hashOf } from '../../base/hash.ts';
import { maxOf } from '../../base/many.ts';
import { freshOptimizer } from '../model/adam.ts';
import { packCheckpoint, packOptimizer, unpackCheckpoint, unpackOptimizer } from '../model/checkpoint-file.ts';
import type { PolicyModel } from '../model/policy.ts';
import { mostSteps } from '../model/tools.ts';
import { batchesOf, Trainer } from '../model/trainer.ts';
import type { HeldOut } from '../store/training.ts';
import { readVerifiedAs, writeDurably } from '../store/weight-files.ts';
import { WeightFolder } from '../store/weight-folder.ts';
import type { RolloutResult, TrainingEvent, TrainingOrder, TrainingTask } from './messages.ts';
import { loadModel } from './worker-models.ts';
import { gradeAnswer, sampleEpisode } from './worker-rollouts.ts';

/** How many answers to sample for each held-out task: enough for a meaningful mean. */
const heldOutSamples = { perTask: 4, inAll: 100, mostPerTask: 16 } as const;
/** A batch may be ungradable by chance; a run fails after this many in a row. */
const maxUngradedSteps = 5;

/** No answer in several consecutive steps could be graded, so there is nothing to learn from. */
export class NothingGraded extends Error {
  override readonly name = 'NothingGraded';
  readonly code = 'no_rollout_scored';
}

/**
 * Trains, and emits an event for every step. Calls `shallStop` between steps. Returns whether it reached the last step.
 *
 * @throws WeightFileError if the initial weights cannot be read
 * @throws TrainingDiverged
 * @throws NothingGraded after several steps
 */
export async function train(
  order: TrainingOrder,
  emit: (event: TrainingEvent) => void,
  shallStop: () => Promise<boolean>,
): Promise<boolean> {
  const { options, from, heldOut } = order;
  const trainer = trainerOf(order);
  const evaluate = (step: number): void => {
    if (heldOut.length === 0) return;
    const rewards = heldOutRewards(trainer.model, heldOut, options.seed);
    emit({ kind: 'held-out', step, split: order.heldOutSplit, ...meanOf(rewards) });
  };
  if (!from) evaluate(0);
  const batchAt = batchesOf(order.train, options.train_batch_size, options.seed);
  let saved = from?.step ?? 0;
  let ungraded = from?.ungraded ?? 0;
  for (let step = saved + 1; step <= options.num_steps; step += 1) {
    if (await shallStop()) {
      emit({ kind: 'stopping' });
      if (saved < step - 1) save(order, trainer, step - 1, emit);
      return false;
    }
    const rollouts: RolloutResult[] = [];
    let begun = performance.now();
    const { reward, diagnostics } = trainer.step(step, batchAt(step), (task, _last, rollout) => {
      const sample = rollouts.length % options.samples_per_instance;
      const result = gradeAnswer({ order: { ...task, sample }, ...rollout, latency_ms: performance.now() - begun });
      begun = performance.now();
      rollouts.push(result);
      return result.reward;
    });
    emit({ kind: 'step', step, reward, diagnostics, rollouts });
    ungraded = reward === null ? ungraded + 1 : 0;
    if (ungraded >= maxUngradedSteps) {
      throw new NothingGraded(
        `None of the answers in ${maxUngradedSteps} consecutive steps could be graded, up to step ${step}.`,
      );
    }
    if (step % options.held_out_every === 0 || step === options.num_steps) {
      evaluate(step);
      save(order, trainer, step, emit);
      saved = step;
    }
  }
  return true;
}

function trainerOf({ model, from, options, train }: TrainingOrder): Trainer {
  const start = loadModel(model);
  // Copy the weights: the trainer changes them in place, and models in memory are shared.
  const weights = from ? readVerifiedAs(from.weights, unpackCheckpoint).weights : start.network.weights.slice();
  const optimizer = from ? readVerifiedAs(from.state, unpackOptimizer) : freshOptimizer(weights.length);
  const { samples_per_instance: samples, learning_rate: learningRate, kl_penalty: klPenalty, seed } = options;
  const longest = maxOf(train.map(task => task.max_tokens * mostSteps(task.tools)));
  return new Trainer(start.withWeights(weights), { samples, learningRate, klPenalty, seed, longest }, optimizer);
}

function save(order: TrainingOrder, trainer: Trainer, step: number, emit: (event: TrainingEvent) => void): void {
  const folder = new WeightFolder(order.dataFolder);
  const { slug, network } = trainer.model;
  const weights = packCheckpoint({ base_model_slug: slug, step, weights: network.weights });
  const state = packOptimizer(slug, trainer.optimizer);
  emit({
    kind: 'checkpoint',
    step,
    weights_hash: writeDurably(folder.checkpoint(order.runId, step), weights),
    state_hash: writeDurably(folder.trainerState(order.runId, step), state),
  });
}

/**
 * The rewards of held-out answers; null if an answer could not be graded. All of a run's evaluations use the same
 * seeds, so that they can be compared.
 */
function heldOutRewards(model: PolicyModel, tasks: readonly TrainingTask[], seed: number): (number | null)[] {
  const { perTask, inAll, mostPerTask } = heldOutSamples;
  const samples = Math.min(mostPerTask, Math.max(perTask, Math.ceil(inAll / tasks.length)));
  return tasks.flatMap(task =>
    Array.from({ length: samples }, (_, sample) => {
      const { turns, tools, max_tokens, task_id } = task;
      const rolloutSeed = hashOf(`${seed} held-out ${task_id} ${sample}`);
      const sampling = { temperature: 1, top_p: 1, max_tokens, seed: rolloutSeed };
      const rollout = sampleEpisode(model, { turns, tools, sampling });
      return gradeAnswer({ order: { ...task, sample }, ...rollout, latency_ms: 0 }).reward;
    }),
  );
}

/** The mean over the graded answers, and their number. */
function meanOf(rewards: readonly (number | null)[]): Omit<HeldOut, 'split'> {
  const graded = rewards.filter(reward => reward !== null);
  return {
    held_out_reward: graded.length === 0 ? null : graded.reduce((sum, each) => sum + each, 0) / graded.length,
    expected_samples: rewards.length,
    completed_samples: graded.length,
    failed_samples: rewards.length - graded.length,
  };
}
