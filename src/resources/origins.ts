/** The origins of deployed checkpoints, i.e. training runs: their columns and facts, and how to read them. */
import { errorMessage } from '../base/errors.ts';
import type { Deployment } from '../contract/deployments.ts';
import type { TrainingRun } from '../contract/training.ts';
import type { Column } from '../present/column.ts';
import { type Fact, referenceFact } from '../present/fact.ts';
import { meanNumber } from '../present/mean.ts';
import { intervalColumn } from '../present/number-columns.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { formatTrainingOrigin, knownOrigin, type Origin } from '../queries/checkpoint-memory.ts';
import { type CheckpointUser, OriginSearch } from '../queries/checkpoint-origins.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { ifThere, ServiceError } from '../service/errors.ts';
import type { RememberedStore } from '../store/store.ts';
import { clean } from '../text/sanitise.ts';
import { duration } from '../text/time.ts';
import type { MeasuredList } from './define.ts';
import { describeHeldOut } from './describe-held-out.ts';
import { measureEach } from './measure-each.ts';
import { heldOutColumn, heldOutMean, intervalOfHeldOut } from './training-columns.ts';

/** A deployment with its checkpoint's origin, if that has been read. */
export type TracedDeployment = Deployment & { readonly from_run?: Origin | undefined };

export const originColumnIds = ['run', 'benchmark', 'held-out', 'interval'] as const;

/** @param isUnread whether a row's origin has not been read yet */
export function originColumns(range: Range | undefined, isUnread: (row: TracedDeployment) => boolean = () => false) {
  const run: Column<TracedDeployment> = {
    ...{ id: 'run', title: 'TRAINING RUN', width: { min: 12, max: 40, grow: 2 }, ifAny: true, isUnread },
    value: row => row.from_run?.display_name,
  };
  const benchmark: Column<TracedDeployment> = {
    ...{ id: 'benchmark', title: 'BENCHMARK', width: { min: 10, max: 30, grow: 1 } },
    ...{ wide: true, forPrograms: true, ifAny: true, isUnread },
    value: row => row.from_run?.benchmark,
  };
  const heldOut = { ...heldOutColumn<TracedDeployment>(row => row.from_run?.held_out), ifAny: true, isUnread };
  const interval: Column<TracedDeployment> = {
    ...intervalColumn<TracedDeployment>(({ from_run: of }) => of?.held_out && intervalOfHeldOut(of.held_out, range)),
    ...{ wide: true, forPrograms: true, isUnread },
  };
  return { run, benchmark, heldOut, interval };
}

/** A deployment's training run, and the held-out reward at its step. */
export function originFacts({ from_run: of }: TracedDeployment, range: Range | undefined): readonly Fact[] {
  if (!of) return [];
  return [
    { ...referenceFact('training run', 'training', of.training_run_id), value: of.display_name },
    { ...referenceFact('benchmark', 'benchmarks', of.bench_id), value: of.benchmark },
    { label: 'held-out', value: of.held_out && describeHeldOut(of.held_out, range) },
  ];
}

/** The checkpoint that a training run continues from, with its name if known. */
export function fromFact({ parent_checkpoint_id: id }: TrainingRun, from?: Origin): Fact {
  const fact = referenceFact('from', 'checkpoints', id, from?.training_run_id);
  return from && id ? { ...fact, value: `${formatTrainingOrigin(from)}\n${id}` } : fact;
}

/** Deployments with their origins, as remembered. */
export const traceDeployments = (rows: readonly Deployment[], memory: RememberedStore): readonly TracedDeployment[] =>
  rows.map(row => {
    const from_run = knownOrigin(row.checkpoint_id, memory);
    return from_run ? { ...row, from_run } : row;
  });

/** Adds deployments' origins. Rows that cannot be read stay unchanged. @throws ServiceError */
export function withOrigins(
  rows: readonly TracedDeployment[],
  columns: ReadonlySet<string>,
  context: QueryContext,
  list: Pick<MeasuredList, 'onUnread' | 'silentMs' | 'needsOne' | 'failure'>,
): Promise<readonly TracedDeployment[]> {
  if (!originColumnIds.some(id => columns.has(id))) return Promise.resolve(rows);
  const search = new OriginSearch();
  const isMeasured = ['held-out', 'interval'].some(id => columns.has(id));
  return measureEach(rows, context, list, [
    async (row, asking) => {
      const from_run = await search.find(row, asking, isMeasured);
      return from_run ? { ...row, from_run } : row;
    },
  ]);
}

