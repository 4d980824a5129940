/** The trajectories to search. Lists that have already been read are not read again. */
import type { Trajectory } from '../../../contract/trajectories.ts';
import type { ListSource } from '../../../queries/lists/list-source.ts';
import { readSteps } from '../../../queries/step-rewards.ts';
import { trajectoryList } from '../../../queries/trajectories.ts';
import type { SearchedTexts } from '../../../resources/place.ts';
import { runs } from '../../../resources/runs.ts';
import type { TextSearchPorts } from '../../../resources/text-search.ts';
import { training } from '../../../resources/training.ts';
import { counted } from '../../../text/numbers.ts';
import type { Workbench } from '../../../workbench/workbench.ts';
import { oldestWanted } from '../../data/use-list.ts';

type Pages = AsyncGenerator<TextSearchPorts['pages'] extends AsyncIterable<infer Page> ? Page : never, void>;

interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

/**
 * Yields a list's rows while it is being read, known rows first; the last item has all rows, and the ids of rows that
 * are gone.
 *
 * @throws Error if reading fails before the first row
 */
async function* rowsOf<Row>(
  workbench: Workbench,
  source: ListSource<Row>,
  signal: AbortSignal,
): AsyncGenerator<Partial<Rows<Row>> & Pick<Rows<Row>, 'rows'> & { readonly gone?: readonly string[] }, void> {
  const reader = workbench.lists.of(source);
  let isOver = false;
  let wake = (): void => {};
  const rest = reader
    .readRest(oldestWanted(reader, source, 30_000), { signal, onProgress: () => wake() })
    .finally(() => {
      isOver = true;
      wake();
    });
  const seen = new Set<string>();
  while (!isOver) {
    const { rows } = reader.data;
    const isMore = rows.length > seen.size;
    for (const row of rows) seen.add(source.id(row));
    if (isMore) yield { rows };
    await new Promise<void>(resolve => {
      wake = resolve;
      if (isOver) resolve();
    });
  }
  const outcome = await rest;
  signal.throwIfAborted();
  const { rows, dropped, notes } = reader.data;
  const { error } = reader.state();
  if (outcome === 'failed' && rows.length === 0) throw error ?? new Error('The list could not be read.');
  if (outcome === 'complete') for (const row of rows) seen.delete(source.id(row));
  yield {
    rows,
    ...(outcome === 'complete' && { gone: [...seen] }),
    notes: [
      ...(outcome === 'complete' ? [] : [`only part of the list could be read: ${error?.message ?? outcome}`]),
      ...(dropped > 0 ? [`${counted(dropped, 'row')} could not be read`] : []),
      ...notes,
    ],
  };
}

/** All rows in a list, and why some may be missing. */
async function allOf<Row>(workbench: Workbench, source: ListSource<Row>, signal: AbortSignal): Promise<Rows<Row>> {
  let all: Rows<Row> = { rows: [], notes: [] };
  for await (const { rows, notes = [] } of rowsOf(workbench, source, signal)) all = { rows, notes };
  return all;
}

export async function* pagesOf(workbench: Workbench, { scope, step }: SearchedTexts, signal: AbortSignal): Pages {
  const { run, training: trainingRun, dataset, benchmark } = scope;
  if (step !== undefined && trainingRun !== undefined) {
    const context = workbench.contextFor(await workbench.service(), signal);
    for (const { rewards } of await readSteps(trainingRun, [step], context)) yield ofRewards(rewards);
  } else if (benchmark !== undefined) {
    const ofBenchmark = { benchmark };
    const evaluations = await allOf(workbench, runs.list(ofBenchmark), signal);
    const trained = await allOf(workbench, training.list(ofBenchmark), signal);
    yield { rows: [], notes: [...evaluations.notes, ...trained.notes] };
    for (const { eval_run_id } of evaluations.rows) {
      yield* rowsOf(workbench, trajectoryList({ eval_run_id }), signal);
    }
    for (const { training_run_id } of trained.rows) {
      yield* rowsOf(workbench, trajectoryList({ training_run_id }), signal);
    }
  } else {
    const filter = {
      ...(run !== undefined && { eval_run_id: run }),
      ...(trainingRun !== undefined && { training_run_id: trainingRun }),
      ...(dataset !== undefined && { dataset_name: dataset }),
    };
    yield* rowsOf(workbench, trajectoryList(filter), signal);
  }
}

/** A step's rollouts that have an id. */
function ofRewards(rewards: readonly (Partial<Pick<Trajectory, 'trajectory_id'>> | object)[]): Rows<Trajectory> {
  const rows = (rewards as readonly Partial<Trajectory>[]).flatMap(({ trajectory_id, ...row }) =>
    trajectory_id ? [{ ...row, trajectory_id }] : [],
  );
  const nameless = rewards.length - rows.length;
  return { rows, notes: nameless > 0 ? [`${counted(nameless, 'rollout')} without an id cannot be read`] : [] };
}
