/** Row actions in line mode, which ask for the values they need. */

import type { Benchmark } from '../contract/benchmarks.ts';
import { deploymentRoles } from '../contract/deployments.ts';
import type { TrainingRun } from '../contract/training.ts';
import type { RowAction, RunStart, Start } from '../resources/action.ts';
import { benchmarkActions } from '../resources/benchmarks.ts';
import { actionOf, resources } from '../resources/catalogue.ts';
import { changeTitle, doneWords, outagesOf, outageWords, typedFor } from '../resources/change-words.ts';
import { idOf, labelOf, type Resource } from '../resources/define.ts';
import { isRechecked, recheck, withProduction } from '../resources/recheck.ts';
import { trainingActions } from '../resources/training.ts';
import { isUnanswered, ServiceError } from '../service/errors.ts';
import type { EarlierStart } from '../store/start-keys.ts';
import { clean } from '../text/sanitise.ts';
import { isTyped, typeable } from '../text/typed.ts';
import { earlierWords, start } from './act.ts';
import { type Creation, mayBeRepeat, whereToLook } from './begin.ts';
import { resourceOrThrow } from './find.ts';
import { confirmEntry } from './production.ts';
import { defaultSlug, deployableCheckpoint, productionWords, runInput } from './starts.ts';
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

/** Starts work, and says where to see it. */
async function started<Input extends object>(
  creation: Pick<Start<Input>, 'send'> & Creation,
  input: Input,
  { choose, say }: LinePrompt,
  context: CommandContext,
  past = 'Started',
) {
  const { send, kind } = creation;
  const resource = resourceOrThrow(kind);
  const isRepeat = mayBeRepeat(send, input, context);
  const look = (): Promise<string> => whereToLook(creation, input, context, isRepeat);
  const onDoubt = async (earlier: EarlierStart): Promise<void> => {
    say(`${earlierWords(earlier)} ${await look()}`);
    if ((await choose('Send it again', ['no', 'yes'])) === 'no') throw new Error('Nothing was sent.');
  };
  const result = await start(send, input, context, { onDoubt }).catch(async (error: unknown) => {
    if (!isUnanswered(error)) throw error;
    throw new ServiceError(error.kind, `${error.message} ${await look()}`, error);
  });
  return clean`${past} ${idOf(resource, result)}. Type ${resource.names[0]} to see it.`;
}

/** Asks for a run's input, and starts the run. */
const starting =
  (run: RunStart): Act<Benchmark> =>
  async (row, prompt, context) => {
    const input = runInput(run, row, { model: await prompt.ask('Model') }, context);
    const display_name = await prompt.ask('Run name', input.display_name);
    return started({ ...run, benchmark: row }, { ...input, display_name }, prompt, context);
  };

/** Makes a change that a resource declares. Asks first if something would be lost. */
function changing(resource: Resource, action: RowAction<object>): Act<object> | undefined {
  const { to, change, destructive } = action;
  if (!change) return undefined;
  const isSure = async (row: object, { ask, choose }: LinePrompt): Promise<boolean> => {
    const outages = outagesOf(change, [row]);
    const typed = typedFor(outages);
    const called = change.called?.(row) ?? labelOf(resource, row);
    const question = clean`${changeTitle({ change, resource, count: 1 })} ${outageWords(outages)}${called}: ${change.loses}`;
    if (typed !== undefined) return isTyped(await ask(`${question} Type ${typeable(typed)} to confirm`), typed);
    return !destructive || (await choose(question, ['no', 'yes'])) === 'yes';
  };
  return async (listed, prompt, context) => {
    const { service, signal } = context;
    // The list may have been printed long ago.
    let row = listed;
    for (;;) {
      const rows = to([row]);
      if (typeof rows === 'string') return `${rows}. Nothing was changed.`;
      const [current] = await withProduction([{ resource, change, row }], context);
      row = current?.row ?? row;
      if (!(await isSure(row, prompt))) return 'Nothing was changed.';
      if (!isRechecked(action)) break;
      const { rows: now, objection } = await recheck(
        [{ resource, change, row }],
        query => query.read(context),
        context,
      );
      if (objection === undefined) break;
      prompt.say(objection);
      row = now[0] ?? row;
    }
    const answer = await change.send(service, row, { signal });
    return clean`${doneWords(change, [{ name: labelOf(resource, row), answer }], String)}.`;
  };
}

const deploy: Act<TrainingRun> = async ({ training_run_id }, prompt, context) => {
  const { ask, choose, say } = prompt;
  const checkpoint = await deployableCheckpoint(training_run_id, context, say);
  const model_slug = await ask('Slug', defaultSlug(checkpoint));
  const role = await choose('Role', deploymentRoles);
  const input = { checkpoint_id: checkpoint.id, model_slug, role };
  if (role === 'production') {
    let typed = '';
    const isSure = async (replaced: string): Promise<boolean> => {
      say(`${productionWords(checkpoint, model_slug)} ${replaced}`);
      typed = await ask('Type the slug again to put it into production');
      return typed === model_slug;
    };
    if (!(await confirmEntry({ slug: model_slug }, isSure, context)))
      return clean`${typed} is not ${model_slug}. Nothing was sent.`;
  }
  return started(trainingActions.deploy.sends, input, prompt, context, 'Deploying');
};

/** The actions that ask for values, by command. */
const asking: ReadonlyMap<string, Act<never>> = new Map<string, Act<never>>([
  ['evaluate', starting(benchmarkActions.evaluate.sends)],
  ['train', starting(benchmarkActions.train.sends)],
  ['deploy', deploy],
]);

export function actOf(resource: Resource, verb: string): Act<never> | undefined {
  const action = actionOf(resource, verb);
  return action && (asking.get(verb) ?? changing(resource, action));
}

export const isVerb = (word: string): boolean => resources.some(resource => actOf(resource, word));