/** ` on small-sums`, after a held-out reward. */
export const onBenchmark = ({ benchmark }: Pick<Origin, 'benchmark'>): string =>
  benchmark === undefined ? '' : ` on ${benchmark}`;

/** `long step 36, held-out 0.412 on small-sums`. */
export const originMeasured = (of: Origin): string => {
  const { held_out } = of;
  return `${formatTrainingOrigin(of)}${held_out ? `, held-out ${meanNumber(heldOutMean(held_out))}${onBenchmark(of)}` : ''}`;
};

/** Whether two checkpoints are known to be trained on different benchmarks. */
export const areOfDifferentBenchmarks = (one: Origin | undefined, other: Origin | undefined): boolean =>
  one?.bench_id !== undefined && other?.bench_id !== undefined && one.bench_id !== other.bench_id;

/** A checkpoint's origin, if the service offers enough to find it. @throws ServiceError */
export const originOf = (
  referred: CheckpointUser,
  context: QueryContext,
  search = new OriginSearch(),
): Promise<Origin | undefined> => ifThere(() => search.find(referred, context));

/** Ignores an error from the service. @throws the error if the user interrupted */
export function ignoreFailure(error: unknown, { signal }: QueryContext): undefined {
  if (signal.aborted || !(error instanceof ServiceError)) throw error;
}

/** A checkpoint's origin, if it can be found; without it, only the id is shown. */
export const originIfRead = (
  referred: CheckpointUser,
  context: QueryContext,
  search?: OriginSearch,
): Promise<Origin | undefined> => originOf(referred, context, search).catch(error => ignoreFailure(error, context));

/** Timeout for the reads that delay a question, in milliseconds. */
export const patienceMs = 15_000;

/** Reads what a question needs. If it is not read in time, `why` says so in a part of a sentence. @throws AbortError */
export async function readInTime<Answer>(
  read: (context: QueryContext) => Promise<Answer>,
  context: QueryContext,
  late: AbortSignal = AbortSignal.timeout(patienceMs),
): Promise<{ readonly answer?: Answer; readonly why?: string }> {
  try {
    return { answer: await read({ ...context, signal: AbortSignal.any([context.signal, late]) }) };
  } catch (error) {
    context.signal.throwIfAborted();
    if (late.aborted) return { why: `no response within ${duration(patienceMs)}` };
    const [sentence = ''] = errorMessage(error).split(/\.(?: |$)/, 1);
    return { why: sentence };
  }
}

/** Adds a checkpoint's origin, if it can be read in time. @throws AbortError if the user interrupts */
export async function withOrigin<Row extends CheckpointUser>(
  row: Row,
  context: QueryContext,
  search?: OriginSearch,
  late?: AbortSignal,
): Promise<Row & { readonly from_run?: Origin | undefined }> {
  const { answer: from_run } = await readInTime(reading => originOf(row, reading, search), context, late);
  return { ...row, from_run };
}

/** Maximum time between the two status changes of a promotion, in milliseconds. */
const promotionMs = 2_000;

/**
 * The deployment that previously served the slug: the inactive one that changed when this one was promoted. Undefined
 * if it is gone or cannot be determined.
 *
 * @param rows the known deployments
 */
export function servedBefore(deployment: Deployment, rows: readonly Deployment[]): Deployment | undefined {
  const at = Date.parse(deployment.updated_at ?? '');
  if (deployment.is_active !== true || Number.isNaN(at)) return undefined;
  const slug = deployment.model_slug?.toLowerCase();
  const left = rows.filter(
    row =>
      row.deployment_id !== deployment.deployment_id &&
      row.model_slug?.toLowerCase() === slug &&
      row.is_active === false &&
      row.status === 'DEPLOYED' &&
      Math.abs(Date.parse(row.updated_at ?? '') - at) <= promotionMs,
  );
  return left.length === 1 ? left[0] : undefined;
}

/** A reference to the deployment that previously served the slug. */
export function servedBeforeFact(before: TracedDeployment | undefined): Fact {
  if (!before) return { label: 'replaced', value: undefined };
  const { deployment_id: id, checkpoint_step: step, from_run: of } = before;
  const what = of ? formatTrainingOrigin(of) : step == null ? '' : `step ${step}`;
  return { ...referenceFact('replaced', 'deployments', id), value: what === '' ? id : clean`${what}, ${id}` };
}
