/**
 * The lineage of all resources as one tree: a benchmark, its evaluations and training runs, their checkpoints, and the
 * evaluations, deployments and training runs of each checkpoint. Pure.
 */

import type { Benchmark } from '../contract/benchmarks.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import { isUnreadable } from '../contract/lists.ts';
import { formatStatus, statusMeaning } from '../contract/status.ts';
import type { Checkpoint, HeldOutReward, TrainingRun } from '../contract/training.ts';
import { type Column, cellText, idColumn, plainColumn, statusColumn } from '../present/column.ts';
import { type Fact, referenceFact, statusFact } from '../present/fact.ts';
import { intervalColumn } from '../present/number-columns.ts';
import type { Interval } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { timeColumn } from '../present/times.ts';
import { formatTrainingOrigin } from '../queries/checkpoint-memory.ts';
import { type HeldOutMean, heldOutMeans, heldOutOfStep, worstOf, worstSortNote } from '../queries/held-out.ts';
import { counted, countOf } from '../text/numbers.ts';
import { nameOr } from '../text/typed.ts';
import { formatRole } from './deployments.ts';
import type { LineState } from './line-state.ts';
import { intervalOfRun, listedMean, type MeasuredRun, meanOfRun, worstMeanOf } from './measured-run.ts';
import { describeModel } from './models.ts';
import type { TracedDeployment } from './origins.ts';
import { differingColumns, type HeldOut, heldOutCell, heldOutColumn, intervalOfHeldOut } from './training-columns.ts';
import { type TreeKind, treeKey } from './tree-place.ts';

/** The words for each kind, and its resource's first name. */
export const treeKinds: Readonly<
  Record<TreeKind, { readonly word: string; readonly many: string; readonly short: string; readonly resource: string }>
> = {
  benchmark: { word: 'benchmark', many: 'benchmarks', short: 'bench', resource: 'benchmarks' },
  run: { word: 'evaluation', many: 'evaluations', short: 'eval', resource: 'runs' },
  training: { word: 'training', many: 'training runs', short: 'train', resource: 'training' },
  checkpoint: { word: 'checkpoint', many: 'checkpoints', short: 'ckpt', resource: 'checkpoints' },
  deployment: { word: 'deployment', many: 'deployments', short: 'deploy', resource: 'deployments' },
};

export interface TreeRow {
  /** Its kind and id; each resource appears in the tree once. */
  readonly key: string;
  readonly kind: TreeKind;
  readonly id: string;
  readonly name: string;
  /** The keys of its ancestors, root first. */
  readonly path: readonly string[];
  readonly status: string | undefined;
  /** A checkpoint's held-out reward, or a training run's last one. */
  readonly held_out: HeldOutMean | undefined;
  /** A training run's best held-out reward. */
  readonly best_held_out: HeldOutMean | undefined;
  /** An evaluation's mean. */
  readonly mean: number | undefined;
  readonly about: string;
  readonly created: string | null | undefined;
  /** A checkpoint's training run. */
  readonly run?: TrainingRun | undefined;
  readonly record: object;
  /** Whether it has or may have children. */
  readonly hasParts: boolean;
  /** Set for a line that represents the unread rest of a list; opening the line reads more. */
  readonly unread?: UnreadList | undefined;
}

/** A list that has unread rows on the service. */
export interface UnreadList {
  /** The kind of its rows. */
  readonly kind: Exclude<TreeKind, 'checkpoint'>;
  /** The list's benchmark; undefined for a list across benchmarks. */
  readonly benchmark?: string | undefined;
  /** The number of rows read so far. */
  readonly read: number;
  readonly isReading: boolean;
}

/** The parts of a training run, other than its record. */
export interface KnownTraining {
  readonly checkpoints: readonly Checkpoint[];
  readonly heldOut: readonly HeldOutReward[];
}

export interface KnownLineage {
  readonly benchmarks: readonly Benchmark[];
  readonly runs: readonly EvalRun[];
  readonly training: readonly TrainingRun[];
  /** The parts of the training runs read so far, by the run's id. */
  readonly parts: ReadonlyMap<string, KnownTraining>;
  readonly deployments: readonly TracedDeployment[];
  /** Whether a run is the baseline of its benchmark. */
  readonly isBaseline: (run: EvalRun) => boolean;
  /** The held-out rewards of a training run whose parts are unknown. */
  readonly heldOutOf?: (trainingRunId: string) => HeldOut | undefined;
  readonly unread?: readonly UnreadList[];
}

