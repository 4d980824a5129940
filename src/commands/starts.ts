/** `benchtop evaluate`, `train`, `deploy` and `build`: what runs for a while after it was started. */
import type { Benchmark } from '../contract/benchmarks.ts';
import { endpoints, type Operation } from '../contract/endpoints.ts';
import type { Action } from '../queries/action.ts';
import { buildImages } from '../queries/benchmarks.ts';
import { startDeployment } from '../queries/deployments.ts';
import { startEvaluation } from '../queries/evaluations.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import { checkpointsByStep, startTraining } from '../queries/training.ts';
import { resourceOfKind } from '../resources/catalogue.ts';
import { slugOf } from '../resources/deployments.ts';
import { type ActFlags, checkDone, finish, printRequests, start } from './act.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { type FoundCheckpoint, findAmong, findCheckpoint, isLatest, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import type { Given } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

/** The answer is that of the start; with --wait also the record once it has ended. @throws CommandError */
function checkPrinted(flags: ActFlags, started: Operation, ended: Operation, io: CommandIo): Promise<void> {
  const operations = flags.wait ? [started, ended] : [started];
  return checkDone(
    flags,
    operations.map(name => endpoints[name].response),
    io,
  );
}

/** Sends, waits and prints; or only shows the request. */
async function begin<Input, Result extends object>(
  send: Action<Input, Result>,
  input: Input,
  refOf: (result: Result) => ResourceRef,
  flags: ActFlags,
  context: CommandContext,
  io: CommandIo,
): Promise<ExitCode> {
  if (flags.dryRun) return printRequests(send, [input], context, flags, io);
  const result = await start(send, input, context);
  const ref = refOf(result);
  const again = async (): Promise<object> => (await resourceOfKind(ref.kind)?.get?.(ref.id).read(context)) ?? {};
  return finish(ref, result, again, flags, context, io);
}

async function benchmarkOf(word: string | undefined, context: CommandContext): Promise<{ id: string; label: string }> {
  const { id, row } = await findAmong([resourceOrThrow('benchmarks')], word ?? '', context);
  return { id, label: (row as Benchmark).label ?? id };
}

/** The last part of a slug: `tutor-base` of `benchtop/tutor-base`. */
const shortModel = (slug: string): string => slug.split('/').at(-1) ?? slug;

/** `num_steps=20` as a field: numbers, lists and the like are read as JSON. @throws CommandError */
function optionOf(pair: string): [string, unknown] {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandError(`--option takes NAME=VALUE, not ${pair}.`);
  const text = pair.slice(at + 1);
  try {
    return [pair.slice(0, at), JSON.parse(text)];
  } catch {
    return [pair.slice(0, at), text];
  }
}

/** The options of a run; left out where none is given. @throws CommandError */
function optionsOf(pairs: readonly string[] = []): { readonly options?: Readonly<Record<string, unknown>> } {
  return pairs.length > 0 ? { options: Object.fromEntries(pairs.map(optionOf)) } : {};
}

export async function evaluate({ args: [word], flags }: Given<'evaluate'>, io: CommandIo): Promise<number> {
  if (flags.model === undefined && flags.checkpoint === undefined) {
    throw new CommandError('Specify what to evaluate: --model MODEL, --checkpoint CHECKPOINT, or both.');
  }
  const given = optionsOf(flags.option);
  await checkPrinted(flags, 'startEval', 'getEvalRun', io);
  return withService(flags, io, async context => {
    const benchmark = await benchmarkOf(word, context);
    const checkpoint = flags.checkpoint === undefined ? undefined : await findCheckpoint(flags.checkpoint, context);
    const model_slug = flags.model ?? checkpoint?.run?.base_model_slug ?? undefined;
    const at = checkpoint?.step == null ? '' : ` step ${checkpoint.step}`;
    const of = checkpoint ? `${checkpoint.run?.display_name ?? checkpoint.id}${at}` : shortModel(model_slug ?? '');
    const display_name = flags.name ?? `${benchmark.label} ${of}`;
    const input = { bench_id: benchmark.id, model_slug, display_name, checkpoint_id: checkpoint?.id, ...given };
    const ref = (id: string): ResourceRef => ({ kind: 'run', id, label: display_name });
    return begin(startEvaluation, input, ({ eval_run_id }) => ref(eval_run_id), flags, context, io);
  });
}

