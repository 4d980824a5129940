/** `benchtop evaluate`, `train`, `deploy` and `build`: commands that start long-running work. */
import type { Benchmark } from '../contract/benchmarks.ts';
import { deploymentRoles } from '../contract/deployments.ts';
import { modelSlug } from '../contract/model-slug.ts';
import { isRunning } from '../contract/status.ts';
import { describedOptions, optionProblem } from '../present/described-options.ts';
import type { CostedRun } from '../present/start-cost.ts';
import { seedOption } from '../present/start-name.ts';
import type { Origin } from '../queries/checkpoint-memory.ts';
import { OriginSearch } from '../queries/checkpoint-origins.ts';
import { lastDeployable, NoCheckpointError } from '../queries/checkpoints.ts';
import { modelList, pricesOf } from '../queries/models.ts';
import { type RunInput, readRunOptions } from '../queries/run-options.ts';
import type { RunStart } from '../resources/action.ts';
import { benchmarkActions, benchmarks } from '../resources/benchmarks.ts';
import { slugOf } from '../resources/deployments.ts';
import { describeChoice, describeMeasured } from '../resources/describe-held-out.ts';
import { onBenchmark, withOrigin } from '../resources/origins.ts';
import {
  type ChosenRun,
  chosenRuns,
  maxStarts,
  modelOf,
  nameProblem,
  otherModel,
  planStarts,
  type StartChoice,
  seedsIn,
} from '../resources/start-plan.ts';
import { trainingActions } from '../resources/training.ts';
import { ServiceError } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import { confirm } from './act.ts';
import { begin, checkPrinted } from './begin.ts';
import { beginEach, type EachStart } from './begin-each.ts';
import { CommandError, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { findAmong } from './find.ts';
import {
  type CheckpointSearch,
  type FoundCheckpoint,
  findCheckpoint,
  runHint,
  searchCheckpoint,
} from './find-checkpoint.ts';
import type { CommandIo } from './io.ts';
import { confirmEntry } from './production.ts';
import { didYouMean } from './suggest.ts';
import type { CommandInput } from './table/commands.ts';
import { parseUntil } from './until.ts';
import { type CommandContext, withService } from './with-service.ts';

async function benchmarkOf(word = '', context: CommandContext): Promise<Benchmark> {
  return (await findAmong([benchmarks], word, context, { use: 'write' })).row;
}

/** Splits `num_steps=20` into name and value. @throws CommandError */
function optionOf(pair: string): [name: string, text: string] {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandError(`--option takes NAME=VALUE, not ${pair}.`);
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/**
 * Adds the options that the service describes, if options are chosen or priced. Refuses unknown options, which the
 * service would ignore, and values that it would refuse. If it does not describe its options, they are sent unchecked.
 *
 * @throws CommandError
 */
async function withOffered(
  choices: readonly StartChoice[],
  { options: operation }: RunStart,
  { dryRun }: RunCommand['flags'],
  { service, signal, io }: CommandContext,
): Promise<readonly StartChoice[]> {
  const answers = new Map<string | undefined, unknown>();
  for (const choice of choices) {
    const { benchmark, texts } = choice;
    const model = modelOf(choice);
    const isChosen = Object.keys(texts).length > 0;
    if (!isChosen && !dryRun) continue;
    if (!answers.has(model)) {
      const of = { benchId: benchmark.bench_id, model };
      const answer = await readRunOptions(service, operation, of, signal).catch((error: unknown) => {
        const isKnown = error instanceof ServiceError && !signal.aborted && exitCodeOf(error) !== exitCodes.forbidden;
        // A preview can do without the cost.
        if (isChosen && !isKnown) throw error;
      });
      answers.set(model, answer);
      if (isChosen && describedOptions(answer).size === 0)
        io.note('The service does not list its options: --option is sent unchecked.');
    }
    checkOptions(texts, answers.get(model), model);
  }
  return choices.map(choice => ({ ...choice, offered: answers.get(modelOf(choice)) }));
}

/** @throws CommandError for an unknown option, or a value that the service would refuse */
function checkOptions(texts: StartChoice['texts'], offered: unknown, model: string | undefined): void {
  const known = [...describedOptions(offered, model).keys()];
  for (const [name, text] of Object.entries(texts)) {
    const problem = optionProblem(offered, model, name, text);
    if (problem === undefined) continue;
    const hint = didYouMean(name, known) || clean`The options are ${known}.`;
    const isKnown = known.length === 0 || known.includes(name);
    const words = isKnown
      ? clean`${name}=${text} is not valid. ${problem}.`
      : clean`There is no option ${name}. ${hint}`;
    throw new CommandError(`${words} Nothing was started.`);
  }
}

/** Notes how `first@best` was chosen, and which step `first@latest` means while more may follow. */
function noteChoice(word: string | undefined, checkpoint: FoundCheckpoint | undefined, io: CommandIo): void {
  const { chosenBy, isLatest, run, step, ...others } = checkpoint ?? {};
  if (isLatest && step != null && isRunning(run?.status))
    io.note(clean`${word ?? ''} is step ${step}, the latest checkpoint so far.`);
  if (chosenBy) io.note(clean`${word ?? ''} is ${describeChoice(chosenBy, others)}.`);
}

type RunCommand = CommandInput<'evaluate'> | CommandInput<'train'>;

/** The runs to start: one for each model and seed. @throws CommandError */
function runsOf({ flags }: RunCommand, start: RunStart): readonly ChosenRun[] {
  const { checkpoint, name, option = [] } = flags;
  const models = [flags.model ?? []].flat();
  if (models.length === 0 && checkpoint === undefined)
    throw new CommandError(`Specify what to ${start.command}: --model MODEL, --checkpoint CHECKPOINT, or both.`);
  const pairs = option.map(optionOf);
  const texts = Object.fromEntries(pairs);
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) < index);
  if (twice) throw new CommandError(clean`Give the option ${twice[0]} once.`);
  const seeds = ('seed' in flags ? (flags.seed ?? []) : []).flatMap(text => {
    const named = seedsIn(text);
    if (named) return named;
    throw new CommandError(`--seed takes up to ${maxStarts} whole numbers, e.g. 1, 1,2,3 or 1-3, not ${text}.`);
  });
  if (seeds.length > 0 && Object.hasOwn(texts, seedOption))
    throw new CommandError('Give the seed once: --seed, or --option seed=N.');
  const runs = chosenRuns(models, seeds, texts);
  if (runs.length > maxStarts)
    throw new CommandError(`This would start ${runs.length} runs: at most ${maxStarts} can be started at once.`);
  if (runs.length > 1 && name !== undefined)
    throw new CommandError('--name is for one run: several are named after their models and seeds.');
  const problem = name === undefined ? undefined : nameProblem(name, start);
  if (problem !== undefined) throw new CommandError(`--name is not valid. ${problem}. Nothing was started.`);
  return runs;
}