/** The whole tree from top to bottom. Rows whose parent is unknown come last. */
export function treeRows(known: KnownLineage): readonly TreeRow[] {
  return new Tree(known).rows();
}

interface Dated {
  readonly created_at?: string | null | undefined;
}

const oldestFirst = (one: Dated, other: Dated): number => (one.created_at ?? '').localeCompare(other.created_at ?? '');

class Tree {
  readonly #known: KnownLineage;
  readonly #rows: TreeRow[] = [];
  readonly #placed = new Set<string>();
  readonly #training: ReadonlyMap<string, TrainingRun>;
  /** Each training run's checkpoints, including those known only from evaluations. */
  readonly #checkpoints = new Map<string, Map<string, Checkpoint>>();
  readonly #runsOf: ReadonlyMap<string, readonly EvalRun[]>;
  readonly #continued: ReadonlyMap<string, readonly TrainingRun[]>;
  readonly #deployed: ReadonlyMap<string, readonly TracedDeployment[]>;
  readonly #options = new Map<string, string>();

  constructor(known: KnownLineage) {
    this.#known = known;
    const runs = known.runs.toSorted(oldestFirst);
    const training = known.training.toSorted(oldestFirst);
    this.#training = new Map(training.map(run => [run.training_run_id, run]));
    for (const [id, { checkpoints }] of known.parts) {
      this.#checkpoints.set(id, new Map(checkpoints.map(each => [each.checkpoint_id, each])));
    }
    for (const { training_run_id: id, parent_checkpoint_id: checkpoint_id, step } of runs) {
      if (!id || !checkpoint_id || !this.#training.has(id)) continue;
      const named = this.#checkpoints.get(id) ?? new Map<string, Checkpoint>();
      if (!named.has(checkpoint_id)) named.set(checkpoint_id, { checkpoint_id, step_index: step });
      this.#checkpoints.set(id, named);
    }
    this.#runsOf = Map.groupBy(runs, run => run.parent_checkpoint_id ?? '');
    this.#continued = Map.groupBy(training, run => run.parent_checkpoint_id ?? '');
    this.#deployed = Map.groupBy(known.deployments, each => each.checkpoint_id ?? '');
    for (const [, siblings] of Map.groupBy(training, run => run.bench_id)) {
      const differing = differingColumns(siblings);
      for (const run of siblings) {
        const words = differing.flatMap(column => {
          const text = cellText(column, run);
          return text === '' ? [] : `${column.title.toLowerCase()} ${text}`;
        });
        this.#options.set(run.training_run_id, words.join('  '));
      }
    }
  }

  rows(): readonly TreeRow[] {
    const { benchmarks, runs, training, deployments } = this.#known;
    const known = new Set([...this.#checkpoints.values()].flatMap(each => [...each.keys()]));
    for (const benchmark of benchmarks) {
      const own = <Row extends Dated & { readonly bench_id?: string | null | undefined }>(rows: readonly Row[]) =>
        rows.filter(({ bench_id }) => bench_id === benchmark.bench_id).toSorted(oldestFirst);
      this.#add('benchmark', benchmark.bench_id, [], benchmark, {
        name: nameOr(benchmark.label, benchmark.bench_id),
        about: formatEvaluationCount(countOf(benchmark.eval_run_count)),
        created: benchmark.created_at,
        hasParts: true,
      });
      const path = [treeKey('benchmark', benchmark.bench_id)];
      const isBelow = (id: string | null | undefined): boolean => !!id && known.has(id);
      for (const run of own(runs)) if (!isBelow(run.parent_checkpoint_id)) this.#addRun(run, path);
      for (const run of own(training)) if (!isBelow(run.parent_checkpoint_id)) this.#addTraining(run, path);
      // Runs that continue each other in a cycle have no root. No service should report such runs.
      for (const run of own(training)) this.#addTraining(run, path);
      this.#addUnread(path, unread => unread.benchmark === benchmark.bench_id);
    }
    this.#addUnread([], ({ kind }) => kind === 'benchmark');
    for (const deployment of deployments) this.#addDeployment(deployment, []);
    this.#addUnread([], ({ kind }) => kind === 'deployment');
    return this.#rows;
  }

  #add(
    kind: TreeKind,
    id: string,
    path: readonly string[],
    record: object,
    row: Pick<TreeRow, 'name'> & Partial<TreeRow>,
  ): boolean {
    const key = treeKey(kind, id);
    if (this.#placed.has(key)) return false;
    this.#placed.add(key);
    const missing = {
      status: undefined,
      held_out: undefined,
      best_held_out: undefined,
      mean: undefined,
      about: '',
      created: undefined,
      hasParts: false,
    };
    this.#rows.push({ key, kind, id, path, record, ...missing, ...row });
    return true;
  }

  #addUnread(path: readonly string[], isHere: (unread: UnreadList) => boolean): void {
    for (const unread of this.#known.unread?.filter(isHere) ?? []) {
      const { kind, benchmark = '', read, isReading } = unread;
      this.#add(
        kind,
        `more ${benchmark}`,
        path,
        {},
        {
          name: `… more, ${read} read`,
          about: isReading ? 'reading…' : `open to read more ${treeKinds[kind].many}`,
          unread,
        },
      );
    }
  }

  #addRun(run: EvalRun, path: readonly string[]): void {
    this.#add('run', run.eval_run_id, path, run, {
      name: nameOr(run.display_name, run.eval_run_id),
      status: run.status ?? undefined,
      mean: listedMean(run),
      about: [this.#known.isBaseline(run) ? 'baseline' : '', describeModel(run)].filter(Boolean).join('  '),
      created: run.created_at,
    });
  }

  #addTraining(run: TrainingRun, path: readonly string[]): void {
    const id = run.training_run_id;
    const known = this.#known.parts.get(id);
    const { last, best } = (known ? heldOutMeans(known.heldOut) : this.#known.heldOutOf?.(id)) ?? {};
    const about = [best === undefined ? '' : `best at step ${best.step}`, this.#options.get(id) ?? ''];
    const isNew = this.#add('training', id, path, run, {
      name: nameOr(run.display_name, id),
      status: run.status ?? undefined,
      held_out: last,
      best_held_out: best,
      about: about.filter(Boolean).join('  '),
      created: run.created_at,
      hasParts: known === undefined || known.checkpoints.length > 0,
    });
    if (!isNew) return;
    const below = [...path, treeKey('training', id)];
    const meanOf = heldOutOfStep(known?.heldOut ?? []);
    const checkpoints = [...(this.#checkpoints.get(id)?.values() ?? [])];
    for (const checkpoint of checkpoints.sort((one, other) => (one.step_index ?? 0) - (other.step_index ?? 0))) {
      this.#addCheckpoint(checkpoint, run, below, { best: best?.step, meanOf });
    }
  }

  #addCheckpoint(
    checkpoint: Checkpoint,
    run: TrainingRun,
    path: readonly string[],
    { best, meanOf }: { readonly best: number | undefined; readonly meanOf: ReturnType<typeof heldOutOfStep> },
  ): void {
    const { checkpoint_id: id, step_index: step } = checkpoint;
    const [runs, deployed, continued] = [this.#runsOf.get(id), this.#deployed.get(id), this.#continued.get(id)];
    const isNew = this.#add('checkpoint', id, path, checkpoint, {
      name: step == null ? id : `step ${step}`,
      held_out: meanOf(step),
      about: best !== undefined && best === step ? 'best' : '',
      created: checkpoint.created_at,
      run,
      hasParts: (runs ?? deployed ?? continued) !== undefined,
    });
    if (!isNew) return;
    const below = [...path, treeKey('checkpoint', id)];
    for (const each of runs ?? []) this.#addRun(each, below);
    for (const each of deployed ?? []) this.#addDeployment(each, below);
    for (const each of continued ?? []) this.#addTraining(each, below);
  }

  #addDeployment(deployment: TracedDeployment, path: readonly string[]): void {
    const { deployment_id: id, model_slug: slug, is_active, checkpoint_id, role, from_run } = deployment;
    const serves = is_active
      ? role === 'test'
        ? 'serves its slug now'
        : 'in production now'
      : isUnreadable(deployment, 'is_active')
        ? 'may serve its slug now'
        : formatRole(deployment);
    const origin =
      path.length === 0 && checkpoint_id ? `of ${from_run ? formatTrainingOrigin(from_run) : checkpoint_id}` : '';
    this.#add('deployment', id, path, deployment, {
      name: slug ?? id,
      status: deployment.status ?? undefined,
      about: [serves, origin].filter(Boolean).join('  '),
      created: deployment.created_at,
    });
  }
}

