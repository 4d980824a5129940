/** Where the weights of checkpoints and deployments are in a data folder. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

export class WeightFolder {
  readonly #checkpoints: string;
  readonly #deployments: string;

  constructor(dataFolder: string) {
    this.#checkpoints = join(dataFolder, 'checkpoints');
    this.#deployments = join(dataFolder, 'deployments');
  }

  run(runId: string): string {
    return join(this.#checkpoints, runId);
  }

  checkpoint(runId: string, step: number): string {
    return join(this.run(runId), `${step}.weights`);
  }

  /** The optimizer state needed to resume after a step. */
  trainerState(runId: string, step: number): string {
    return join(this.run(runId), `${step}.state`);
  }

  serving(deploymentId: string): string {
    return join(this.#deployments, deploymentId, 'serving.weights');
  }

  removeRun(runId: string): void {
    rmSync(this.run(runId), { recursive: true, force: true });
  }

  removeDeployment(deploymentId: string): void {
    rmSync(join(this.#deployments, deploymentId), { recursive: true, force: true });
  }

  /** Removes uncommitted files, and the files of deleted runs and deployments. */
  sweep(
    checkpoints: readonly { readonly training_run_id: string; readonly step_index: number }[],
    deploymentIds: readonly string[],
  ): void {
    const kept = new Set(
      checkpoints.flatMap(({ training_run_id, step_index }) => [
        this.checkpoint(training_run_id, step_index),
        this.trainerState(training_run_id, step_index),
      ]),
    );
    for (const runId of entries(this.#checkpoints)) {
      const files = entries(this.run(runId)).map(name => join(this.run(runId), name));
      for (const file of files) if (!kept.has(file)) rmSync(file, { force: true });
      if (!files.some(file => kept.has(file))) this.removeRun(runId);
    }
    const deployments = new Set(deploymentIds);
    for (const deploymentId of entries(this.#deployments)) {
      if (!deployments.has(deploymentId)) {
        this.removeDeployment(deploymentId);
        continue;
      }
      const serving = this.serving(deploymentId);
      const files = entries(dirname(serving)).map(name => join(dirname(serving), name));
      for (const file of files) if (file !== serving) rmSync(file, { force: true });
    }
  }
}

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
