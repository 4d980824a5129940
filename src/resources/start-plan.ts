/** Plans the start of one or several runs: the name, options and request of each. Pure. */
import type { Benchmark } from '../contract/benchmarks.ts';
import { displayNameLength } from '../contract/display-name.ts';
import type { TrainingRun } from '../contract/training.ts';
import { optionValues } from '../present/described-options.ts';
import type { CostedRun } from '../present/start-cost.ts';
import { differingOptions, seedOption } from '../present/start-name.ts';
import { startTime } from '../queries/remembered-fallback.ts';
import type { RunInput } from '../queries/run-options.ts';
import { groupOf } from '../store/start-keys.ts';
import type { RememberedStore } from '../store/store.ts';
import { clean, sanitiseLine } from '../text/sanitise.ts';
import { truncate } from '../text/width.ts';
import type { RunStart } from './action.ts';

/** Maximum number of runs to start at once. */
export const maxStarts = 100;

/** Parses seeds, e.g. `1`, `1,2,3` or `1-3`, dropping duplicates. Undefined for any other text, or for too many. */
export function seedsIn(text: string): readonly number[] | undefined {
  const seeds = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,15})\s*(?:-\s*(\d{1,15})\s*)?$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    // This comparison also fails for NaN.
    if (!(to >= from && to - from < maxStarts)) return undefined;
    for (let seed = from; seed <= to; seed += 1) seeds.add(seed);
  }
  return seeds.size > maxStarts ? undefined : [...seeds];
}

/** One of the runs to start: its model and seed, and its options as typed, which include the seed. */
export interface ChosenRun {
  readonly model: string | undefined;
  readonly seed: number | undefined;
  readonly texts: Readonly<Record<string, string>>;
}

/** One run for each model and seed, grouped by model; at least one run. */
export function chosenRuns(
  models: readonly string[],
  seeds: readonly number[],
  texts: ChosenRun['texts'] = {},
): readonly ChosenRun[] {
  const each = <Value>(values: readonly Value[]): readonly (Value | undefined)[] =>
    values.length === 0 ? [undefined] : [...new Set(values)];
  return each(models).flatMap(model =>
    each(seeds).map(seed => ({
      model,
      seed,
      texts: seed === undefined ? texts : { ...texts, [seedOption]: String(seed) },
    })),
  );
}