const formatEvaluationCount = (count: number | undefined): string =>
  count === undefined ? '' : counted(count, 'evaluation');

/** Says how many rows of a kind are not in the tree because their benchmark is unknown; empty for 0. */
export function describeLeftOut(kind: TreeKind, count: number): string {
  const { word, many } = treeKinds[kind];
  const rows = counted(count, kind === 'training' ? 'training run' : word, many);
  return count === 0 ? '' : `${rows} with an unknown benchmark left out`;
}

/** The rows without a folded ancestor. */
export function unfoldedRows(rows: readonly TreeRow[], isOpen: (key: string) => boolean): readonly TreeRow[] {
  return rows.filter(({ path }) => path.every(isOpen));
}

/** A row with its ancestors and descendants; undefined if it is not in the tree. */
export function branchOf(rows: readonly TreeRow[], key: string): readonly TreeRow[] | undefined {
  const own = rows.find(row => row.key === key);
  return own && rows.filter(row => row.key === key || row.path.includes(key) || own.path.includes(row.key));
}

const indentOf = ({ path }: TreeRow): string => '  '.repeat(path.length);

const worstMeanIn = ({ kind, record }: TreeRow): number | undefined =>
  kind === 'run' ? worstMeanOf(record as MeasuredRun) : undefined;

