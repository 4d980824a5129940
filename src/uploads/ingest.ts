/** Ingests the uploaded files as a benchmark and reports the tasks that the service left out. */
import { randomUUID } from 'node:crypto';
import type { AgentFields } from '../contract/generation.ts';
import { unreadableIn } from '../contract/lists.ts';
import { isGone, ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import { clean } from '../text/sanitise.ts';
import type { UploadPlan } from './benchmark-plan.ts';

interface SentUpload {
  readonly benchId: string;
  /** The owner; by default, the profile's agent. */
  readonly agent: AgentFields | undefined;
  readonly plan: UploadPlan;
}

/** Returns the tasks that the service rejected, and its warnings as sentences. @throws ServiceError */
export async function ingest(service: Service, { benchId, agent, plan }: SentUpload, signal?: AbortSignal) {
  const input = { params: { bench_id: benchId }, query: agent ?? {}, body: plan.manifest };
  // Use a new key for each request: a replayed response would hide changes made to the folder since the last attempt.
  const options = { signal, idempotencyKey: randomUUID() };
  const { failed_tasks, task_count, warnings } = await service.call('ingestBenchmark', input, options);
  const failedTasks = failed_tasks ?? [];
  const sent = plan.taskCount;
  const taken = task_count ?? sent - failedTasks.length - unreadableIn(failedTasks);
  return {
    failedTasks,
    notes: [
      ...(taken < sent ? [`The service accepted ${taken} of ${sent} tasks.`] : []),
      ...failedTasks.map(({ task_id, label, error }) => {
        const name = label ?? task_id ?? 'a task without a name';
        return error ? clean`Not accepted: ${name}, ${error}` : clean`Not accepted: ${name}`;
      }),
      ...(warnings ?? []).flatMap(warning => (warning ? [clean`The service warns: ${warning}`] : [])),
    ],
  };
}

/** The service has already ingested this benchmark with different content. */
export class IngestedDifferently extends Error {
  override readonly name = 'IngestedDifferently';

  constructor(benchId: string) {
    super(
      clean`${benchId} was already ingested with different content. It was not changed. Upload the folder as a new benchmark to keep both.`,
    );
  }
}

/** The service no longer knows the id, so the uploaded files are lost. */
export class ForgottenUpload extends Error {
  override readonly name = 'ForgottenUpload';

  constructor() {
    super('The service reports that the benchmark does not exist, although its files were just sent.');
  }
}

/** The service accepted the ingest, but now reports that the benchmark does not exist. */
export class BuildsNotStarted extends Error {
  override readonly name = 'BuildsNotStarted';

  constructor(benchId: string) {
    super(
      clean`${benchId} was ingested, but the builds of its images could not be started: the service reports that it does not exist. It may not be ready yet: try again; nothing else will be sent. If it was deleted, upload the folder as a new benchmark.`,
    );
  }
}

/** Whether the id has already been ingested. The contract does not define the code of this error. */
export const isIngested = (error: unknown): boolean =>
  error instanceof ServiceError &&
  (error.code === 'benchmark_already_ingested' || (error.kind === 'conflict' && /ingested/i.test(error.message)));

/**
 * Starts building its images.
 *
 * @throws ForgottenUpload if the service no longer has the benchmark, ServiceError
 */
export async function buildImages(service: Service, benchId: string, signal?: AbortSignal): Promise<void> {
  const params = { bench_id: benchId };
  try {
    await service.call('buildBenchmarkImages', { params }, { signal, idempotencyKey: randomUUID() });
  } catch (error) {
    // A single 404 may be temporary, so a second request must confirm that an ingested benchmark is gone.
    if (isGone(error) && (await isGoneFor(service, params, signal))) throw new ForgottenUpload();
    throw error;
  }
}

async function isGoneFor(service: Service, params: { bench_id: string }, signal?: AbortSignal): Promise<boolean> {
  try {
    await service.call('getBenchmarkReadiness', { params }, { signal });
    return false;
  } catch (error) {
    return isGone(error);
  }
}