export async function train({ args: [word], flags }: Given<'train'>, io: CommandIo): Promise<number> {
  if (flags.model === undefined && flags.checkpoint === undefined) {
    throw new CommandError('Specify what to train: --model MODEL, --checkpoint CHECKPOINT, or both.');
  }
  const given = optionsOf(flags.option);
  await checkPrinted(flags, 'startTraining', 'getTrainingRun', io);
  return withService(flags, io, async context => {
    const benchmark = await benchmarkOf(word, context);
    const parent = flags.checkpoint === undefined ? undefined : await findCheckpoint(flags.checkpoint, context);
    const base_model_slug = flags.model ?? parent?.run?.base_model_slug ?? undefined;
    const display_name = flags.name ?? `${benchmark.label} ${shortModel(base_model_slug ?? 'training')}`;
    const input = {
      bench_id: benchmark.id,
      base_model_slug,
      parent_checkpoint_id: parent?.id,
      display_name,
      ...given,
    };
    const ref = (id: string): ResourceRef => ({ kind: 'training', id, label: display_name });
    return begin(startTraining, input, ({ training_run_id }) => ref(training_run_id), flags, context, io);
  });
}

/** The checkpoint to deploy: where the step is left open, the newest that the service would take. */
async function deployable(word: string, context: CommandContext, io: CommandIo): Promise<FoundCheckpoint> {
  const found = await findCheckpoint(word, context);
  const { id, row, run, step } = found;
  if (row?.is_deployable !== false) return found;
  const refused = `${step == null ? id : `Step ${step} (${id})`} cannot be deployed, as the service says`;
  if (!run || !isLatest(word) || word === id) {
    throw new CommandError(`${refused}. Nothing was sent.`, exitCodes.failed);
  }
  const { service, signal } = context;
  const steps = await checkpointsByStep(service, run.training_run_id, { signal });
  const last = steps.findLast(({ is_deployable }) => is_deployable !== false);
  if (!last) throw new CommandError(`${refused}, nor can an earlier one. Nothing was sent.`, exitCodes.failed);
  io.note(`${refused}: step ${last.step_index} is deployed instead.`);
  return { id: last.checkpoint_id, row: last, run, step: last.step_index };
}

export async function deploy({ args: [word = ''], flags }: Given<'deploy'>, io: CommandIo): Promise<number> {
  await checkPrinted(flags, 'startDeployment', 'getDeployment', io);
  return withService(flags, io, async context => {
    const checkpoint = await deployable(word, context, io);
    const model_slug = flags.slug ?? slugOf(checkpoint.run?.display_name ?? '');
    if (model_slug === '') throw new CommandError('Specify a slug: --slug SLUG.');
    const input = { checkpoint_id: checkpoint.id, model_slug, role: flags.role ?? 'production' } as const;
    const ref = (id: string): ResourceRef => ({ kind: 'deployment', id, label: model_slug });
    return begin(startDeployment, input, ({ deployment_id }) => ref(deployment_id), flags, context, io);
  });
}

export async function build({ args: [word], flags }: Given<'build'>, io: CommandIo): Promise<number> {
  await checkPrinted(flags, 'buildBenchmarkImages', 'getBenchmark', io);
  return withService(flags, io, async context => {
    const { id, label } = await benchmarkOf(word, context);
    return begin(buildImages, { bench_id: id }, () => ({ kind: 'benchmark', id, label }), flags, context, io);
  });
}
