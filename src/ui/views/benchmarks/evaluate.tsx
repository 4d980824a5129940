/** The form that starts an evaluation. */

import { useState } from 'react';
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { displayNameLength, type StartEvalBody } from '../../../contract/evaluations.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import { recordPlace } from '../../../resources/define.ts';
import { runs } from '../../../resources/runs.ts';
import { own } from '../../../text/own.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { modelField, type RunOffer, useRunOffer } from '../shared/fields.ts';
import { FormWindow } from '../shared/form-window.tsx';
import { checkingOptions, optionSpecs, optionsOf } from '../shared/options.ts';
import { type ActionWindowProps, NoticeWindow } from '../shared/windows.tsx';

const { send, options: optionsOperation } = benchmarkActions.evaluate.sends;

export interface EvaluateWindowProps extends ActionWindowProps<Benchmark> {
  /** The checkpoint to evaluate, if one was chosen, with its base model and its origin. */
  readonly checkpoint?: { readonly id: string; readonly model: string | undefined; readonly name: string | undefined };
}

function checkName(value: string): string | undefined {
  const length = value.trim().length;
  if (length < displayNameLength.minimum) return 'Give the run a name';
  if (length > displayNameLength.maximum) return `${length} characters; at most ${displayNameLength.maximum}`;
  return undefined;
}

function checkCheckpoint(value: string): string | undefined {
  return /\s/.test(value.trim()) ? 'An id has no spaces' : undefined;
}

export function EvaluateWindow(props: EvaluateWindowProps) {
  const { row: benchmark, checkpoint, onClose } = props;
  const offer = useRunOffer(optionsOperation, { benchId: benchmark.bench_id, model: checkpoint?.model });
  if (!offer) return <NoticeWindow title="Evaluate" onClose={onClose} />;
  return <EvaluateForm {...props} {...offer} />;
}

function EvaluateForm({ row: benchmark, checkpoint, models, offered, onClose }: EvaluateWindowProps & RunOffer) {
  const shell = useShell();
  const label = benchmark.label ?? benchmark.bench_id;
  const { remembered } = useWorkbench();
  const [specs] = useState(() => optionSpecs(offered));
  const usual = checkpoint ? clean`${checkpoint.name ?? label} checkpoint` : clean`${label} baseline`;
  // Created once: an answer that arrives later must not replace what was typed.
  const [fields] = useState<readonly FieldSpec[]>(() => [
    ...(checkpoint?.model ? [] : [modelField('model_slug', models)]),
    {
      kind: 'text',
      name: 'display_name',
      label: 'Name of the run',
      initial: remembered.freeName('run', usual),
      check: checkName,
    },
    {
      kind: 'text',
      name: 'checkpoint_id',
      label: 'Checkpoint (optional)',
      initial: checkpoint?.id ?? '',
      placeholder: 'the base model itself',
      help: 'The id of a committed checkpoint, to evaluate it instead of the base model.',
      check: checkCheckpoint,
    },
    ...specs.map(spec => spec.field),
  ]);
  const inputOf = (values: Readonly<Record<string, string>>): StartEvalBody & { readonly bench_id: string } => {
    const options = optionsOf(specs, values);
    const [model = '', name = '', checkpointId] = ['model_slug', 'display_name', 'checkpoint_id'].map(field =>
      own(values, field)?.trim(),
    );
    return {
      bench_id: benchmark.bench_id,
      display_name: name,
      model_slug: checkpoint?.model ?? model,
      ...(checkpointId ? { checkpoint_id: checkpointId } : {}),
      ...(Object.keys(options).length > 0 ? { options } : {}),
    };
  };
  const [start] = useState(() => checkingOptions(send, body => body.model_slug, offered));
  return (
    <FormWindow
      title={`Evaluate on ${label}`}
      fields={fields}
      action={start}
      describe={send}
      inputOf={inputOf}
      onClose={onClose}
      onDone={result => {
        shell.toast({ kind: 'success', text: `Started ${result.display_name ?? result.eval_run_id}` });
        shell.open({ ...recordPlace(runs, result.eval_run_id, result.display_name), parent: benchmark.bench_id });
      }}
    />
  );
}