/** The known inputs of a new run. */
export interface StartedFrom {
  readonly benchmark: Pick<Benchmark, 'bench_id' | 'label'>;
  readonly model?: string | undefined;
  /** The checkpoint's step, if it has one, and its training run. */
  readonly checkpoint?: { readonly step?: number | null | undefined } | undefined;
  readonly run?: Pick<TrainingRun, 'display_name'> | undefined;
  /** The chosen options, and the options the service describes. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly offered?: unknown;
}

/** Maximum width of one part of a name, in cells: services limit the length of the whole name. */
const longestPart = 64;

const shorten = (text: string): string => truncate(text, longestPart, { position: 'middle' });

/**
 * The default name for a new run, on screen and for commands: `t-words tutor-base lr 0.03`, `t-words first step 20`. It
 * consists of the benchmark, the model or checkpoint, and the options that differ from their defaults.
 */
export function nameOfStart({ checkpointIsModel }: RunStart, from: StartedFrom): string {
  const { benchmark, model, checkpoint, run, options = {}, offered } = from;
  const label = shorten(benchmark.label ?? benchmark.bench_id);
  const origin = shorten(run?.display_name ?? '');
  const step = checkpoint?.step == null ? 'checkpoint' : `step ${checkpoint.step}`;
  const words = checkpoint
    ? [origin, checkpointIsModel ? `${step}, continued` : step]
    : [shorten(model?.split('/').at(-1) ?? '')];
  // The training run's name usually begins with its benchmark.
  const isIncluded = checkpoint && ` ${origin} `.includes(` ${label} `);
  return [isIncluded ? '' : label, ...words, differingOptions(options, offered, model)].filter(Boolean).join(' ');
}

/** Why a run cannot have this name; undefined if it can. */
export function nameProblem(name: string, { mayBeUnnamed }: RunStart): string | undefined {
  const trimmed = name.trim();
  const { length } = trimmed;
  if (length < displayNameLength.minimum && !mayBeUnnamed) return 'Give the run a name';
  if (length === 0 && name !== '') return 'A name needs more than spaces';
  if (/[\n\v\f\r\x85\u2028\u2029]/.test(trimmed)) return 'A name has only one line';
  if (length > displayNameLength.maximum) return `${length} characters; at most ${displayNameLength.maximum}`;
  return undefined;
}

/** The user's choices for one run, which determine everything else. */
export interface StartChoice extends Pick<StartedFrom, 'offered'> {
  readonly benchmark: Benchmark;
  /** Missing to use the checkpoint's model. */
  readonly model?: string | undefined;
  readonly checkpoint?: ChosenCheckpoint | undefined;
  /** Missing for an unused default name, empty for no name. */
  readonly name?: string | undefined;
  readonly texts: ChosenRun['texts'];
  /** The user's own idempotency key. */
  readonly key?: string | undefined;
}

interface ChosenCheckpoint {
  readonly id: string;
  readonly step?: number | null | undefined;
  readonly run?: TrainingRun | undefined;
}

/** The base model: the chosen one, or the checkpoint's. */
export const modelOf = ({ model, checkpoint }: Pick<StartChoice, 'model' | 'checkpoint'>): string | undefined =>
  model ?? checkpoint?.run?.base_model_slug ?? undefined;

/** A checkpoint runs only on the model that it was trained from. @param called the checkpoint's name in the message */
export function otherModel(called: string, { model, checkpoint }: StartChoice): string | undefined {
  const own = checkpoint?.run?.base_model_slug;
  if (own == null || model === undefined || own === model) return undefined;
  return clean`${called} is a checkpoint of ${own}, not of ${model}`;
}

interface PlannedStart extends CostedRun {
  readonly input: RunInput;
}

interface StartMemory {
  /** The names of all runs of this kind. */
  readonly names: ReadonlySet<string>;
  readonly remembered: RememberedStore;
}

/**
 * The request for each run. A run without a chosen name keeps the name under which it has started, or the name in an
 * earlier request that may have succeeded: with a different name, the repeat would be a new request. The others get
 * unused names: `base`, else `base 2`, and so on.
 */
export function planStarts(
  start: RunStart,
  choices: readonly StartChoice[],
  { names, remembered }: StartMemory,
): readonly PlannedStart[] {
  const { kind } = start;
  const { keyed = kind } = start.send;
  const { startKeys } = remembered;
  const unnamed = choices.map(choice => {
    const { benchmark, checkpoint, texts, offered } = choice;
    const { id, step, run } = checkpoint ?? {};
    const model = modelOf(choice);
    const options = optionValues(texts, offered, model);
    const input: RunInput = {
      bench_id: benchmark.bench_id,
      model,
      display_name: undefined,
      checkpoint: id,
      ...(run && { trained: { training_run_id: run.training_run_id, step } }),
      ...(Object.keys(options).length > 0 && { options }),
    };
    const base = () => sanitiseLine(nameOfStart(start, { benchmark, model, checkpoint, run, options, offered }));
    return { input, model, options, offered, chosen: choice.key, name: choice.name?.trim(), base };
  });
  const group = groupOf(unnamed);
  const planned = new Set<string>();
  const kept = unnamed.map(each => {
    const { input, chosen } = each;
    // Repeating a single start starts another run, but repeating several skips those that have started.
    const id = choices.length > 1 ? startKeys.startOf(keyed, each, group) : undefined;
    const name =
      each.name ??
      (id === undefined ? undefined : remembered.seen.find(kind, id)?.label) ??
      (chosen === undefined ? undefined : startKeys.nameOf(kind, input, chosen)) ??
      startKeys.openNames(keyed, input, chosen).find(open => !planned.has(open));
    if (name !== undefined) planned.add(name);
    return name;
  });
  const open = new Set(unnamed.flatMap(({ input }) => startKeys.openNames(keyed, input)));
  const unused = (base: string): string => {
    let name = base;
    for (let number = 2; [planned, names, open].some(taken => taken.has(name)); number += 1) name = `${base} ${number}`;
    planned.add(name);
    return name;
  };
  return unnamed.map(({ input, base, model, options, offered }, index) => {
    const name = kept[index] ?? unused(base());
    return { input: { ...input, display_name: name || undefined }, model, options, offered };
  });
}

/** The model of the run of this kind that was last started on a benchmark. */
export function lastModel(kind: string, benchId: string, memory: RememberedStore): string | undefined {
  const newest = memory.seen.list(kind, benchId).sort((one, other) => startTime(other) - startTime(one));
  const slugs = newest.map(({ record }) => record['base_model_slug']);
  return slugs.find(slug => typeof slug === 'string');
}
