/** The form that regrades the rollouts of a run, a training run, a dataset, or two compared runs. */

import { useState } from 'react';
import { capitalised } from '../../../base/capitalised.ts';
import { judgeCost } from '../../../present/start-cost.ts';
import { passAtProblem, type Range } from '../../../present/statistics/tasks.ts';
import { chatModelsQuery, modelList, pricesOf } from '../../../queries/models.ts';
import { type GraderChoice, GraderError, localGraders, regraderOf } from '../../../rollouts/regraders.ts';
import { isComparison, judgedQuery, type Regradable, Regrading, regradableLabel } from '../../../rollouts/regrading.ts';
import { counted } from '../../../text/numbers.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useList } from '../../data/use-list.ts';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import { ChoiceWindow, LoadingWindow } from '../../windows/choice-window.tsx';
import { PlainFormWindow } from '../../windows/form-window.tsx';
import { numberProblem } from '../number-window.tsx';
import { keptRegradings, startRegrading } from './regradings.ts';

interface RegradeWindowProps {
  readonly of: Regradable;
  readonly onClose: () => void;
}

/** Values of the grader field, besides the local service's grader kinds. */
const [asJson, program, judge] = ['as JSON', 'program', 'model'] as const;
/** The local graders whose field is not the expected answer. */
const [regex, choice] = ['regex', 'choice'] as const;

const graderOptions = [
  ...localGraders.map(kind => ({ value: kind, label: kind.replaceAll('_', ' ') })),
  { value: asJson, label: 'one of these as JSON' },
  { value: program, label: 'a program on this machine' },
  { value: judge, label: 'a model with a rubric' },
];

const secondsOf = ({ seconds = '' }: FormValues): number => Number(seconds);

function choiceOf(values: FormValues): GraderChoice {
  const { grader = '', json = '', command: line = '', model = '', rubric = '' } = values;
  if (grader === program) return { kind: 'command', line, seconds: secondsOf(values) };
  if (grader === judge) return { kind: 'model', model: model.trim(), rubric: rubric.trim() };
  const { [grader === regex ? 'pattern' : 'expected']: expected = '' } = values;
  return { kind: 'local', words: grader === asJson ? json : `${grader} ${expected.trim()}`.trim() };
}

/** Why the grader cannot be used; undefined if it can. */
function graderProblem(values: FormValues): string | undefined {
  try {
    regraderOf(choiceOf(values));
    return undefined;
  } catch (error) {
    if (error instanceof GraderError) return error.message;
    throw error;
  }
}

const isPositive = (value: string): boolean => Number.isFinite(Number(value)) && Number(value) > 0;

/** A comparison keeps its own threshold. */
function fieldsFor(of: Regradable, models: readonly string[], range: Range): readonly FieldSpec[] {
  const [low, high] = range;
  const isOne =
    (...graders: readonly string[]) =>
    ({ grader = '' }: FormValues) =>
      graders.includes(grader);
  const check = (_: string, values: FormValues = {}): string | undefined => graderProblem(values);
  const required = (words: string) => (value: string) => (value.trim() === '' ? words : undefined);
  return [
    { kind: 'choice', name: 'grader', label: 'Grade with', options: graderOptions },
    {
      ...{ kind: 'text', name: 'expected', label: 'Expected', placeholder: 'the expected answer of each task' },
      help: ({ grader = '' }) =>
        grader === 'number'
          ? 'A number and a tolerance, e.g. 42 5. If empty: those stored with each rollout.'
          : 'If empty: the answer stored with each rollout.',
      when: ({ grader = '' }) => localGraders.includes(grader) && grader !== regex && grader !== choice,
      check,
    },
    {
      ...{ kind: 'text', name: 'pattern', label: 'Pattern', placeholder: '^yes' },
      help: 'A regular expression that a right answer matches.',
      when: isOne(regex),
      check: (value, values) => required('Enter a pattern')(value) ?? check(value, values),
    },
    {
      ...{ kind: 'text', name: 'json', label: 'JSON', placeholder: '{"kind": "regex", "pattern": "^yes"}' },
      when: isOne(asJson),
      check,
    },
    {
      ...{ kind: 'text', name: 'command', label: 'Command', placeholder: 'python3 grade.py' },
      help: 'Run once for each rollout: it reads a trajectory as JSON from standard input and prints a reward.',
      when: isOne(program),
      check,
    },
    {
      ...{ kind: 'text', name: 'seconds', label: 'Killed after (seconds)', initial: '30' },
      when: isOne(program),
      check: value => (isPositive(value) ? undefined : 'A number above 0'),
    },
    models.length > 0
      ? {
          ...{ kind: 'choice', name: 'model', label: 'Model', when: isOne(judge) },
          options: models.map(value => ({ value, label: sanitiseLine(value) })),
        }
      : { kind: 'text', name: 'model', label: 'Model', when: isOne(judge), check: required('Name a model') },
    {
      ...{ kind: 'text', name: 'rubric', label: 'Rubric', multiline: true, when: isOne(judge) },
      help: `Criteria for rewards from ${low} to ${high}. The model is asked once for each rollout.`,
      check: required('Enter a rubric'),
    },
    {
      ...{ kind: 'text', name: 'passAt', label: 'Passes with a reward of at least', initial: String(high) },
      when: () => !isComparison(of),
      check: value => {
        const problem = numberProblem(value) ?? passAtProblem(Number(value), range);
        return problem && capitalised(problem);
      },
    },
  ];
}

