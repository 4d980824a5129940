/** A training run in a worker: batches, held-out evaluations, checkpoints. */
import { hashOf } from '../../text/hash.ts';
import { GradingError, grade } from '../grading/graders.ts';
import { freshOptimizer } from '../model/adam.ts';
import { packCheckpoint, packOptimizer, unpackCheckpoint, unpackOptimizer } from '../model/checkpoint-file.ts';
import type { PolicyModel } from '../model/policy.ts';
import { batchOf, Trainer } from '../model/trainer.ts';
import type { HeldOut } from '../store/training.ts';
import { readVerifiedAs, writeDurably } from '../store/weight-files.ts';
import { WeightFolder } from '../store/weight-folder.ts';
import type { RolloutResult, TrainingNews, TrainingOrder, TrainingTask } from './messages.ts';
import { loadModel } from './worker-models.ts';
import { gradeAnswer } from './worker-rollouts.ts';

/** Answers sampled for each test task: a single one says little. */
const heldOutSamples = 4;

/**
 * Trains, and emits every step. Calls `shallStop` between steps. Returns whether it reached the last step.
 *
 * @throws WeightFileError if its start cannot be read
 * @throws TrainingDiverged
 * @throws NothingGraded
 */
export async function train(
  order: TrainingOrder,
  emit: (news: TrainingNews) => void,
  shallStop: () => Promise<boolean>,
): Promise<boolean> {
  const { options, from, heldOut } = order;
  const trainer = trainerOf(order);
  const evaluate = (step: number): void => {
    if (heldOut.length === 0) return;
    emit({ kind: 'held-out', step, ...heldOutReward(trainer.model, heldOut, options.seed) });
  };
  if (!from) evaluate(0);
  let saved = from?.step ?? 0;
  for (let step = saved + 1; step <= options.num_steps; step += 1) {
    if (await shallStop()) {
      emit({ kind: 'stopping' });
      if (saved < step - 1) save(order, trainer, step - 1, emit);
      return false;
    }
    const rollouts: RolloutResult[] = [];
    const batch = batchOf(order.train, options.train_batch_size, step, options.seed);
    let begun = performance.now();
    const reward = trainer.step(step, batch, (task, answer) => {
      const sample = rollouts.length % options.samples_per_instance;
      const result = gradeAnswer({ ...task, sample }, answer, performance.now() - begun);
      begun = performance.now();
      rollouts.push(result);
      return result.reward;
    });
    emit({ kind: 'step', step, reward, rollouts });
    if (step % options.held_out_every === 0 || step === options.num_steps) {
      evaluate(step);
      save(order, trainer, step, emit);
      saved = step;
    }
  }
  return true;
}

function trainerOf({ model, from, options }: TrainingOrder): Trainer {
  const start = loadModel(model);
  // The trainer changes weights in place, and those in memory are shared.
  const weights = from ? readVerifiedAs(from.weights, unpackCheckpoint).weights : start.network.weights.slice();
  const optimizer = from ? readVerifiedAs(from.state, unpackOptimizer) : freshOptimizer(weights.length);
  const { samples_per_instance: samples, learning_rate: learningRate, kl_penalty: klPenalty, seed } = options;
  return new Trainer(start.withWeights(weights), { samples, learningRate, klPenalty, seed }, optimizer);
}

function save(order: TrainingOrder, trainer: Trainer, step: number, emit: (news: TrainingNews) => void): void {
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

/** The mean reward on the test split. Every evaluation of a run uses the same seeds, so that they compare. */
function heldOutReward(model: PolicyModel, tasks: readonly TrainingTask[], seed: number): HeldOut {
  const rewards: number[] = [];
  const expected_samples = tasks.length * heldOutSamples;
  for (const task of tasks) {
    for (let sample = 0; sample < heldOutSamples; sample += 1) {
      const { turns, max_tokens } = task;
      const chance = hashOf(`${seed} held-out ${task.task_id} ${sample}`);
      const answer = model.answer(turns, { temperature: 1, top_p: 1, max_tokens, seed: chance });
      try {
        rewards.push(grade(task.grader, answer.text).reward);
      } catch (error) {
        if (!(error instanceof GradingError)) throw error;
      }
    }
  }
  const completed_samples = rewards.length;
  const sum = rewards.reduce((total, each) => total + each, 0);
  return {
    held_out_reward: completed_samples === 0 ? null : sum / completed_samples,
    expected_samples,
    completed_samples,
    failed_samples: expected_samples - completed_samples,
  };
}
