/** All stores in a data folder. */
import { join } from 'node:path';
import { BenchmarkStore } from './benchmarks.ts';
import { Database } from './database.ts';
import { databasePath } from './database-path.ts';
import { DatasetStore } from './datasets.ts';
import { DeploymentStore } from './deployments.ts';
import { EvaluationStore } from './evaluations.ts';
import { IdempotencyStore } from './idempotency.ts';
import { JobAttempts } from './job-attempts.ts';
import type { Keyring } from './keyring.ts';
import { SecretStore } from './secrets.ts';
import { TrainingStore } from './training.ts';
import { TrajectoryStore } from './trajectories.ts';
import { TrajectoryUploads } from './trajectory-uploads.ts';
import { UploadFolder } from './upload-folder.ts';
import { WeightFolder } from './weight-folder.ts';

export interface Stores {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly benchmarks: BenchmarkStore;
  readonly datasets: DatasetStore;
  readonly trajectories: TrajectoryStore;
  readonly trajectoryUploads: TrajectoryUploads;
  readonly evaluations: EvaluationStore;
  readonly training: TrainingStore;
  readonly deployments: DeploymentStore;
  readonly secrets: SecretStore;
  readonly attempts: JobAttempts;
  readonly idempotency: IdempotencyStore;
  readonly uploads: UploadFolder;
  readonly weights: WeightFolder;
}

export function openStores(
  dataFolder: string,
  keyring: Keyring,
  database = new Database(databasePath(dataFolder)),
): Stores {
  const datasets = new DatasetStore(database);
  const trajectories = new TrajectoryStore(database, datasets);
  return {
    database,
    keyring,
    benchmarks: new BenchmarkStore(database),
    datasets,
    trajectories,
    trajectoryUploads: new TrajectoryUploads(database, datasets, trajectories),
    evaluations: new EvaluationStore(database, datasets, trajectories),
    training: new TrainingStore(database, datasets, trajectories),
    deployments: new DeploymentStore(database),
    secrets: new SecretStore(database, keyring),
    attempts: new JobAttempts(database, join(dataFolder, 'jobs-under-way')),
    idempotency: new IdempotencyStore(database),
    uploads: new UploadFolder(dataFolder),
    weights: new WeightFolder(dataFolder),
  };
}

/** At startup: removes orphaned files. A process killed between writing a file and its row leaves one behind. */
export function sweepFiles({ benchmarks, training, deployments, uploads, weights }: Stores): void {
  uploads.sweep(benchmarks.allIds());
  weights.sweep(training.allCheckpoints(), deployments.allIds());
}
