/** The form that starts an evaluation. */

import { useState } from 'react';
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { displayNameLength } from '../../../contract/evaluations.ts';
import { startEvaluation } from '../../../queries/evaluations.ts';
import { modelList } from '../../../queries/models.ts';
import { useList } from '../../../queries/use-list.ts';
import { useWorkbench } from '../../../queries/workbench.tsx';
import { recordPlace } from '../../../resources/define.ts';
import { runs } from '../../../resources/runs.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { modelField } from '../shared/fields.ts';
import { FormWindow } from '../shared/form-window.tsx';
import { NoticeWindow } from '../shared/windows.tsx';

export interface EvaluateWindowProps {
  readonly benchmark: Benchmark;
  /** A checkpoint to evaluate, where one was chosen, with its base model and what it is of. */
  readonly checkpoint?: { readonly id: string; readonly model: string | undefined; readonly name: string | undefined };
  readonly onClose: () => void;
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

export function EvaluateWindow({ benchmark, checkpoint, onClose }: EvaluateWindowProps) {
  const shell = useShell();
  const { remembered } = useWorkbench();
  const models = useList(modelList, 'visible');
  const label = benchmark.label ?? benchmark.bench_id;
  const [name] = useState(() =>
    remembered.freeName('run', checkpoint ? `${checkpoint.name ?? label} checkpoint` : `${label} baseline`),
  );
  if (!models.loaded && !models.error && !checkpoint?.model) {
    return <NoticeWindow title="Evaluate" onClose={onClose} />;
  }
  const fields: readonly FieldSpec[] = [
    ...(checkpoint?.model
      ? []
      : [
          modelField(
            'model_slug',
            models.rows.map(({ model_slug, model_name }) => ({ slug: model_slug, name: model_name ?? undefined })),
          ),
        ]),
    {
      kind: 'text',
      name: 'display_name',
      label: 'Name of the run',
      initial: name,
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
  ];
  const inputOf = (values: Readonly<Record<string, string>>) => ({
    bench_id: benchmark.bench_id,
    display_name: values['display_name']?.trim() ?? '',
    model_slug: checkpoint?.model ?? values['model_slug']?.trim() ?? '',
    ...(values['checkpoint_id']?.trim() ? { checkpoint_id: values['checkpoint_id'].trim() } : {}),
  });
  return (
    <FormWindow
      title={`Evaluate on ${label}`}
      fields={fields}
      action={startEvaluation}
      inputOf={inputOf}
      onClose={onClose}
      onDone={result => {
        shell.toast({ kind: 'success', text: `Started ${result.display_name ?? result.eval_run_id}` });
        shell.open({ ...recordPlace(runs, result.eval_run_id, result.display_name), parent: benchmark.bench_id });
      }}
    />
  );
}
