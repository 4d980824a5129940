/**
 * The local image build: checks that a task has a prompt and a grader and that its files are as uploaded, and hashes
 * everything it needs.
 */
import { errorMessage } from '../../text/errors.ts';
import { grade } from '../grading/graders.ts';
import { type ManifestTask, readTask, runtimeOf } from '../samples/manifest.ts';
import type { BenchmarkStore } from '../store/benchmarks.ts';
import type { UploadFolder } from '../store/upload-folder.ts';

const imagesAtOnce = 16;

/** Builds a few images. Returns whether there may be more. */
export async function buildImages(benchmarks: BenchmarkStore, uploads: UploadFolder): Promise<boolean> {
  const waiting = benchmarks.building(imagesAtOnce);
  for (const { organization_id, bench_id, task_id, spec } of waiting) {
    const build = await buildOf(JSON.parse(spec) as ManifestTask, bench_id, benchmarks, uploads);
    benchmarks.finishBuild(organization_id, bench_id, task_id, build);
  }
  return waiting.length > 0;
}

async function buildOf(spec: ManifestTask, benchId: string, benchmarks: BenchmarkStore, uploads: UploadFolder) {
  const task = readTask(spec);
  const { dockerfile_path, image_ref } = runtimeOf(spec);
  try {
    if (task.grader.kind !== 'none') grade(task.grader, '');
    const needed = [...task.files, ...(dockerfile_path === undefined ? [] : [dockerfile_path])];
    const files = benchmarks.files(benchId).filter(({ path }) => needed.includes(path));
    for (const file of files) await uploads.verify(benchId, file);
    const hashes = files.map(({ path, sha256 }) => [path, sha256]);
    const content = [spec.run_command, task.environment, task.grader.kind, hashes];
    return { content: JSON.stringify(image_ref === undefined ? content : [...content, image_ref]), image_ref };
  } catch (error) {
    return { failure: errorMessage(error) };
  }
}
