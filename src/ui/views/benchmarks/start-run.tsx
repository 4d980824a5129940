/** The form that starts an evaluation or a training run on a benchmark, as its action declares. */
import { hashKey } from '@tanstack/react-query';
import { useState } from 'react';
import { own } from '../../../base/own-property.ts';
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { displayNameLength } from '../../../contract/evaluations.ts';
import type { SupportedModel } from '../../../contract/models.ts';
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import { seedOption } from '../../../present/start-name.ts';
import { modelList, pricesOf } from '../../../queries/models.ts';
import { type RunInput, runOptionsQuery } from '../../../queries/run-options.ts';
import { trainingRunsOf } from '../../../queries/training.ts';
import { nameOfStart, type RunStart } from '../../../resources/action.ts';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import { resourceOfKind } from '../../../resources/catalogue.ts';
import { asTitle, startedAdvice } from '../../../resources/define.ts';
import { chosenRuns, mostStarted, seedsIn } from '../../../resources/several-runs.ts';
import { counted } from '../../../text/numbers.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { useList } from '../../data/use-list.ts';
import { useLive, useLives } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type FieldSpec, type FormValues, marksOf } from '../../widgets/form/form-state.ts';
import { type ActionWindowProps, LoadingWindow } from '../../windows/choice-window.tsx';
import { FormWindow } from '../../windows/form-window.tsx';
import { namesOf } from '../../windows/names.ts';
import {
  betterChoice,
  checkpointField,
  checkpointWords,
  chosenOf,
  type OfferedCheckpoint,
  runName,
} from '../training/checkpoint-field.ts';
import { type FindCheckpoint, useCheckpoint } from '../training/use-checkpoint.ts';
import { type CheckpointOrigin, useCheckpointChoice } from '../training/use-checkpoint-choice.ts';
import { modelsOf, type OptionSpec, optionSpecs, optionsOf } from './option-fields.ts';
import { useOpenStarted, useStarts } from './use-starts.ts';

interface StartRunProps extends ActionWindowProps<Benchmark> {
  readonly start: RunStart;
  /** The checkpoint's base model, if the run needs it. */
  readonly model?: string | undefined;
  /** The training run that the checkpoint is from. */
  readonly run?: TrainingRun | undefined;
  /** Several checkpoints to start from. Each gets its own run, on its own benchmark. */
  readonly several?: readonly SeveralOrigin[] | undefined;
}

/** A training run with its benchmark, and the checkpoint to start from unless the form asks for it. */
export interface SeveralOrigin extends CheckpointOrigin {
  readonly benchmark: Benchmark;
}

export interface StartRunWindowProps extends StartRunProps {
  /** Finds the checkpoint to start from; if missing, the run starts from a model. */
  readonly checkpoint?: FindCheckpoint;
}

export const EvaluateWindow = (props: ActionWindowProps<Benchmark>) => (
  <StartRunWindow {...props} start={benchmarkActions.evaluate.sends} />
);

export const TrainWindow = (props: ActionWindowProps<Benchmark>) => (
  <StartRunWindow {...props} start={benchmarkActions.train.sends} />
);

export function StartRunWindow({ checkpoint, ...props }: StartRunWindowProps) {
  const { start, model, onClose } = props;
  const offer = useRunOffer(start, benchmarksOf(props), model);
  const { found, error } = useCheckpoint(checkpoint);
  if (offer && found) return <StartRunForm {...props} {...offer} {...found} />;
  return <LoadingWindow title={titleOf(props)} error={error} onClose={onClose} />;
}

/** The form's distinct benchmarks; at least one. */
const benchmarksOf = ({ row, several = [] }: StartRunProps): readonly Benchmark[] => [
  ...new Map([row, ...several.map(({ benchmark }) => benchmark)].map(each => [each.bench_id, each])).values(),
];

const isOnOne = (props: StartRunProps): boolean => benchmarksOf(props).length === 1;

function titleOf(props: StartRunProps): string {
  const { start, row, several = [] } = props;
  const on = isOnOne(props) ? `on ${row.label ?? row.bench_id}` : counted(several.length, 'checkpoint');
  return `${asTitle(start.command)} ${on}`;
}

/** The models and options that the form offers. */
interface RunOffer {
  readonly models: readonly { readonly slug: string; readonly name?: string | undefined }[];
  /** The models that the service lists, with their prices. */
  readonly listed: readonly SupportedModel[];
  /** The options as the service describes them. */
  readonly offered: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The form's models and options; undefined until they have been read. If a model is already chosen, does not wait for
 * the list of models. If the benchmarks have different options, the form has no fields for them.
 */
function useRunOffer(
  { options }: RunStart,
  benchmarks: readonly Benchmark[],
  model: string | undefined,
): RunOffer | undefined {
  const models = useList(modelList, 'visible');
  const queries = benchmarks.map(({ bench_id }) => runOptionsQuery(options, { benchId: bench_id, model }));
  const answers = useLives(queries, 'visible');
  const isWaiting = !models.loaded && !models.error && !model;
  if (isWaiting || answers.some(({ data, error }) => !data && !error)) return undefined;
  const described = new Set(answers.map(({ data }) => hashKey([{ ...data, bench_id: undefined }])));
  const offered = described.size === 1 ? answers[0]?.data : undefined;
  const listed = models.rows.map(({ model_slug, model_name }) => ({ slug: model_slug, name: model_name ?? undefined }));
  return {
    models: listed.length > 0 ? listed : modelsOf(offered).map(slug => ({ slug })),
    listed: models.rows,
    offered,
  };
}

const filled = (values: FormValues, name: string): string | undefined => own(values, name)?.trim() || undefined;

interface StartRunFormProps extends StartRunProps, RunOffer {
  readonly checkpoint: Checkpoint | undefined;
}

/** Interprets the form's values. */
function useChosen({ row: benchmark, start, model, offered, run, checkpoint, several }: StartRunFormProps) {
  const modelOf = (values: FormValues): string | undefined => model ?? filled(values, 'model');
  // Created once: a later response must not replace the user's input.
  const [specs] = useState(() => optionSpecs(offered, modelOf, start.usualOptions));
  const [seen, setSeen] = useState<{ readonly values: FormValues; readonly isSeen: boolean }>(unseen);
  const choice = useCheckpointChoice({
    from: several ?? (run ? [{ run, checkpoint }] : []),
    source: trainingRunsOf(benchmark.bench_id),
    benchId: benchmark.bench_id,
    value: filled(seen.values, 'checkpoint') ?? '',
    isSeen: seen.isSeen,
    model: modelOf(seen.values) ?? run?.base_model_slug ?? undefined,
  });
  const chosenIn = (values: FormValues): OfferedCheckpoint | undefined =>
    chosenOf(choice.offered, filled(values, 'checkpoint'));
  const originsIn = (values: FormValues, of = several): readonly OfferedCheckpoint[] =>
    of?.flatMap(origin => {
      const id = origin.checkpoint?.checkpoint_id;
      const isMeant = ({ run: of, row, called }: OfferedCheckpoint): boolean =>
        id === undefined
          ? of.training_run_id === origin.run.training_run_id && called.includes(own(values, whichField) ?? '')
          : row.checkpoint_id === id;
      return choice.offered.find(isMeant) ?? [];
    }) ?? [];
  return {
    ...{ specs, choice, modelOf, chosenIn, originsIn, seen: seen.values },
    /** The values for each run that the form starts: one run, or one per checkpoint or marked model, and per seed. */
    eachOf: (values: FormValues): readonly [FormValues, ...FormValues[]] => {
      const ids = new Map(originsIn(values).map(({ run: of, row }) => [row.checkpoint_id, of.base_model_slug ?? '']));
      const from = Array.from(ids, ([id, base]) => ({ ...values, checkpoint: id, model: base }));
      const [first = values, ...more] = (several ? from : [values]).flatMap(each => eachOf(start, each));
      return [first, ...more];
    },
    benchmarkOf: (values: FormValues): Benchmark => {
      const id = several && chosenIn(values)?.run.training_run_id;
      return several?.find(origin => origin.run.training_run_id === id)?.benchmark ?? benchmark;
    },
    optionsIn: (values: FormValues) => optionsOf(specs, values),
    /** The base model: the chosen one, or the checkpoint's. */
    baseOf: (values: FormValues): string | undefined =>
      modelOf(values) ?? chosenIn(values)?.run.base_model_slug ?? undefined,
    onChange: (values: FormValues, focused: string | undefined): void =>
      setSeen(last => ({ values, isSeen: last.isSeen || focused === 'checkpoint' })),
  };
}

type Chosen = ReturnType<typeof useChosen>;

/** The run's default name, distinct from the names of earlier runs. */
function useUsualName({ start, offered }: StartRunFormProps, chosen: Chosen) {
  const { remembered } = useWorkbench();
  // A run that has just started must not change the number in this form's default name.
  const [names] = useState(() => new Map<string, string>());
  return (values: FormValues, others?: ReadonlySet<string>): string => {
    const found = chosen.chosenIn(values);
    const at = filled(values, 'checkpoint') === undefined ? undefined : { step: found?.row.step_index };
    const options = chosen.optionsIn(values);
    const benchmark = chosen.benchmarkOf(values);
    const from = { benchmark, model: chosen.baseOf(values), checkpoint: at, run: found?.run, options, offered };
    const base = sanitiseLine(nameOfStart(start, from));
    const isOpen = (display_name: string): boolean =>
      remembered.startKeys.earlier(start.send.keyed ?? '', inputOf(chosen, { ...values, display_name })) !== undefined;
    const of = JSON.stringify([base, chosen.modelOf(values)]);
    const kept = names.get(of) ?? '';
    const isUsable = kept !== '' && !others?.has(kept);
    const name = isUsable ? kept : remembered.freeName(start.kind, base, isOpen, others);
    names.set(of, name);
    return name;
  };
}

/** The field for the checkpoint, unless the run starts from just a model. */
function checkpointFields(props: StartRunFormProps, chosen: Chosen): FieldSpec[] {
  const { start, run, checkpoint, several } = props;
  const { choice, modelOf, eachOf } = chosen;
  const { checkpointIsModel = false } = start;
  if (several) return several.every(each => each.checkpoint) ? [] : [whichOfEach(several, chosen)];
  const isFresh = checkpoint === undefined;
  if (checkpointIsModel && isFresh) return [];
  return [
    checkpointField(choice, {
      name: 'checkpoint',
      label: `${checkpointIsModel ? 'From checkpoint' : 'Checkpoint'}${run ? clean` of ${runName(run)}` : ''}`,
      initial: checkpoint?.checkpoint_id ?? '',
      ...(isFresh && { none: 'the base model' }),
      refuses: (chosen, values) =>
        eachOf(values)
          .map(of => otherModel(chosen, modelOf(of)))
          .find(error => error !== undefined),
    }),
  ];
}

const whichField = 'which';

/** Which checkpoint of each training run to start from. */
function whichOfEach(several: readonly SeveralOrigin[], { choice, originsIn }: Chosen): FieldSpec {
  const origins = several.filter(({ checkpoint }) => !checkpoint);
  const named = Map.groupBy(choice.runs, runName);
  const nameOf = (run: TrainingRun): string => {
    const name = runName(run);
    return named.get(name)?.length === 1 ? name : run.training_run_id;
  };
  return {
    ...{ kind: 'choice', name: whichField, label: 'Checkpoint of each run', initial: 'best' },
    options: [
      { value: 'best', label: 'best', note: 'by its held-out reward' },
      { value: 'latest', label: 'latest' },
    ],
    check: which => {
      const missing = origins.find(origin => originsIn({ [whichField]: which }, [origin]).length === 0);
      return missing && choice.problem(`${nameOf(missing.run)}@${which}`);
    },
  };
}

function inputOf({ modelOf, chosenIn, optionsIn, benchmarkOf }: Chosen, values: FormValues): RunInput {
  const options = optionsIn(values);
  const found = chosenIn(values);
  return {
    bench_id: benchmarkOf(values).bench_id,
    model: modelOf(values),
    checkpoint: filled(values, 'checkpoint'),
    ...(found && { trained: { training_run_id: found.run.training_run_id, step: found.row.step_index } }),
    display_name: filled(values, 'display_name'),
    ...(Object.keys(options).length > 0 && { options }),
  };
}

/** The values for one run, or for one per marked model and seed. */
function eachOf({ isEach }: RunStart, values: FormValues): readonly FormValues[] {
  if (!isEach) return [values];
  const models = filled(values, marksOf('model'))?.split('\n') ?? [];
  return chosenRuns(models, seedsIn(filled(values, seedField) ?? '') ?? []).map(({ model, seed }) => ({
    ...values,
    ...(model !== undefined && { model }),
    ...(seed !== undefined && { [seedField]: String(seed) }),
  }));
}

const seedField = `options.${seedOption}`;

/** The field for an option. Its value must be valid for every run that the form starts. */
function optionField({ field }: OptionSpec, start: RunStart, runsOf: Chosen['eachOf']): FieldSpec {
  if (!start.isEach) return field;
  const { check, name, help = '' } = field;
  const isSeed = name === seedField;
  return {
    ...field,
    ...(isSeed &&
      typeof help === 'string' && { help: `${help} Several seeds, e.g. 1,2,3 or 1-3, start one run each.`.trim() }),
    check: (text, values = {}) => {
      const each = runsOf({ ...values, [name]: text });
      if (isSeed && each.length > mostStarted) return `${each.length} runs; at most ${mostStarted} at once`;
      return each.map(of => check?.(own(of, name) ?? '', of)).find(error => error !== undefined);
    },
  };
}

/** Describes the work that will start, with its estimated cost. @param unsentOf the inputs that are still to be sent */
function useSummary(props: StartRunFormProps, chosen: Chosen, unsentOf: ReturnType<typeof useStarts>['left']) {
  const { row, start, several, listed, offered } = props;
  const { priceUnit } = useWorkbench();
  const baseIn = (values: FormValues) => chosen.baseOf(several ? chosen.eachOf(values)[0] : values);
  const seenBase = baseIn(chosen.seen);
  const isKnown = seenBase && isOnOne(props);
  const { data: known } = useLive(start.costFrom(row.bench_id, seenBase ?? ''), isKnown ? 'visible' : 'hidden');
  return (values: FormValues): string | undefined => {
    const origins = chosen.originsIn(values);
    if (several && origins.length < several.length)
      return whichOfEach(several, chosen).check?.(own(values, whichField) ?? '');
    const inputs = chosen.eachOf(values).map(of => inputOf(chosen, of));
    const unsent = unsentOf(inputs);
    if (unsent.length === 0) return `All ${inputs.length} have started: there is nothing to send.`;
    const base = baseIn(values);
    const runs = unsent.map(({ model = base, options = {} }) => ({ options, offered, model }));
    const use = base === seenBase ? known : undefined;
    const cost = start.cost(runs, { ...use, prices: pricesOf(listed, base) }, priceUnit);
    const started = inputs.length - unsent.length;
    const origin = several ? undefined : chosen.chosenIn(values);
    const better = origin ? betterChoice(origin, chosen.choice.offered) : '';
    const from = several ? `${namesOf(origins.map(checkpointWords))}: ` : better && `${better} `;
    return `${from}${started === 0 ? '' : `${started} of ${inputs.length} have started, and will not be sent again. `}${cost}`;
  };
}

function StartRunForm(props: StartRunFormProps) {
  const { row, start, model, models, checkpoint, several, onClose } = props;
  const chosen = useChosen(props);
  const [slugField] = useState(() => modelField(models, start.isEach));
  const starts = useStarts(start);
  const usualName = useUsualName(props, chosen);
  const isNamed = (values: FormValues): boolean => !several && chosen.eachOf(values).length === 1;
  const inputsOf = (values: FormValues): readonly RunInput[] => {
    const names = new Set<string>();
    return chosen.eachOf(values).map(of => {
      const display_name = (isNamed(values) ? filled(of, 'display_name') : usualName(of, names)) ?? '';
      names.add(display_name);
      return inputOf(chosen, { ...of, display_name });
    });
  };
  const started = resourceOfKind(start.kind);
  const needsModel = several ? false : start.checkpointIsModel ? checkpoint === undefined : !model;
  const fields: readonly FieldSpec[] = [
    ...(needsModel ? [slugField] : []),
    {
      kind: 'text',
      name: 'display_name',
      label: 'Run name',
      initial: values => usualName(values),
      when: isNamed,
      check: value => nameError(value.trim().length, start),
    },
    ...checkpointFields(props, chosen),
    ...chosen.specs.map(spec => optionField(spec, start, chosen.eachOf)),
  ];
  return (
    <FormWindow
      title={titleOf(props)}
      fields={fields}
      action={starts.action}
      sentBefore={starts.sentBefore}
      describe={(service, inputs) => starts.left(inputs).map(input => start.send(service, input))}
      inputOf={inputsOf}
      summary={useSummary(props, chosen, starts.left)}
      lostAdvice={started && startedAdvice(started, `:${started.names[0]}`)}
      onChange={chosen.onChange}
      onClose={onClose}
      onDone={useOpenStarted(start, row, isOnOne(props))}
    />
  );
}

const unseen = { values: {}, isSeen: false } as const;

/** A checkpoint runs only on the model that it was trained from. */
function otherModel({ run }: OfferedCheckpoint, model: string | undefined): string | undefined {
  const own = run.base_model_slug;
  if (own == null || model === undefined || own === model) return undefined;
  return clean`It is a checkpoint of ${own}, not of ${model}: choose its model`;
}

function modelField(models: RunOffer['models'], many = false): FieldSpec {
  const shared = { name: 'model', label: 'Model' };
  if (models.length > 0) {
    const options = models.map(({ slug, name }) => ({ value: slug, label: slug, ...(name ? { note: name } : {}) }));
    return { ...shared, kind: 'choice', options, ...(many && { many, help: 'space marks several' }) };
  }
  return {
    ...shared,
    kind: 'text',
    placeholder: 'vendor/model',
    help: 'The list of models could not be read; type the slug.',
    check: value => (value.trim() === '' ? 'Name a model' : undefined),
  };
}

function nameError(length: number, { mayBeUnnamed }: RunStart): string | undefined {
  if (length < displayNameLength.minimum && !mayBeUnnamed) return 'Give the run a name';
  if (length > displayNameLength.maximum) return `${length} characters; at most ${displayNameLength.maximum}`;
  return undefined;
}
