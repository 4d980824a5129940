/** What the routes work with. */

import type { ChatTurn, Generated, SampledToken, SamplingOptions } from '../model/policy.ts';
import type { BenchmarkStore } from '../store/benchmarks.ts';
import type { Database } from '../store/database.ts';
import type { EvaluationStore } from '../store/evaluations.ts';
import type { TrajectoryStore } from '../store/trajectories.ts';

/** Answers with a model. Runs away from the server's own thread, so that others are answered meanwhile. */
export interface Inference {
  /** Whether the slug names a model that can answer. */
  has: (slug: string) => boolean;
  generate: (
    slug: string,
    turns: readonly ChatTurn[],
    options: SamplingOptions,
    signal: AbortSignal,
  ) => AsyncGenerator<SampledToken, Generated>;
}

export interface ServiceContext {
  readonly database: Database;
  readonly benchmarks: BenchmarkStore;
  readonly evaluations: EvaluationStore;
  readonly trajectories: TrajectoryStore;
  readonly inference: Inference;
  /** Tells the engine that there may be new work. */
  readonly wake: () => void;
}

/** What a handler is told of a request. */
export interface Call<Query = unknown, Body = unknown> {
  readonly organizationId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly idempotencyKey: string | undefined;
}