/** The interval of the mean of an evaluation, or of the held-out reward of a checkpoint or a training run. */
function intervalOf({ kind, held_out, record }: TreeRow, range: Range): Interval | undefined {
  if (kind === 'run') return intervalOfRun(record as MeasuredRun, range);
  return held_out && intervalOfHeldOut(held_out, range);
}

/**
 * @param range the range of rewards in the settings
 * @param mark the prefix of the name, which shows whether the row is folded
 * @param alarmOf the row's state in Watch, if it has an alarm
 */
export function treeColumns(
  range: Range,
  mark: (row: TreeRow) => string = () => '',
  alarmOf: (row: TreeRow) => LineState | undefined = () => undefined,
): readonly Column<TreeRow>[] {
  const markOf = (row: TreeRow): string => `${indentOf(row)}${mark(row)}`;
  return [
    plainColumn('name', 'LINEAGE', { min: 18, max: 80, grow: 4 }, row => row.name, {
      text: row => `${markOf(row)}${row.name}`,
      mark: markOf,
      exported: row => `${indentOf(row)}${row.name}`,
    }),
    {
      ...heldOutColumn<TreeRow>(row => row.held_out, { title: 'HELD-OUT/MEAN' }),
      ifAny: true,
      text: row => (row.mean === undefined ? heldOutCell(row.held_out) : meanOfRun(row.record as MeasuredRun)),
      sortedBy: row => worstMeanIn(row) ?? (row.held_out && worstOf(row.held_out)),
      exported: row => row.mean ?? row.held_out?.reward,
    },
    { ...heldOutColumn<TreeRow>(row => row.best_held_out, { id: 'best', title: 'BEST' }), ifAny: true },
    // Only for filters, because the held-out column shows an evaluation's mean.
    plainColumn('mean', 'MEAN', 7, row => row.mean, {
      ...{ align: 'right', hidden: true, bestFirst: true, sortedBy: worstMeanIn, sortNote: worstSortNote },
    }),
    { ...intervalColumn<TreeRow>(row => intervalOf(row, range)), wide: true, decides: 1 },
    {
      ...statusColumn<TreeRow>(row => row.status),
      width: { min: 12, max: 18, grow: 1 },
      text: row => alarmOf(row)?.brief ?? formatStatus(row.status ?? ''),
      look: row => alarmOf(row)?.look ?? statusMeaning(row.status ?? ''),
    },
    plainColumn('kind', 'KIND', 6, row => treeKinds[row.kind].word, { text: row => treeKinds[row.kind].short }),
    { id: 'about', title: 'ABOUT', width: { min: 10, max: 60, grow: 2 }, cutAt: 'end', value: row => row.about },
    timeColumn('created', 'STARTED', row => row.created),
    idColumn(row => row.id),
  ];
}

/** The facts about a row that is a checkpoint. */
export const checkpointRowFacts = ({ id, run, name, held_out, about }: TreeRow): readonly Fact[] => [
  { label: 'checkpoint', value: name },
  referenceFact('id', 'checkpoints', id, run?.training_run_id),
  { label: 'held-out', value: heldOutCell(held_out) },
  { label: 'about', value: about },
  referenceFact('training', 'training', run?.training_run_id),
  statusFact('status', run?.status),
];
