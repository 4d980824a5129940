/** What line mode can do with a row; it asks for the values it needs. */

import type { Benchmark } from '../contract/benchmarks.ts';
import { deploymentRoles } from '../contract/deployments.ts';
import type { TrainingRun } from '../contract/training.ts';
import { startDeployment } from '../queries/deployments.ts';
import { startEvaluation } from '../queries/evaluations.ts';
import { startTraining } from '../queries/training.ts';
import type { RowAction } from '../resources/action.ts';
import { resources } from '../resources/catalogue.ts';
import { changeTitle, doneWords, outageWords } from '../resources/change-words.ts';
import { labelOf, type Resource } from '../resources/define.ts';
import { clean } from '../text/sanitise.ts';
import { isTyped, typeable } from '../text/typed.ts';
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
  return clean`Started ${eval_run_id}. Type runs to see it.`;
};

const train: Act<Benchmark> = async (row, { ask }, context) => {
  const input = trainingInput(findBenchmark(row), { model: await ask('Model') }, context);
  const display_name = await ask('Name of the run', input.display_name);
  const { training_run_id } = await start(startTraining, { ...input, display_name }, context);
  return clean`Started ${training_run_id}. Type training to see it.`;
};

/** Makes a change that a resource declares; what is lost for good is asked about first. */
const changing = (resource: Resource, { to, change, destructive }: RowAction<object>): Act<object> | undefined =>
  change &&
  (async (row, { ask, choose }, { service, signal }) => {
    const rows = to([row]);
    if (typeof rows === 'string') return `${rows}. Nothing was changed.`;
    const name = labelOf(resource, row);
    const slugs = change.outage?.(rows);
    const question = clean`${changeTitle(change, resource, 1)} ${outageWords(slugs)}${name}: ${change.loses}`;
    const isSure = slugs
      ? isTyped(await ask(`${question} Type ${typeable(slugs.join(' '))} to confirm`), slugs.join(' '))
      : !destructive || (await choose(question, ['no', 'yes'])) === 'yes';
    if (!isSure) return 'Nothing was changed.';
    await change.send(service, row, { signal });
    return clean`${doneWords(change, name)}.`;
  });

const deploy: Act<TrainingRun> = async ({ training_run_id }, { ask, choose, say }, context) => {
  const checkpoint = await deployableCheckpoint(training_run_id, context, say);
  const model_slug = await ask('Slug', defaultSlug(checkpoint));
  const role = await choose('Role', deploymentRoles);
  const input = { checkpoint_id: checkpoint.id, model_slug, role };
  if (role === 'production') {
    say(await replacedBy(model_slug, context));
    const typed = await ask('Type the slug again to put it into production');
    if (typed !== model_slug) return clean`${typed} is not ${model_slug}. Nothing was sent.`;
  }
  const { deployment_id } = await start(startDeployment, input, context);
  return clean`Deploying ${deployment_id}. Type deployments to see it.`;
};

/** By resource, then by verb: what asks for values, and the changes that the resources declare. */
const asking = new Map<string, Readonly<Record<string, Act<never>>>>([
  ['benchmarks', { evaluate, train }],
  ['training', { deploy }],
]);

function verbsOf(resource: Resource): ReadonlyMap<string, Act<never>> {
  const changes = Object.values(resource.actions ?? {}).flatMap((action): [string, Act<never>][] => {
    const act = changing(resource, action);
    return act && action.change?.command !== undefined ? [[action.change.command, act]] : [];
  });
  return new Map([...Object.entries(asking.get(resource.names[0]) ?? {}), ...changes]);
}

const actions = new Map(resources.map(resource => [resource.names[0], verbsOf(resource)] as const));

export const verbs: readonly string[] = [...new Set([...actions.values()].flatMap(each => [...each.keys()]))];

export function actionOf({ names }: Resource, verb: string): Act<never> | undefined {
  return actions.get(names[0])?.get(verb);
}
