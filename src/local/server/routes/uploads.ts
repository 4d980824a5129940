/** Uploads of benchmarks: signed addresses, then ingest, which stores the uploaded files as a benchmark. */

import type { IngestResult } from '../../../contract/benchmarks.ts';
import { bytes } from '../../../text/numbers.ts';
import { unusablePattern } from '../../grading/patterns.ts';
import { type Manifest, manifest, readTask, warningsOf } from '../../samples/manifest.ts';
import { newId } from '../../store/ids.ts';
import type { DeclaredFile, StoredFile } from '../../store/upload-folder.ts';
import { ApiError, apiError, notFound } from '../errors.ts';
import type { Area, Handlers, ServiceContext } from '../handlers.ts';
import { check, type Issue, invalid } from '../validate.ts';

/** Maximum number of files in a request; further requests with the same `bench_id` upload more. */
const filesPerRequest = 200;
const largestFile = 256 * 1024 * 1024;
/** Length of the signature in a minted id. */
const markLength = 10;

function uploadRoutes(service: ServiceContext): Handlers {
  const { benchmarks, uploads, keyring, signedUploads, idempotency } = service;

  const signatureOf = (organizationId: string, bare: string): string =>
    keyring.sign('benchmark', [organizationId, bare]).replace(/[-_]/g, 'x').slice(0, markLength);

  /** Nothing is stored of a benchmark before ingest, so its id itself shows which organization it was minted for. */
  const mint = (organizationId: string): string => {
    const bare = newId('benchmark');
    return bare + signatureOf(organizationId, bare);
  };

  /**
   * @throws ApiError if the id was not minted for the organization, accepts no more files, or its files were removed
   */
  const checkOpen = (organizationId: string, benchId: string): void => {
    if (benchmarks.get(organizationId, benchId)) {
      throw new ApiError(
        409,
        'conflict_error',
        'benchmark_already_ingested',
        `The benchmark ${benchId} has been ingested; it takes no more files. Upload again without bench_id for a new one.`,
        { param: 'bench_id' },
      );
    }
    const bare = benchId.slice(0, -markLength);
    if (benchId !== bare + signatureOf(organizationId, bare) || !uploads.has(benchId))
      throw notFound('benchmark', benchId);
  };

  return {
    createBenchmarkUpload: call => {
      const { files, bench_id } = call.body;
      const declared = files.map(({ path, content_type, size_bytes }) => ({ path, content_type, size_bytes }));
      checkFiles(declared);
      if (bench_id !== undefined) checkOpen(call.organizationId, bench_id);
      return signedUploads.allocate(call.origin, bench_id ?? mint(call.organizationId), declared);
    },
    ingestBenchmark: async call => {
      const { organizationId, idempotencyKey: key, body } = call;
      const benchId = call.params['bench_id'] ?? '';
      const request = { organizationId, operation: 'ingestBenchmark', key, body: { benchId, body } };
      // A client whose answer was lost with the process asks again.
      const known = idempotency.answerTo<IngestResult>(request);
      if (known) return known;
      checkOpen(organizationId, benchId);
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
          // Another ingest may have finished while the files were read.
          checkOpen(organizationId, benchId);
          benchmarks.ingest(organizationId, described, { benchId, files });
          return {
            bench_id: benchId,
            ok: true,
            name: described.name,
            label: described.label ?? described.name,
            family: described.family ?? '',
            task_count: described.tasks.length,
            file_count: files.length,
            failed_tasks: [],
            warnings: warningsOf(described.tasks.map(readTask)),
          };
        });
      });
    },
  };
}

function checkFiles(files: readonly DeclaredFile[]): void {
  if (files.length > filesPerRequest) {
    throw apiError(
      'validation_error',
      `files: a request takes ${filesPerRequest} files, not ${files.length}. Send the others in further requests with the same bench_id.`,
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
    const what = size === undefined ? 'never came' : `has ${size} bytes`;
    return [{ path: `files: ${path}`, message: `declared with ${size_bytes} bytes, ${what}` }];
  });
}

function taskIssues({ tasks }: Manifest, declared: readonly DeclaredFile[]): Issue[] {
  const paths = new Set(declared.map(({ path }) => path));
  const names = new Map<string, number>();
  return tasks.flatMap((task, index) => {
    const first = names.get(task.name);
    names.set(task.name, first ?? index);
    const twice = { path: `tasks[${index}].name`, message: `${task.name} is the name of tasks[${first}] as well` };
    const missing = (task.files ?? []).flatMap((path, place) =>
      paths.has(path) ? [] : [{ path: `tasks[${index}].files[${place}]`, message: `${path} was not uploaded` }],
    );
    return first === undefined ? missing : [twice, ...missing];
  });
}

/** The build of an image, or a run, must not find out. */
async function patternIssueOf({ tasks }: Manifest): Promise<Issue | undefined> {
  const graders = tasks.map(task => readTask(task).grader);
  const found = await unusablePattern(graders.map(grader => (grader.kind === 'regex' ? grader.pattern : undefined)));
  if (!found) return undefined;
  const path = `tasks[${found.index}].${tasks[found.index]?.grader ? 'grader' : 'spec.grader'}.pattern`;
  return { path, message: `cannot be used as a regular expression: ${found.problem}` };
}

export const uploadArea: Area = { name: 'uploads', routes: uploadRoutes };

/** Longest path of an uploaded file, in characters. */
const longestPath = 512;

/** What is wrong with a path, if anything. Paths are relative to the benchmark's folder and separated by `/`. */
function pathProblem(path: string): string | undefined {
  if (path.length > longestPath) return `is longer than ${longestPath} characters`;
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'must be relative';
  if (path.includes('\\')) return 'must have / between its parts';
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return 'holds a control character';
  // The signed address could not carry it: it would become U+FFFD on the way.
  if (!path.isWellFormed()) return 'is not Unicode text: it holds half of a surrogate pair';
  if (path.normalize('NFC') !== path) return 'is not in Unicode normal form C';
  if (path.split('/').some(part => part === '' || part === '.' || part === '..')) {
    return 'holds an empty part, “.” or “..”';
  }
  return undefined;
}
