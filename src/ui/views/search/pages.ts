/** The trajectories that a search goes through. Lists that were already read are not read again. */
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

/** All rows of a list; from the cache if it has them. @throws Error if reading fails before the first row */
async function allOf<Row>(workbench: Workbench, source: ListSource<Row>, signal: AbortSignal): Promise<Rows<Row>> {
  const reader = workbench.lists.of(source);
  const outcome = await reader.readRest(oldestWanted(reader, source, 30_000), { signal, onProgress: () => {} });
  signal.throwIfAborted();
  const { rows, dropped, notes } = reader.data;
  const { error } = reader.state();
  if (outcome === 'failed' && rows.length === 0) throw error ?? new Error('The list could not be read.');
  return {
    rows,
    notes: [
      ...(outcome === 'complete' ? [] : [`only part of the list could be read: ${error?.message ?? outcome}`]),
      ...(dropped > 0 ? [`${counted(dropped, 'row')} could not be read`] : []),
      ...notes,
    ],
  };
}

export async function* pagesOf(workbench: Workbench, { scope, step }: SearchedTexts, signal: AbortSignal): Pages {
  const { run, training: trainingRun, dataset, benchmark } = scope;
  if (step !== undefined && trainingRun !== undefined) {
    const context = { service: await workbench.service(), signal, memory: workbench.remembered };
    for (const { rewards } of await readSteps(trainingRun, [step], context)) yield ofRewards(rewards);
  } else if (benchmark !== undefined) {
    const ofBenchmark = { benchmark };
    const evaluations = await allOf(workbench, runs.list(ofBenchmark), signal);
    const trained = await allOf(workbench, training.list(ofBenchmark), signal);
    yield { rows: [], notes: [...evaluations.notes, ...trained.notes] };
    for (const { eval_run_id } of evaluations.rows) {
      yield await allOf(workbench, trajectoryList({ eval_run_id }), signal);
    }
    for (const { training_run_id } of trained.rows) {
      yield await allOf(workbench, trajectoryList({ training_run_id }), signal);
    }
  } else {
    const filter = {
      ...(run !== undefined && { eval_run_id: run }),
      ...(trainingRun !== undefined && { training_run_id: trainingRun }),
      ...(dataset !== undefined && { dataset_name: dataset }),
    };
    yield await allOf(workbench, trajectoryList(filter), signal);
  }
}

/** The rollouts of a step, without those that lack an id. */
export function ofRewards(rewards: readonly (Partial<Pick<Trajectory, 'trajectory_id'>> | object)[]): Rows<Trajectory> {
  const rows = (rewards as readonly Partial<Trajectory>[]).flatMap(({ trajectory_id, ...row }) =>
    trajectory_id ? [{ ...row, trajectory_id }] : [],
  );
  const nameless = rewards.length - rows.length;
  return { rows, notes: nameless > 0 ? [`${counted(nameless, 'rollout')} without an id cannot be read`] : [] };
}
