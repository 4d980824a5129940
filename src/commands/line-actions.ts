/** What line mode can do with a row; it asks for the values it needs. */

import type { Benchmark } from '../contract/benchmarks.ts';
import { deploymentRoles } from '../contract/deployments.ts';
import type { EvalRun } from '../contract/evaluations.ts';
import type { TrainingRun } from '../contract/training.ts';
import { startDeployment } from '../queries/deployments.ts';
import { cancelRun, startEvaluation } from '../queries/evaluations.ts';
import { cancelTraining, startTraining } from '../queries/training.ts';
import { start } from './act.ts';
import { replacedBy } from './production.ts';
import { defaultSlug, deployableCheckpoint, evaluationInput, findBenchmark, trainingInput } from './starts.ts';
import type { CommandContext } from './with-service.ts';

export interface LinePrompt {
  /** Asks until there is an answer. An empty line means the default, if there is one. */
  readonly ask: (question: string, usual?: string) => Promise<string>;
  /** Asks until the answer is one of these; an empty line means the first. */
  readonly choose: <Choice extends string>(
    question: string,
    choices: readonly [Choice, ...Choice[]],
  ) => Promise<Choice>;
  readonly say: (text: string) => void;
}

/** Returns the message to print when it is done. */
type Act<Row> = (row: Row, prompt: LinePrompt, context: CommandContext) => Promise<string>;

const evaluate: Act<Benchmark> = async (row, { ask }, context) => {
  const input = evaluationInput(findBenchmark(row), { model: await ask('Model') }, context);
  const display_name = await ask('Name of the run', input.display_name);
  const { eval_run_id } = await start(startEvaluation, { ...input, display_name }, context);
  return `Started ${eval_run_id}. Type runs to see it.`;
};

const train: Act<Benchmark> = async (row, { ask }, context) => {
  const input = trainingInput(findBenchmark(row), { model: await ask('Model') }, context);
  const display_name = await ask('Name of the run', input.display_name);
  const { training_run_id } = await start(startTraining, { ...input, display_name }, context);
  return `Started ${training_run_id}. Type training to see it.`;
};

const cancel: Act<EvalRun> = async (row, _, { service, signal }) => {
  await cancelRun(service, row, { signal });
  return 'Cancelled.';
};

const stopTraining: Act<TrainingRun> = async (row, _, { service, signal }) => {
  await cancelTraining(service, row, { signal });
  return 'Asked it to stop.';
};

const deploy: Act<TrainingRun> = async ({ training_run_id }, { ask, choose, say }, context) => {
  const checkpoint = await deployableCheckpoint(training_run_id, context, say);
  const model_slug = await ask('Slug', defaultSlug(checkpoint));
  const role = await choose('Role', deploymentRoles);
  const input = { checkpoint_id: checkpoint.id, model_slug, role };
  if (role === 'production') {
    say(await replacedBy(model_slug, context));
    const typed = await ask('Type the slug again to put it into production');
    if (typed !== model_slug) return `${typed} is not ${model_slug}. Nothing was sent.`;
  }
  const { deployment_id } = await start(startDeployment, input, context);
  return `Deploying ${deployment_id}. Type deployments to see it.`;
};

/** By kind of row, then by verb. */
const actions = new Map<string, ReadonlyMap<string, Act<never>>>([
  [
    'benchmark',
    new Map<string, Act<never>>([
      ['evaluate', evaluate],
      ['train', train],
    ]),
  ],
  ['run', new Map<string, Act<never>>([['cancel', cancel]])],
  [
    'training',
    new Map<string, Act<never>>([
      ['cancel', stopTraining],
      ['deploy', deploy],
    ]),
  ],
]);

export const verbs: readonly string[] = [...new Set([...actions.values()].flatMap(each => [...each.keys()]))];

export function actionOf(kind: string | undefined, verb: string): Act<never> | undefined {
  return kind === undefined ? undefined : actions.get(kind)?.get(verb);
}
