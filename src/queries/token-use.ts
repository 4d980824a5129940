/** How many tokens earlier rollouts used, for estimating the cost of a new training run. */
import { mean } from '../base/statistics.ts';
import { ifThere } from '../service/errors.ts';
import type { LiveQuery } from './live-query.ts';
import type { QueryContext } from './query-context.ts';
import { readSteps } from './step-rewards.ts';
import { trainingKeys, trainingRunsOf } from './training.ts';
import { trainerRewardsQuery } from './training-curves.ts';

/** Maximum number of runs to read. Each takes two requests. */
const maxRuns = 3;

export interface TokenUse {
  /** Mean tokens per rollout. */
  readonly tokens: { readonly input: number | undefined; readonly output: number };
  /** The step whose rollouts were counted, and its training run's name. */
  readonly step: number;
  readonly name: string;
}

/** Token use in a run's last step; undefined if the service does not report it. */
async function lastStepOf(run: { readonly id: string; readonly name: string }, context: QueryContext) {
  const curve = await trainerRewardsQuery(run.id, true).read(context);
  const last = curve.steps.at(-1);
  if (last === undefined) return undefined;
  const steps = await readSteps(run.id, [last], context);
  const rollouts = steps.flatMap(({ rewards }) => rewards);
  const output = mean(rollouts.flatMap(({ completion_tokens }) => completion_tokens ?? []));
  const input = mean(rollouts.flatMap(({ prompt_tokens }) => prompt_tokens ?? []));
  return output === undefined ? undefined : { tokens: { input, output }, step: last, name: run.name };
}

/** Token use in the newest run on this benchmark and model that reports it; empty if none does. */
export async function readTokenUse(benchId: string, model: string, context: QueryContext): Promise<Partial<TokenUse>> {
  const { items } = await trainingRunsOf(benchId).readPage({ ...context, query: {} });
  for (const run of items.filter(({ base_model_slug }) => base_model_slug === model).slice(0, maxRuns)) {
    const id = run.training_run_id;
    const used = await ifThere(true, () => lastStepOf({ id, name: run.display_name ?? id }, context));
    if (used) return used;
  }
  return {};
}

export function tokenUseQuery(benchId: string, model: string): LiveQuery<Partial<TokenUse>> {
  return {
    key: [...trainingKeys.runsOf(benchId), 'tokens', model],
    activity: () => 'settled',
    read: context => readTokenUse(benchId, model, context),
  };
}
