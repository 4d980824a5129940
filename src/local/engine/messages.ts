/** Messages between the service and its worker threads. */

import type { GraderSpec } from '../../grading/graders.ts';
import type { Episode } from '../model/episode.ts';
import type { ChatTurn, Generated, SamplingOptions } from '../model/policy.ts';
import type { ToolSpec } from '../model/tools.ts';
import type { GroupTask, StepDiagnostics } from '../model/trainer.ts';
import type { TaskGrader } from '../samples/manifest.ts';
import type { HeldOut } from '../store/training.ts';
import type { WeightFile } from '../store/weight-files.ts';
import type { TrainingOptions } from './training-options.ts';

/** A model that can be loaded here. */
export type LocalModel =
  | { readonly kind: 'base'; readonly slug: string }
  /** A base model with trained weights. */
  | { readonly kind: 'checkpoint'; readonly slug: string; readonly file: WeightFile }
  /** A self-contained model file. */
  | { readonly kind: 'serving'; readonly file: WeightFile };

export interface RolloutOrder {
  readonly task_id: string;
  /** Counts the rollouts of a task, from 0. */
  readonly sample: number;
  readonly turns: readonly ChatTurn[];
  readonly grader: TaskGrader;
  readonly tools?: ToolSpec | undefined;
  readonly sampling: SamplingOptions;
}

export interface TrainingTask extends GroupTask {
  readonly grader: GraderSpec;
}

export interface TrainingOrder {
  readonly dataFolder: string;
  readonly runId: string;
  /** The model that training starts from. The KL penalty is relative to its base model. */
  readonly model: LocalModel;
  readonly train: readonly TrainingTask[];
  readonly heldOut: readonly TrainingTask[];
  /** The split that the held-out tasks come from. */
  readonly heldOutSplit: HeldOut['split'];
  readonly options: TrainingOptions;
  /** The committed checkpoint to resume from. */
  readonly from: {
    readonly step: number;
    readonly weights: WeightFile;
    readonly state: WeightFile;
    /** Number of consecutive ungraded steps up to the checkpoint. */
    readonly ungraded: number;
  } | null;
}

/** A rollout's answer, to be graded. */
export interface Answered extends Episode {
  readonly order: Pick<RolloutOrder, 'task_id' | 'sample' | 'grader' | 'tools'>;
  readonly latency_ms: number;
}

export type ToWorker =
  | {
      readonly kind: 'rollouts';
      readonly id: number;
      readonly model: LocalModel;
      readonly rollouts: readonly RolloutOrder[];
    }
  | {
      readonly kind: 'chat';
      readonly id: number;
      readonly model: LocalModel;
      readonly turns: readonly ChatTurn[];
      readonly sampling: SamplingOptions;
    }
  /** Loads a model and has it answer once. */
  | { readonly kind: 'probe'; readonly id: number; readonly model: LocalModel }
  | { readonly kind: 'grade'; readonly id: number; readonly answered: Answered }
  | { readonly kind: 'train'; readonly id: number; readonly order: TrainingOrder }
  /** Stops chat immediately, rollouts after the current one, and training after its current step, with a checkpoint. */
  | { readonly kind: 'cancel'; readonly id: number };

/** The outcome of a rollout. A failed rollout has an `error` and no reward. */
export interface RolloutResult {
  readonly task_id: string;
  /** Counts the rollouts of a task, from 0. */
  readonly sample: number;
  readonly grader: TaskGrader | null;
  /** Tool calls before the answer. */
  readonly calls: Episode['calls'];
  /** The rewards of the steps, calls first; empty if there is no reward, or the answer alone gets it. */
  readonly step_rewards: readonly (number | null)[];
  readonly answer: Generated | null;
  readonly reward: number | null;
  readonly explanation: string;
  readonly error: string | null;
  readonly latency_ms: number;
}

/** Training progress. A step's metrics come before its checkpoint. */
export type TrainingEvent =
  | {
      readonly kind: 'step';
      readonly step: number;
      /** The mean reward of its rollouts; null if none could be graded, so that nothing was learned. */
      readonly reward: number | null;
      readonly diagnostics: StepDiagnostics | null;
      readonly rollouts: readonly RolloutResult[];
    }
  | ({ readonly kind: 'held-out'; readonly step: number } & HeldOut)
  /** The run is stopping: progress is being saved. */
  | { readonly kind: 'stopping' }
  /** A checkpoint's files have been flushed to disk. */
  | { readonly kind: 'checkpoint'; readonly step: number; readonly weights_hash: string; readonly state_hash: string };

export type FromWorker =
  | { readonly kind: 'answers'; readonly id: number; readonly answers: readonly Answered[] }
  | { readonly kind: 'token'; readonly id: number; readonly token: number; readonly text: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Generated }
  | { readonly kind: 'graded'; readonly id: number; readonly result: RolloutResult }
  | { readonly kind: 'news'; readonly id: number; readonly news: TrainingEvent }
  /** Training has ended, after its last step or because it was stopped. */
  | { readonly kind: 'trained'; readonly id: number; readonly finished: boolean }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string; readonly code?: string };
