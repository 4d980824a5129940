/** Benchmark uploads: allocates signed addresses, then ingests the uploaded files as a benchmark. */

import type { IngestResult } from '../../../contract/benchmarks.ts';
import { unusablePattern } from '../../../grading/patterns.ts';
import { bytes } from '../../../text/numbers.ts';
import { type Manifest, manifest, readTask, warningsOf } from '../../samples/manifest.ts';
import { newId } from '../../store/ids.ts';
import type { DeclaredFile, StoredFile } from '../../store/upload-folder.ts';
import { apiError, conflict, notFound } from '../errors.ts';
import type { Area, Call, ServiceContext } from '../handlers.ts';
import { check, type Issue, invalid } from '../validate.ts';

/** Maximum number of files per request; further requests with the same `bench_id` upload more. */
const filesPerRequest = 200;
const largestFile = 256 * 1024 * 1024;
/** The length of the signature in a minted id. */
const markLength = 10;

const signatureOf = ({ keyring }: ServiceContext, organizationId: string, bareId: string): string =>
  keyring.sign('benchmark', [organizationId, bareId]).replace(/[-_]/g, 'x').slice(0, markLength);

/** The service stores nothing before ingest, so the id itself encodes the organization it belongs to. */
function mintId(service: ServiceContext, organizationId: string): string {
  const bareId = newId('benchmark');
  return bareId + signatureOf(service, organizationId, bareId);
}

/** @throws ApiError if the id was not minted for the organization, accepts no more files, or its files are gone */
function checkOpen(service: ServiceContext, organizationId: string, benchId: string): void {
  if (service.benchmarks.get(organizationId, benchId)) {
    throw conflict(
      'benchmark_already_ingested',
      `The benchmark ${benchId} has been ingested; it takes no more files. Upload again without bench_id for a new one.`,
      { param: 'bench_id' },
    );
  }
  const bareId = benchId.slice(0, -markLength);
  const isMinted = benchId === bareId + signatureOf(service, organizationId, bareId);
  if (!isMinted || !service.uploads.has(benchId)) throw notFound('benchmark', benchId);
}

function createBenchmarkUpload(
  service: ServiceContext,
  { organizationId, body, origin }: Call<'createBenchmarkUpload'>,
) {
  const { bench_id } = body;
  const files = body.files.map(({ path, content_type, size_bytes }) => ({ path, content_type, size_bytes }));
  checkFiles(files);
  if (bench_id !== undefined) checkOpen(service, organizationId, bench_id);
  return service.signedUploads.allocate(origin, bench_id ?? mintId(service, organizationId), files);
}

async function ingestBenchmark(
  service: ServiceContext,
  { organizationId, idempotencyKey: key, params, body }: Call<'ingestBenchmark'>,
): Promise<IngestResult> {
  const { benchmarks, uploads, idempotency } = service;
  const benchId = params['bench_id'] ?? '';
  const request = { organizationId, operation: 'ingestBenchmark', key, body: { benchId, body } };
  // A client retries if the service died before it could respond.
  const earlier = idempotency.answerTo<IngestResult>(request);
  if (earlier) return earlier;
  checkOpen(service, organizationId, benchId);
  const described: Manifest = check(manifest, body);
  const patternIssue = await patternIssueOf(described);
  if (patternIssue) throw invalid([patternIssue]);
  return uploads.whileUnchanged(benchId, async () => {
    const declared = uploads.declared(benchId);
    const issues = [...uploadIssues(service, benchId, declared), ...taskIssues(described, declared)];
    if (issues.length > 0) throw invalid(issues);
    const files: StoredFile[] = [];
    for (const file of declared) {
      files.push({ ...file, sha256: (await uploads.hash(benchId, file.path)) ?? '' });
    }
    return idempotency.once(request, () => {
      // Another ingest may have finished while the files were being read.
      checkOpen(service, organizationId, benchId);
      benchmarks.ingest(organizationId, described, { benchId, files });
      return ingestResult(benchId, described, files.length);
    });
  });
}