/** The flags that start only this one of several runs. */
const singleRunFlags = ({ model, seed }: ChosenRun): string =>
  [model === undefined ? '' : `--model ${model}`, seed === undefined ? '' : `--seed ${seed}`].filter(Boolean).join(' ');

/** The idempotency key for one of several runs, made from the user's key. */
const partKey = (key: string, { model, seed }: ChosenRun): string =>
  [key, model === undefined ? '' : encodeURIComponent(model), seed ?? ''].filter(part => part !== '').join('-');

/** The shared part of `evaluate` and `train`. @throws CommandError if neither a model nor a checkpoint is given */
async function startRun(command: RunCommand, run: RunStart, io: CommandIo): Promise<number> {
  const { args, flags } = command;
  const { checkpoint: from, name } = flags;
  const runs = runsOf(command, run);
  if ('until' in flags && flags.until !== undefined) parseUntil(flags.until);
  checkPrinted(flags, run);
  return withService(flags, io, async context => {
    const benchmark = await benchmarkOf(args[0], context);
    const checkpoint = from === undefined ? undefined : await findCheckpoint(from, context, 'write');
    noteChoice(from, checkpoint, io);
    const { memory } = context;
    const chosen = runs.map(each => {
      const { idempotencyKey } = flags;
      const key = idempotencyKey && (runs.length > 1 ? partKey(idempotencyKey, each) : idempotencyKey);
      return { benchmark, model: each.model, checkpoint, name, texts: each.texts, key, offered: undefined };
    });
    const other = chosen.map(each => otherModel(from ?? '', each)).find(words => words !== undefined);
    if (other !== undefined) throw new CommandError(`${other}. Nothing was started.`);
    const choices = await withOffered(chosen, run, flags, context);
    const planned = planStarts(run, choices, { names: memory.seen.labels(run.kind), remembered: memory });
    if (flags.dryRun) io.note(`Estimate: ${await describeCost(run, benchmark, planned, context)}.`);
    const starts = planned.map(({ input }, index): EachStart<RunInput> => {
      const { model, key } = choices[index] ?? {};
      const { display_name = '' } = input;
      if (key !== undefined && display_name !== '' && !flags.dryRun)
        memory.startKeys.keepName(run.kind, input, key, display_name);
      const alone = runs[index] && runs.length > 1 ? singleRunFlags(runs[index]) : undefined;
      return { input, name: display_name, flags: { ...flags, model, idempotencyKey: key }, alone };
    });
    const [first, ...more] = starts;
    const creation = { ...run, benchmark };
    if (!first || more.length > 0) return beginEach(creation, starts, { ...flags, model: undefined }, context);
    return begin(creation, first.input, first.flags, context);
  });
}

/** The size and cost of the runs, as far as they are known. */
async function describeCost(run: RunStart, benchmark: Benchmark, each: readonly CostedRun[], context: CommandContext) {
  const model = each[0]?.model ?? '';
  const used = run.costQuery(benchmark.bench_id, model).read(context);
  const known = await used.catch(() => undefined);
  const { priceUnit } = context.config.preferences;
  const models = priceUnit && (await modelList.readPage({ ...context, query: {} }).catch(() => undefined));
  return run.cost(each, { ...known, prices: models && pricesOf(models.items, model) }, priceUnit);
}

