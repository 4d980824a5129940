/** `benchtop tree`: prints the lineage of runs, checkpoints and deployments. */
import { inParallel } from '../base/in-parallel.ts';
import type { Deployment } from '../contract/deployments.ts';
import type { TrainingRun } from '../contract/training.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { checkpointsByStep } from '../queries/checkpoints.ts';
import { heldOutRewardsQuery } from '../queries/training-curves.ts';
import { baselineOf } from '../resources/baseline.ts';
import { benchmarks } from '../resources/benchmarks.ts';
import { pluralName, type ResourceOf } from '../resources/define.ts';
import { deployments } from '../resources/deployments.ts';
import { heldOutFields, heldOutPoint } from '../resources/held-out-fields.ts';
import { pagesOf } from '../resources/pages.ts';
import type { Scope } from '../resources/place.ts';
import { runMeasures } from '../resources/run-columns.ts';
import { runs } from '../resources/runs.ts';
import { training } from '../resources/training.ts';
import { measures } from '../resources/training-columns.ts';
import {
  branchOf,
  describeLeftOut,
  type KnownTraining,
  type TreeRow,
  treeColumns,
  treeKinds,
  treeRows,
} from '../resources/tree.ts';
import { type TreeKind, treeKey } from '../resources/tree-place.ts';
import { ifThere, isNotOffered, ServerError } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { resourceOrThrow } from './find.ts';
import { findOrCheckpoint, searchCheckpoint } from './find-checkpoint.ts';
import type { CommandIo } from './io.ts';
import { patienceOf } from './measured-rows.ts';
import { printRecord, tableText } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

/** Maximum number of training runs whose checkpoints and held-out rewards are read, at two requests each. */
const maxRunsRead = 100;

export async function run({ args: [word], flags }: CommandInput<'tree'>, io: CommandIo): Promise<number> {
  return withService(flags, io, async context => {
    const target = word === undefined ? undefined : await findTarget(word, context);
    const all = await readTree(target?.benchmark, context);
    const rows = target === undefined || target.key === undefined ? all : branchOf(all, target.key);
    if (!rows) {
      const why =
        target?.benchmark === undefined
          ? 'is not in the tree: the service does not report its benchmark'
          : clean`is not in the tree: the lists for its benchmark ${target.benchmark} do not have it`;
      throw new CommandError(clean`${word ?? ''} ${why}.`, exitCodes.notFound);
    }
    const { rewardRange } = context.compare;
    await printRecord({ tree: rows.map(row => recordOf(row, rewardRange)) }, word ?? '', flags, io, {
      text: () => tableText(rows, treeColumns(rewardRange), io),
    });
    return 0;
  });
}

const recordOf = (row: TreeRow, range: Range): object => ({
  kind: treeKinds[row.kind].word,
  id: row.id,
  name: row.name,
  parent: row.path.at(-1)?.replace(/^\S+ /, '') ?? null,
  depth: row.path.length,
  status: row.status ?? null,
  held_out: heldOutOf(row, range) ?? null,
  mean: row.mean ?? null,
  about: row.about,
  created_at: row.created ?? null,
});

function heldOutOf({ held_out: last, best_held_out: best }: TreeRow, range: Range) {
  if (!last) return undefined;
  return best ? heldOutFields({ last, best }, range) : heldOutPoint(last, range);
}

/** A resource's benchmark, and the key of its row in the tree; no key for the benchmark itself. */
async function findTarget(word: string, context: CommandContext) {
  const among = ['benchmarks', 'training', 'runs', 'deployments'].map(resourceOrThrow);
  const target = await findOrCheckpoint(among, word, context);
  if (!('resource' in target)) {
    return { benchmark: target.run?.bench_id ?? undefined, key: treeKey('checkpoint', target.id) };
  }
  const { resource, id, row } = target;
  const key = treeKey((resource.kind ?? '') as TreeKind, id);
  if (resource.kind === 'benchmark') return { benchmark: id, key: undefined };
  if (resource.kind !== 'deployment') return { benchmark: resource.parent?.(row) ?? undefined, key };
  const { checkpoint_id } = row as Deployment;
  const search = checkpoint_id ? await searchCheckpoint(checkpoint_id, context) : undefined;
  return { benchmark: search?.found?.run?.bench_id ?? undefined, key };
}