function ingestResult(bench_id: string, { name, label, family, tasks }: Manifest, file_count: number) {
  return {
    bench_id,
    ok: true,
    name,
    label: label ?? name,
    family: family ?? '',
    task_count: tasks.length,
    file_count,
    failed_tasks: [],
    warnings: warningsOf(tasks.map(readTask)),
  };
}

function checkFiles(files: readonly DeclaredFile[]): void {
  if (files.length > filesPerRequest) {
    throw apiError(
      'validation_error',
      `files: a request may have up to ${filesPerRequest} files, not ${files.length}. Send the others in further requests with the same bench_id.`,
      { param: 'files', context: { limit: filesPerRequest } },
    );
  }
  const seen = new Set<string>();
  const issues = files.flatMap(({ path, size_bytes }, index): Issue[] => {
    const problem = pathProblem(path) ?? (seen.has(path) ? 'is declared twice' : undefined);
    seen.add(path);
    if (problem) return [{ path: `files[${index}].path`, message: `${path} ${problem}` }];
    if (size_bytes <= largestFile) return [];
    return [
      {
        path: `files[${index}].size_bytes`,
        message: `${path} has ${bytes(size_bytes)}; a file may have ${bytes(largestFile)}`,
      },
    ];
  });
  if (issues.length > 0) throw invalid(issues);
}

function uploadIssues({ uploads }: ServiceContext, benchId: string, declared: readonly DeclaredFile[]): Issue[] {
  return declared.flatMap(({ path, size_bytes }): Issue[] => {
    const size = uploads.size(benchId, path);
    if (size === size_bytes) return [];
    const what = size === undefined ? 'but never arrived' : `but has ${size} bytes`;
    return [{ path: `files: ${path}`, message: `declared with ${size_bytes} bytes, ${what}` }];
  });
}

function taskIssues({ tasks }: Manifest, declared: readonly DeclaredFile[]): Issue[] {
  const paths = new Set(declared.map(({ path }) => path));
  const names = new Map<string, number>();
  return tasks.flatMap((task, index) => {
    const first = names.get(task.name);
    names.set(task.name, first ?? index);
    const twice = { path: `tasks[${index}].name`, message: `${task.name} is also the name of tasks[${first}]` };
    const missing = (task.files ?? []).flatMap((path, place) =>
      paths.has(path) ? [] : [{ path: `tasks[${index}].files[${place}]`, message: `${path} was not uploaded` }],
    );
    return first === undefined ? missing : [twice, ...missing];
  });
}

/** Checks patterns before ingest, so that no image build or run fails because of one. */
async function patternIssueOf({ tasks }: Manifest): Promise<Issue | undefined> {
  const graders = tasks.map(task => readTask(task).grader);
  const found = await unusablePattern(graders.map(grader => (grader.kind === 'regex' ? grader.pattern : undefined)));
  if (!found) return undefined;
  const path = `tasks[${found.index}].${tasks[found.index]?.grader ? 'grader' : 'spec.grader'}.pattern`;
  return { path, message: `cannot be used as a regular expression: ${found.problem}` };
}

export const uploadArea: Area = { name: 'uploads', routes: { createBenchmarkUpload, ingestBenchmark } };

/** Maximum length of an uploaded file's path, in characters. */
const longestPath = 512;

/** The problem with a path, if there is one. Paths are relative to the benchmark's folder and separated by `/`. */
function pathProblem(path: string): string | undefined {
  if (path.length > longestPath) return `is longer than ${longestPath} characters`;
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative';
  if (path.includes('\\')) return 'must use / as the separator';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'contains a control character';
  // A signed address cannot encode an unpaired surrogate: it would become U+FFFD.
  if (!path.isWellFormed()) return 'is not Unicode text: it contains half of a surrogate pair';
  if (path.normalize('NFC') !== path) return 'is not in Unicode normal form C';
  if (path.split('/').some(part => part === '' || part === '.' || part === '..')) {
    return 'contains an empty part, “.” or “..”';
  }
  return undefined;
}