export const evaluate = (input: CommandInput<'evaluate'>, io: CommandIo): Promise<number> =>
  startRun(input, benchmarkActions.evaluate.sends, io);

export const train = (input: CommandInput<'train'>, io: CommandIo): Promise<number> =>
  startRun(input, benchmarkActions.train.sends, io);

/** Adds the record to a checkpoint given only by id, if the service lists it. @throws CommandError */
async function withRecord({ id }: FoundCheckpoint, context: CommandContext): Promise<FoundCheckpoint> {
  const search = await searchCheckpoint(id, context).catch((error: unknown): CheckpointSearch => {
    // If it cannot be looked up, the service decides.
    if (!(error instanceof ServiceError) || context.signal.aborted) throw error;
    return { isComplete: false };
  });
  if (!search.found && search.isComplete) {
    throw new CommandError(clean`There is no checkpoint ${id}. Nothing was changed.${runHint(id)}`, exitCodes.notFound);
  }
  return search.found ?? { id };
}

/**
 * The checkpoint to deploy: without a step, the newest one that the service would deploy.
 * Notes the reason if that is not the newest checkpoint.
 *
 * @throws CommandError if there is none, or none that can be deployed
 */
export async function deployableCheckpoint(word: string, context: CommandContext): Promise<FoundCheckpoint> {
  const named = await findCheckpoint(word, context, 'write');
  const found = named.row ? named : await withRecord(named, context);
  const { id, row, run, step } = found;
  if (row?.is_deployable !== false) return found;
  if (!run || !named.isLatest) {
    const checkpoint = step == null ? id : `the checkpoint of step ${step} (${id})`;
    const words = clean`The service reports that ${checkpoint} cannot be deployed. Nothing was changed.`;
    throw new CommandError(words, exitCodes.failed);
  }
  const { service, io, signal } = context;
  const last = await lastDeployable(service, run.training_run_id, io.note, { signal }).catch((error: unknown) => {
    if (!(error instanceof NoCheckpointError)) throw error;
    throw new CommandError(`${error.message} Nothing was changed.`, exitCodes.failed);
  });
  return { id: last.checkpoint_id, row: last, run, step: last.step_index };
}

/** `Step 6 of words (ckpt_1), held-out 0.412 from 16 samples on sums, goes into production as my-model.` */
function describeProduction({ id, step, run }: FoundCheckpoint, slug: string, from_run: Origin | undefined) {
  const measured = from_run?.held_out ? `, ${describeMeasured(from_run.held_out)}${onBenchmark(from_run)},` : '';
  const of = run?.display_name ?? run?.training_run_id;
  const what = step == null ? id : `Step ${step}${of === undefined ? '' : ` of ${of}`} (${id})`;
  return clean`${what}${measured} goes into production as ${slug}.`;
}

export async function deploy({ args: [word = ''], flags }: CommandInput<'deploy'>, io: CommandIo): Promise<number> {
  const start = trainingActions.deploy.sends;
  checkPrinted(flags, start);
  return withService(flags, io, async context => {
    const checkpoint = await deployableCheckpoint(word, context);
    noteChoice(word, checkpoint, io);
    const { run } = checkpoint;
    const model_slug = flags.slug ?? slugOf(run?.display_name ?? run?.training_run_id ?? '');
    if (model_slug === '') throw new CommandError('Specify a slug: --slug SLUG.');
    if (!modelSlug.pattern.test(model_slug) || model_slug.length > modelSlug.maximum) {
      throw new CommandError(
        `--slug takes up to ${modelSlug.maximum} letters, digits, - and _, not ${model_slug}. Nothing was sent.`,
      );
    }
    const input = { checkpoint_id: checkpoint.id, model_slug, role: flags.role ?? deploymentRoles[0] };
    if (input.role === 'production' && !flags.dryRun) {
      context.service.requireWrites();
      if (!flags.yes) {
        const { id, step } = checkpoint;
        const search = new OriginSearch();
        const { from_run } = await withOrigin({ checkpoint_id: id, checkpoint_step: step }, context, search);
        const words = describeProduction(checkpoint, model_slug, from_run);
        const ask = (replaced: string): Promise<void> => confirm(`${words} ${replaced}`, flags, io, model_slug);
        await confirmEntry({ slug: model_slug, from_run }, ask, context, search);
      }
    }
    return begin(start, input, flags, context);
  });
}

export async function build({ args: [word], flags }: CommandInput<'build'>, io: CommandIo): Promise<number> {
  const { change } = benchmarkActions.build;
  checkPrinted(flags, change);
  return withService(flags, io, async context => {
    const benchmark = await benchmarkOf(word, context);
    return begin({ ...change, benchmark }, benchmark, flags, context);
  });
}
