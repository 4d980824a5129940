/** How many tokens earlier rollouts used, for estimating the cost of a new run. */
import { mean } from '../base/statistics.ts';
import type { TaskCount } from '../contract/benchmarks.ts';
import { ifThere } from '../service/errors.ts';
import { taskCountQuery } from './benchmarks.ts';
import { evaluationKeys, listedRunsOf } from './evaluations.ts';
import type { LiveQuery } from './live-query.ts';
import type { QueryContext } from './query-context.ts';
import { readSteps } from './step-rewards.ts';
import { trainingKeys, trainingRunsOf } from './training.ts';
import { trainerRewardsQuery } from './training-curves.ts';

/** Maximum number of runs to read. Each takes two requests. */
const maxRuns = 3;

interface TokenUse {
  /** Mean tokens per rollout. */
  readonly tokens: { readonly input: number | undefined; readonly output: number };
  /** The step whose rollouts were counted, for a training run. */
  readonly step?: number;
  /** The run's name. */
  readonly name: string;
}

/** A run whose tokens are read. */
interface Named {
  readonly id: string;
  readonly name: string;
}

/** Token use in a run's last step; undefined if the service does not report it. */
async function lastStepOf(run: Named, context: QueryContext): Promise<TokenUse | undefined> {
  const curve = await trainerRewardsQuery(run.id, true).read(context);
  const last = curve.steps.at(-1);
  if (last === undefined) return undefined;
  const steps = await readSteps(run.id, [last], context);
  const rollouts = steps.flatMap(({ rewards }) => rewards);
  const output = mean(rollouts.flatMap(({ completion_tokens }) => completion_tokens ?? []));
  const input = mean(rollouts.flatMap(({ prompt_tokens }) => prompt_tokens ?? []));
  return output === undefined ? undefined : { tokens: { input, output }, step: last, name: run.name };
}

/** Token use in an evaluation's rollouts, from its statistics; undefined if the service does not report it. */
async function rolloutsOf({ id, name }: Named, { service, signal }: QueryContext): Promise<TokenUse | undefined> {
  const { snapshots } = await service.call('getRolloutStatistics', { params: { eval_run_id: id } }, { signal });
  // Other stages may count the tokens of a single message.
  const ofRollouts = snapshots.filter(({ stage }) => stage === 'rollout');
  const meanOf = (knob: string): number | undefined =>
    mean(ofRollouts.flatMap(({ knob_name, samples }) => (knob_name === knob ? (samples ?? []) : [])));
  const output = meanOf('completion_tokens');
  return output === undefined ? undefined : { tokens: { input: meanOf('prompt_tokens'), output }, name };
}

/** Token use in the newest of these runs that reports it; empty if none does. */
async function newestUse(
  runs: readonly Named[],
  read: (run: Named, context: QueryContext) => Promise<TokenUse | undefined>,
  context: QueryContext,
): Promise<Partial<TokenUse>> {
  for (const run of runs.slice(0, maxRuns)) {
    const used = await ifThere(() => read(run, context));
    if (used) return used;
  }
  return {};
}

/** Token use in the newest training run on this benchmark and model that reports it; empty if none does. */
export async function readTokenUse(benchId: string, model: string, context: QueryContext): Promise<Partial<TokenUse>> {
  const { items } = await trainingRunsOf(benchId).readPage({ ...context, query: {} });
  const ofModel = items.filter(({ base_model_slug }) => base_model_slug === model);
  const named = ofModel.map(({ training_run_id: id, display_name: name }) => ({ id, name: name ?? id }));
  return newestUse(named, lastStepOf, context);
}

/** Token use in the newest evaluation on this benchmark and model that reports it, or else in a training run. */
async function readEvaluationUse(benchId: string, model: string, context: QueryContext): Promise<Partial<TokenUse>> {
  const { items } = await listedRunsOf(benchId).readPage({ ...context, query: {} });
  const ofModel = items.filter(({ base_model_slug }) => base_model_slug === model);
  const named = ofModel.map(({ eval_run_id: id, display_name: name }) => ({ id, name: name ?? id }));
  const used = await newestUse(named, rolloutsOf, context);
  return used.tokens ? used : readTokenUse(benchId, model, context);
}

/** The tasks of an evaluation, and the tokens that earlier rollouts used; without the tokens if they cannot be read. */
export function evaluationUseQuery(
  benchId: string,
  model: string,
): LiveQuery<Pick<TaskCount, 'task_count' | 'by_split'> & Partial<TokenUse>> {
  return {
    key: [...evaluationKeys.runsOf(benchId), 'tokens', model],
    activity: () => 'settled',
    read: async context => {
      const used = readEvaluationUse(benchId, model, context).catch(() => ({}));
      return { ...(await taskCountQuery(benchId).read(context)), ...(await used) };
    },
  };
}

export function tokenUseQuery(benchId: string, model: string): LiveQuery<Partial<TokenUse>> {
  return {
    key: [...trainingKeys.runsOf(benchId), 'tokens', model],
    activity: () => 'settled',
    read: context => readTokenUse(benchId, model, context),
  };
}
