/** The place at which a test opens each view of the registry. */
import type { Place } from '../../src/resources/place.ts';
import type { World } from '../conformance/samples.ts';

export const benchmarksPlace: Place<'list'> = { view: 'list', resource: 'benchmarks' };

/** The resources that the places of a world show. */
export type WorldIds = Pick<World['ids'], 'benchId' | 'runId' | 'trainingId' | 'endedTrajectory'> & {
  readonly deploymentId?: string;
  readonly jobId?: string;
};

/** Where a view is opened, with `word` for everything that has a name. */
export function placeIn(ids: WorldIds, viewId: string, word: string): Place {
  const { benchId, runId, trainingId, endedTrajectory, deploymentId = 'dep_unknown', jobId = word } = ids;
  const [view = '', resource = ''] = viewId.split(' ');
  const records = new Map([
    ['benchmarks', benchId],
    ['runs', runId],
    ['trajectories', endedTrajectory],
    ['training', trainingId],
    ['deployments', deploymentId],
  ]);
  const scopes = new Map([
    ['images', { benchmark: benchId }],
    ['checkpoints', { training: trainingId }],
  ]);
  const others: readonly Place[] = [
    { view: 'watch' },
    { view: 'inbox' },
    { view: 'tree', benchmark: benchId, training: trainingId },
    { view: 'chat' },
    { view: 'compare', base: { id: runId, name: word }, new: { id: runId, name: word } },
    { view: 'compare-many', runs: [1, 2, 3].map(() => ({ id: runId, name: word })), base: runId },
    { view: 'curves', runs: [{ id: trainingId, name: word }] },
    { view: 'tasks', scope: { run: runId }, label: word },
    { view: 'rollouts', scope: { run: runId }, task: word },
    { view: 'pair', left: { id: endedTrajectory, name: word }, right: { id: endedTrajectory, name: word } },
    { view: 'search', query: word, scope: { run: runId }, label: word },
    { view: 'lengths', scope: { run: runId }, label: word },
    { view: 'outcomes', scope: { run: runId }, label: word },
    { view: 'search', scope: { run: runId }, label: word, query: word },
    { view: 'step', trainingRunId: trainingId, step: 2 },
    { view: 'step-rollouts', trainingRunId: trainingId, step: 2 },
    { view: 'task-life', trainingRunId: trainingId, task: word },
    { view: 'audit', trainingRunId: trainingId },
    { view: 'evidence', trainingRunId: trainingId, finding: word },
    { view: 'regrade', id: word, label: word },
    { view: 'benchmark-upload', jobId, label: word },
    { view: 'trajectory-upload', jobId, dataset: word },
  ];
  if (view === 'record') return { view, resource, id: records.get(resource) ?? word, label: word, parent: benchId };
  const scope = scopes.get(resource);
  if (view === 'list') return { view, resource, ...(scope && { scope, label: word }) };
  const place = others.find(other => other.view === view);
  if (!place) throw new Error(`there is no place for the view ${viewId}`);
  return place;
}
