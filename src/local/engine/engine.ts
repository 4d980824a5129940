/**
 * The background work of the local service, in lanes that do not wait for each other. All pending work is in the
 * database, so a killed process resumes where it stopped.
 */
import type { BenchmarkStore } from '../store/benchmarks.ts';
import type { UploadFolder } from '../store/upload-folder.ts';
import { Deployer, type DeploymentParts } from './deployments.ts';
import { type EvaluationParts, EvaluationRunner } from './evaluations.ts';
import { buildImages } from './images.ts';
import { Lane } from './lane.ts';
import { type TrainingParts, TrainingRunner } from './training.ts';

export interface EngineParts {
  readonly benchmarks: BenchmarkStore;
  readonly uploads: UploadFolder;
  readonly evaluation: EvaluationParts;
  readonly training: TrainingParts;
  readonly deployment: DeploymentParts;
}

export class Engine {
  readonly #stop = new AbortController();
  readonly #training: TrainingRunner;
  readonly #lanes: readonly Lane[];
  readonly deployer: Deployer;

  constructor({ benchmarks, uploads, evaluation, training, deployment }: EngineParts) {
    const { signal } = this.#stop;
    const evaluations = new EvaluationRunner(evaluation, signal);
    this.#training = new TrainingRunner(training, signal);
    this.deployer = new Deployer(deployment, signal);
    this.#lanes = [
      new Lane('images', () => buildImages(benchmarks, uploads)),
      new Lane('evaluations', evaluations.advance),
      new Lane('training', this.#training.advance),
      new Lane('deployments', this.deployer.advance),
    ];
  }

  get busy(): boolean {
    return this.#lanes.some(lane => lane.busy);
  }

  /** Looks for new work, and for requests to cancel work in progress. */
  wake = (): void => {
    if (this.#stop.signal.aborted) return;
    this.#training.applyCancellations();
    for (const lane of this.#lanes) lane.wake();
  };

  /** Stops after the current pieces of work; the rest is done at the next start. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#lanes.map(lane => lane.stop()));
  }
}
