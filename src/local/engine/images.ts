/**
 * The local image build: checks that a task's grader works and that its files have not changed since the upload, and
 * hashes everything it needs.
 */

import { errorMessage, isStorageError } from '../../base/errors.ts';
import { parseExactly } from '../../base/exact-json.ts';
import { type ManifestTask, readTask, runtimeOf } from '../samples/manifest.ts';
import type { Failure } from '../store/records.ts';
import type { Job, JobSource } from './job-queue.ts';
import type { EngineParts } from './parts.ts';

/** How many images are read from the database at once. */
const batchSize = 16;

type Parts = Pick<EngineParts, 'benchmarks' | 'uploads' | 'graders'>;

const emptyAnswer = { text: '', tokens: [], prompt_tokens: 0, completion_tokens: 0, finish_reason: 'stop' } as const;

/** Builds a benchmark's images as one job. */
export class ImageBuilder implements JobSource {
  readonly kind = 'image build';
  readonly concurrency = 4;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  readonly jobs = (): Job[] =>
    this.#parts.benchmarks.withBuilds().map(id => ({ id, run: signal => this.#build(id, signal) }));

  readonly progress = (benchId: string): number => this.#parts.benchmarks.endedBuilds(benchId);

  readonly fail = (benchId: string, { message }: Failure): boolean =>
    this.#parts.benchmarks.failBuilds(benchId, message);

  async #build(benchId: string, signal: AbortSignal): Promise<void> {
    const { benchmarks } = this.#parts;
    for (;;) {
      const waiting = benchmarks.building(benchId, batchSize);
      for (const { organization_id, task_id, spec } of waiting) {
        if (signal.aborted) return;
        const build = await this.#buildOf(parseExactly(spec) as ManifestTask, benchId, signal);
        if (signal.aborted) return;
        benchmarks.finishBuild(organization_id, benchId, task_id, build);
      }
      if (waiting.length === 0) return;
    }
  }

  async #buildOf(spec: ManifestTask, benchId: string, signal: AbortSignal) {
    const { benchmarks, uploads, graders } = this.#parts;
    const task = readTask(spec);
    const { dockerfile_path, image_ref } = runtimeOf(spec);
    try {
      // Only regular expressions can be too slow: the manifest's schema bounds other graders.
      if (task.grader.kind === 'regex') {
        const order = { task_id: task.name, sample: 0, grader: task.grader };
        const { error } = await graders.grade({ order, calls: [], answer: emptyAnswer, latency_ms: 0 }, signal);
        if (error !== null) return { failure: error };
      }
      const needed = [...task.files, ...(dockerfile_path === undefined ? [] : [dockerfile_path])];
      const files = benchmarks.files(benchId).filter(({ path }) => needed.includes(path));
      for (const file of files) await uploads.verify(benchId, file);
      const hashes = files.map(({ path, sha256 }) => [path, sha256]);
      const content = [spec.run_command, task.environment, task.grader.kind, hashes];
      return { content: JSON.stringify(image_ref === undefined ? content : [...content, image_ref]), image_ref };
    } catch (error) {
      if (isStorageError(error)) throw error;
      return { failure: errorMessage(error) };
    }
  }
}