async function rowsOf<Row extends object>(
  resource: ResourceOf<Row>,
  scope: Scope,
  context: CommandContext,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let notes: readonly string[] = [];
  try {
    for await (const page of pagesOf(resource, scope, { ...context, readsProgress: true })) {
      for (const row of page.rows) rows.push(row);
      notes = page.notes;
    }
  } catch (error) {
    // If one list fails but the service responds, the rest of the tree is useful.
    if (!isNotOffered(error) && (resource.kind === benchmarks.kind || !(error instanceof ServerError))) throw error;
    const words = isNotOffered(error) ? '' : `The tree lacks ${pluralName(resource)}: `;
    notes = [`${words}${error.message}`];
  }
  for (const note of notes) context.io.note(note);
  return rows;
}

/**
 * Reads a benchmark's tree with all its checkpoints or, without a benchmark, the tree of all benchmarks with only the
 * checkpoints that other resources refer to.
 */
async function readTree(benchmark: string | undefined, context: CommandContext) {
  const scope = benchmark === undefined ? {} : { benchmark };
  const [known, evaluated, trained, deployed] = await Promise.all([
    rowsOf(benchmarks, {}, context),
    rowsOf(runs, scope, context),
    rowsOf(training, scope, context),
    rowsOf(deployments, {}, context),
  ]);
  const isWhole = benchmark === undefined;
  const parts = isWhole ? new Map<string, KnownTraining>() : await readParts(trained, context);
  const heldOut = isWhole ? await readHeldOut(trained, context) : undefined;
  const listed = known.filter(({ bench_id }) => benchmark === undefined || bench_id === benchmark);
  const rows = treeRows({
    ...{ training: trained, parts, deployments: deployed },
    runs: runMeasures.remembered?.(evaluated, context) ?? evaluated,
    benchmarks: listed.length > 0 || benchmark === undefined ? listed : [{ bench_id: benchmark }],
    heldOutOf: id => heldOut?.get(id),
    isBaseline: run => baselineOf(context.memory, run.bench_id) === run.eval_run_id,
  });
  noteLeftOut(
    [
      ...evaluated.map(each => ['run', each.eval_run_id] as const),
      ...trained.map(each => ['training', each.training_run_id] as const),
    ],
    rows,
    context.io,
  );
  // Drop other benchmarks' deployments.
  return benchmark === undefined ? rows : rows.filter(({ kind, path }) => kind !== 'deployment' || path.length > 0);
}

/** Notes how many rows are not in the tree, because their benchmark is unknown. */
function noteLeftOut(read: readonly (readonly [TreeKind, string])[], rows: readonly TreeRow[], io: CommandIo): void {
  const placed = new Set(rows.map(({ key }) => key));
  for (const [kind, all] of Map.groupBy(read, ([of]) => of)) {
    const words = describeLeftOut(kind, all.filter(([, id]) => !placed.has(treeKey(kind, id))).length);
    if (words !== '') io.note(`${words}.`);
  }
}

/** The training runs to read. Notes if there are more. */
function firstOf(training: readonly TrainingRun[], what: string, advice: string, { note }: CommandIo) {
  const { length } = training;
  if (length > maxRunsRead) note(`The tree has the ${what} of ${maxRunsRead} of ${length} training runs. ${advice}`);
  return training.slice(0, maxRunsRead);
}

/** The training runs' held-out rewards, as in their list: one request each, except for remembered ones. */
async function readHeldOut(trained: readonly TrainingRun[], context: CommandContext) {
  const read = firstOf(trained, 'held-out rewards', 'Name a benchmark to see those of its runs.', context.io);
  const unread: string[] = [];
  const rows = await measures.read(read, new Set(['held-out']), context, {
    ...{ scope: {}, range: context.compare.rewardRange, silentMs: patienceOf(context.io) },
    onUnread: (_, { message }) => unread.push(message),
  });
  const some = counted(unread.length, 'training run');
  if (unread.length > 0) context.io.note(clean`The rewards of ${some} could not be read: ${unread[0]}`);
  return new Map(rows.map(({ training_run_id: id, held_out }) => [id, held_out]));
}

async function readParts(training: readonly TrainingRun[], context: CommandContext) {
  const parts = new Map<string, KnownTraining>();
  const read = firstOf(training, 'checkpoints', 'Name another run to see its checkpoints.', context.io);
  await inParallel(read, async ({ training_run_id: id }) => {
    const { service, signal } = context;
    const [checkpoints = [], heldOut = []] = await Promise.all([
      ifThere(() => checkpointsByStep(service, id, { signal })),
      ifThere(() => heldOutRewardsQuery(id, true).read(context)),
    ]);
    parts.set(id, { checkpoints, heldOut });
  });
  return parts;
}