interface ConfirmGraderProps<Grader> {
  readonly regrading: Regrading;
  readonly grader: Grader;
  readonly onRun: () => void;
  readonly onClose: () => void;
}

/** Asks before sending requests that may cost money. */
function ConfirmJudge({
  regrading,
  grader: { model, rubric },
  onRun,
  onClose,
}: ConfirmGraderProps<Extract<GraderChoice, { kind: 'model' }>>) {
  const workbench = useWorkbench();
  const { compare, priceUnit } = workbench;
  const { data, error } = useLive(judgedQuery(regrading.of, rubric, compare.rewardRange), 'visible');
  const models = useList(modelList, 'visible');
  const title = `Ask ${sanitiseLine(model)} for rewards?`;
  const isReading = (!data && !error) || (!models.loaded && !models.error);
  if (isReading) return <LoadingWindow title={title} words="Counting the rollouts" onClose={onClose} />;
  const kept = regrading.keptOf(keptRegradings(workbench), compare.rewardRange);
  const requests = data?.ids.filter(id => !kept.has(id)).length ?? 0;
  return (
    <ChoiceWindow
      title={title}
      about={
        data
          ? capitalised(judgeCost({ ...data, requests }, pricesOf(models.rows, model), priceUnit))
          : clean`The rollouts could not be counted: ${error?.message ?? ''}`
      }
      choices={[
        { key: 'no', label: 'No', value: false },
        { key: 'yes', label: data ? `Send ${counted(requests, 'request')}` : 'Send the requests', value: true },
      ]}
      onChoose={isRun => isRun && onRun()}
      onClose={onClose}
    />
  );
}

/** Asks before running a program on this machine. */
function ConfirmProgram({
  grader: { line },
  onRun,
  onClose,
}: ConfirmGraderProps<Extract<GraderChoice, { kind: 'command' }>>) {
  return (
    <ChoiceWindow
      title="Run this program on this machine for each rollout?"
      choices={[
        { key: 'no', label: 'No', value: false },
        { key: 'yes', label: `Run ${line}`, value: true },
      ]}
      onChoose={isRun => isRun && onRun()}
      onClose={onClose}
    />
  );
}

/** Returns a function that starts grading, for the first time or again. It asks before it runs a program or a judge. */
export function useRegrade(): (regrading: Regrading, replaces?: boolean) => void {
  const shell = useShell();
  const workbench = useWorkbench();
  return (regrading, replaces = false) => {
    const start = (): void => {
      const place = regrading.place(startRegrading(workbench, regrading));
      if (replaces) shell.navigate({ kind: 'replace', place });
      else shell.open(place);
    };
    const { grader } = regrading;
    if (grader.kind === 'local') return start();
    shell.showOverlay('regrade-confirm', onClose =>
      grader.kind === 'model' ? (
        <ConfirmJudge {...{ regrading, grader, onClose }} onRun={start} />
      ) : (
        <ConfirmProgram {...{ regrading, grader, onClose }} onRun={start} />
      ),
    );
  };
}

export function RegradeWindow(props: RegradeWindowProps) {
  const models = useLive(chatModelsQuery, 'visible');
  if (!models.data && !models.error)
    return <LoadingWindow title="Regrade" words="Reading the models" onClose={props.onClose} />;
  return <RegradeForm {...props} models={(models.data ?? []).map(({ id }) => id)} />;
}

function RegradeForm({ of, models, onClose }: RegradeWindowProps & { readonly models: readonly string[] }) {
  const { compare } = useWorkbench();
  const regrade = useRegrade();
  const [fields] = useState(() => fieldsFor(of, models, compare.rewardRange));
  return (
    <PlainFormWindow
      title={`Regrade ${sanitiseLine(regradableLabel(of))}`}
      fields={fields}
      onSubmit={values => regrade(new Regrading(of, choiceOf(values), Number(values['passAt'])))}
      onClose={onClose}
    />
  );
}
