/** What the service and its workers say to each other. */
import type { GraderSpec } from '../grading/graders.ts';
import type { ChatTurn, Generated, SamplingOptions } from '../model/policy.ts';

export interface RolloutOrder {
  readonly task_id: string;
  readonly turns: readonly ChatTurn[];
  readonly grader: GraderSpec;
  readonly sampling: SamplingOptions;
}

export type ToWorker =
  | {
      readonly kind: 'rollouts';
      readonly id: number;
      readonly model: string;
      readonly rollouts: readonly RolloutOrder[];
    }
  | {
      readonly kind: 'chat';
      readonly id: number;
      readonly model: string;
      readonly turns: readonly ChatTurn[];
      readonly sampling: SamplingOptions;
    }
  | { readonly kind: 'cancel'; readonly id: number };

/** What became of a rollout. Without a reward it failed, and `error` says why. */
export interface RolloutResult {
  readonly task_id: string;
  readonly answer: Generated | null;
  readonly reward: number | null;
  readonly explanation: string;
  readonly error: string | null;
  readonly latency_ms: number;
}

export type FromWorker =
  | { readonly kind: 'rollouts'; readonly id: number; readonly results: readonly RolloutResult[] }
  | { readonly kind: 'token'; readonly id: number; readonly token: number; readonly text: string }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Generated }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };
