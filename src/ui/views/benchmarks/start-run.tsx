/** The form that starts an evaluation or a training run on a benchmark, as its action declares. */
import { hashKey } from '@tanstack/react-query';
import { useState } from 'react';
import { own } from '../../../base/own-property.ts';
import type { Benchmark } from '../../../contract/benchmarks.ts';
import type { SupportedModel } from '../../../contract/models.ts';
import type { Checkpoint, TrainingRun } from '../../../contract/training.ts';
import { describedModels, describedOptions, optionProblem } from '../../../present/described-options.ts';
import { seedOption } from '../../../present/start-name.ts';
import { modelList, pricesOf } from '../../../queries/models.ts';
import { type RunInput, runOptionsQuery } from '../../../queries/run-options.ts';
import { trainingRunsOf } from '../../../queries/training.ts';
import type { RunStart } from '../../../resources/action.ts';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import { resourceOfKind } from '../../../resources/catalogue.ts';
import { asTitle, startedAdvice } from '../../../resources/define.ts';
import {
  chosenRuns,
  lastModel,
  maxStarts,
  modelOf,
  nameProblem,
  otherModel,
  planStarts,
  type StartChoice,
  seedsIn,
} from '../../../resources/start-plan.ts';
import { counted } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import { useList } from '../../data/use-list.ts';
import { useLive, useLives } from '../../data/use-live.ts';
import { useOnce } from '../../data/use-once.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { type FieldSpec, type FormValues, marksOf } from '../../widgets/form/form-state.ts';
import { type ActionWindowProps, LoadingWindow } from '../../windows/choice-window.tsx';
import { FormWindow } from '../../windows/form-window.tsx';
import { namesOf } from '../../windows/names.ts';
import {
  betterChoice,
  checkpointField,
  chosenOf,
  describeCheckpoint,
  type FindCheckpoint,
  type OfferedCheckpoint,
  runName,
} from '../training/checkpoint-field.ts';
import { type CheckpointOrigin, useCheckpointChoice } from '../training/use-checkpoint-choice.ts';
import { optionFields, optionTexts } from './option-fields.ts';
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
interface SeveralOrigin extends CheckpointOrigin {
  readonly benchmark: Benchmark;
}

interface StartRunWindowProps extends StartRunProps {
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
  const { data, error } = useOnce(async service => ({ checkpoint: await checkpoint?.(service) }));
  if (offer && data) return <StartRunForm {...props} {...offer} {...data} />;
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
  { options, defaultOptions = [] }: RunStart,
  benchmarks: readonly Benchmark[],
  model: string | undefined,
): RunOffer | undefined {
  const models = useList(modelList, 'visible');
  const queries = benchmarks.map(({ bench_id }) => runOptionsQuery(options, { benchId: bench_id, model }));
  const answers = useLives(queries, 'visible');
  const isWaiting = !models.loaded && !models.error && !model;
  if (isWaiting || answers.some(({ data, error }) => !data && !error)) return undefined;
  const described = new Set(answers.map(({ data }) => hashKey([{ ...data, bench_id: undefined }])));
  const answer = described.size === 1 ? answers[0]?.data : undefined;
  const usual = Object.fromEntries(defaultOptions.map(name => [name, { type: 'integer', min: 1 }]));
  const offered = describedOptions(answer).size > 0 ? answer : { options: usual };
  const listed = models.rows.map(({ model_slug, model_name }) => ({ slug: model_slug, name: model_name ?? undefined }));
  return {
    models: listed.length > 0 ? listed : describedModels(offered).map(slug => ({ slug })),
    listed: models.rows,
    offered,
  };
}

const filledValue = (values: FormValues, name: string): string | undefined => own(values, name)?.trim() || undefined;

interface StartRunFormProps extends StartRunProps, RunOffer {
  readonly checkpoint: Checkpoint | undefined;
}

/** Interprets the form's values. */
function useChosen({ row: benchmark, start, model, offered, run, checkpoint, several }: StartRunFormProps) {
  const { remembered } = useWorkbench();
  // A run that has just started must not change the number in this form's default name.
  const [names] = useState(() => remembered.seen.labels(start.kind));
  const [seen, setSeen] = useState<{ readonly values: FormValues; readonly isSeen: boolean }>(unseenForm);
  const choice = useCheckpointChoice({
    from: several ?? (run ? [{ run, checkpoint }] : []),
    source: trainingRunsOf(benchmark.bench_id),
    benchId: benchmark.bench_id,
    value: filledValue(seen.values, 'checkpoint') ?? '',
    isSeen: seen.isSeen,
    model: model ?? filledValue(seen.values, 'model') ?? run?.base_model_slug ?? undefined,
  });
  const originsIn = (values: FormValues, of = several): readonly OfferedCheckpoint[] =>
    of?.flatMap(origin => {
      const id = origin.checkpoint?.checkpoint_id;
      const isMeant = ({ run: of, row, called }: OfferedCheckpoint): boolean =>
        id === undefined
          ? of.training_run_id === origin.run.training_run_id && called.includes(own(values, whichField) ?? '')
          : row.checkpoint_id === id;
      return choice.offered.find(isMeant) ?? [];
    }) ?? [];
  const chosenIn = (values: FormValues): OfferedCheckpoint | undefined =>
    chosenOf(choice.offered, filledValue(values, 'checkpoint'));
  /** The inputs of the form's only run, or of one run for each checkpoint. */
  const fromIn = (values: FormValues): readonly Pick<StartChoice, 'benchmark' | 'model' | 'checkpoint'>[] => {
    if (several)
      return [...new Set(originsIn(values))].map(({ run, row: { checkpoint_id: id, step_index: step } }) => {
        const on = several.find(origin => origin.run.training_run_id === run.training_run_id)?.benchmark ?? benchmark;
        return { benchmark: on, checkpoint: { id, step, run } };
      });
    const [id, found] = [filledValue(values, 'checkpoint'), chosenIn(values)];
    const checkpoint = id === undefined ? undefined : { id, step: found?.row.step_index, run: found?.run };
    return [{ benchmark, model: model ?? filledValue(values, 'model'), checkpoint }];
  };
  /** The choices for each run: one run, or one per checkpoint or marked model, and per seed. */
  const choicesIn = (values: FormValues): readonly StartChoice[] => {
    const texts = optionTexts(offered, values);
    const marked = filledValue(values, marksOf('model'))?.split('\n') ?? [];
    const runs = start.startsSeveral
      ? chosenRuns(marked, seedsIn(own(texts, seedOption) ?? '') ?? [], texts)
      : [{ model: undefined, texts }];
    return fromIn(values).flatMap(from =>
      runs.map(({ model = from.model, texts }) => ({ ...from, model, texts, offered })),
    );
  };
  return {
    ...{ choice, originsIn, chosenIn, choicesIn, seen: seen.values },
    plan: (choices: readonly StartChoice[]) => planStarts(start, choices, { names, remembered }),
    onChange: (values: FormValues, focused: string | undefined): void =>
      setSeen(last => ({ values, isSeen: last.isSeen || focused === 'checkpoint' })),
  };
}

type Chosen = ReturnType<typeof useChosen>;

/** The field for the checkpoint, unless the run starts from just a model. */
function checkpointFields(props: StartRunFormProps, chosen: Chosen): FieldSpec[] {
  const { start, run, checkpoint, several } = props;
  const { choice, choicesIn } = chosen;
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
      refuses: (_, values) => {
        const other = choicesIn(values).map(each => otherModel('It', each));
        return other.find(words => words !== undefined)?.concat(': choose its model');
      },
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

/** The field for an option. Its value must be valid for every run that the form starts. */
function checkedField(field: FieldSpec, { startsSeveral }: RunStart, { choicesIn }: Chosen): FieldSpec {
  const { name, label, help } = field;
  const isSeed = startsSeveral && label === seedOption;
  const seedHelp = `${help} Several seeds, e.g. 1,2,3 or 1-3, start one run each.`.trim();
  return {
    ...field,
    ...(isSeed && { help: seedHelp }),
    check: (text, values = {}) => {
      const each = choicesIn({ ...values, [name]: text });
      if (isSeed && each.length > maxStarts) return `${each.length} runs; at most ${maxStarts} at once`;
      const problems = each.map(of => {
        const typed = own(of.texts, label);
        return typed === undefined ? undefined : optionProblem(of.offered, modelOf(of), label, typed);
      });
      return problems.find(problem => problem !== undefined);
    },
  };
}

/**
 * Describes the work that will start, with its estimated cost.
 *
 * @param options the fields for options: a refused value has no cost
 * @param unsentOf the inputs that are still to be sent
 */
function useSummary(
  props: StartRunFormProps,
  chosen: Chosen,
  options: readonly FieldSpec[],
  unsentOf: ReturnType<typeof useStarts>['left'],
) {
  const { row, start, several, listed } = props;
  const { priceUnit } = useWorkbench();
  const baseIn = (values: FormValues) => modelOf(chosen.choicesIn(values)[0] ?? {});
  const seenBase = baseIn(chosen.seen);
  const isKnown = seenBase && isOnOne(props);
  const { data: known } = useLive(start.costQuery(row.bench_id, seenBase ?? ''), isKnown ? 'visible' : 'hidden');
  return (values: FormValues): string | undefined => {
    const origins = chosen.originsIn(values);
    if (several && origins.length < several.length)
      return whichOfEach(several, chosen).check?.(own(values, whichField) ?? '');
    for (const { name, label, check } of options) {
      const problem = check?.(own(values, name) ?? '', values);
      if (problem !== undefined) return `${label}: ${problem}`;
    }
    const planned = chosen.plan(chosen.choicesIn(values));
    const unsent = unsentOf(planned.map(({ input }) => input));
    if (unsent.length === 0) return `All ${planned.length} have started: there is nothing to send.`;
    const base = baseIn(values);
    const runs = planned.filter(({ input }) => unsent.includes(input));
    const use = base === seenBase ? known : undefined;
    const cost = start.cost(runs, { ...use, prices: pricesOf(listed, base) }, priceUnit);
    const started = planned.length - unsent.length;
    const origin = several ? undefined : chosen.chosenIn(values);
    const better = origin ? betterChoice(origin, chosen.choice.offered) : '';
    const from = several ? `${namesOf(origins.map(describeCheckpoint))}: ` : better && `${better} `;
    return `${from}${started === 0 ? '' : `${started} of ${planned.length} have started, and will not be sent again. `}${cost}`;
  };
}

/**
 * The models that the form offers. The list only grows, because the first models may be an earlier session's. A model
 * that the service no longer lists stays: it may be chosen, and the service refuses it by its name.
 */
function useGrowingModels(models: RunOffer['models']): RunOffer['models'] {
  const [kept, setKept] = useState(models);
  const known = new Set(kept.map(({ slug }) => slug));
  const added = kept.length === 0 ? [] : models.filter(({ slug }) => !known.has(slug));
  if (added.length > 0) setKept([...kept, ...added]);
  return kept;
}

function StartRunForm(latest: StartRunFormProps) {
  const { row, start, model, checkpoint, several, onClose } = latest;
  const { remembered } = useWorkbench();
  const models = useGrowingModels(latest.models);
  // Created once: a later response must not replace the user's input.
  const [{ initial, options, offered }] = useState(() => ({
    initial: lastModel(start.kind, row.bench_id, remembered),
    options: optionFields(latest.offered),
    offered: latest.offered,
  }));
  const slugField = modelField(models, initial, start.startsSeveral);
  const props = { ...latest, offered };
  const chosen = useChosen(props);
  const starts = useStarts(start);
  const isNamed = (values: FormValues): boolean => !several && chosen.choicesIn(values).length === 1;
  const inputsOf = (values: FormValues): readonly RunInput[] => {
    const name = isNamed(values) ? (filledValue(values, 'display_name') ?? '') : undefined;
    return chosen.plan(chosen.choicesIn(values).map(each => ({ ...each, name }))).map(({ input }) => input);
  };
  const started = resourceOfKind(start.kind);
  const needsModel = several ? false : start.checkpointIsModel ? checkpoint === undefined : !model;
  const checked = options.map(field => checkedField(field, start, chosen));
  const fields: readonly FieldSpec[] = [
    ...(needsModel ? [slugField] : []),
    {
      kind: 'text',
      name: 'display_name',
      label: 'Run name',
      initial: values => chosen.plan(chosen.choicesIn(values).slice(0, 1))[0]?.input.display_name ?? '',
      when: isNamed,
      check: value => nameProblem(value, start),
    },
    ...checkpointFields(props, chosen),
    ...checked,
  ];
  return (
    <FormWindow
      title={titleOf(props)}
      draft={hashKey([
        start.kind,
        ...[row.bench_id, model, latest.run?.training_run_id, checkpoint?.checkpoint_id],
        several?.map(({ run, checkpoint }) => [run.training_run_id, checkpoint?.checkpoint_id]),
      ])}
      fields={fields}
      action={starts.action}
      sentBefore={starts.sentBefore}
      describe={(service, inputs) => starts.left(inputs).map(input => start.send(service, input))}
      inputOf={inputsOf}
      summary={useSummary(props, chosen, checked, starts.left)}
      lostAdvice={started && startedAdvice(started, `:${started.names[0]}`)}
      onChange={chosen.onChange}
      onClose={onClose}
      onDone={useOpenStarted(start, row, isOnOne(props))}
    />
  );
}

const unseenForm = { values: {}, isSeen: false } as const;

/** @param initial the model that was last used */
function modelField(models: RunOffer['models'], initial = '', many = false): FieldSpec {
  const shared = { name: 'model', label: 'Model', initial };
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
