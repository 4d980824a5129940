/** The form that starts an evaluation. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { displayNameLength, type StartEvalResult } from '../../../contract/evaluations.ts';
import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { evaluationKeys } from '../../../queries/evaluations.ts';
import { modelList } from '../../../queries/models.ts';
import { useIdempotencyKey } from '../../../queries/use-action.ts';
import { useList } from '../../../queries/use-list.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { Waiting } from '../shared/waiting.tsx';
import { FormWindow } from '../shared/windows.tsx';

export interface EvaluateWindowProps {
  readonly benchmark: Benchmark;
  /** A checkpoint to evaluate, where one was chosen. */
  readonly checkpointId?: string;
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

export function EvaluateWindow({ benchmark, checkpointId = '', onClose }: EvaluateWindowProps) {
  const shell = useShell();
  const models = useList(modelList, 'visible');
  const idempotencyKey = useIdempotencyKey();
  if (!models.loaded && !models.fault) return <Waiting words="Asking for the models" />;
  const label = benchmark.label ?? benchmark.bench_id;
  const fields: readonly FieldSpec[] = [
    models.rows.length > 0
      ? {
          kind: 'choice',
          name: 'model_slug',
          label: 'Model',
          options: models.rows.map(model => ({
            value: model.model_slug,
            label: model.model_slug,
            ...(model.model_name ? { note: model.model_name } : {}),
          })),
        }
      : {
          kind: 'text',
          name: 'model_slug',
          label: 'Model',
          placeholder: 'vendor/model',
          help: 'The list of models could not be read; type the slug.',
          check: value => (value.trim() === '' ? 'Name a model' : undefined),
        },
    { kind: 'text', name: 'display_name', label: 'Name of the run', initial: `${label} baseline`, check: checkName },
    {
      kind: 'text',
      name: 'checkpoint_id',
      label: 'Checkpoint (optional)',
      initial: checkpointId,
      placeholder: 'the base model itself',
      help: 'The id of a committed checkpoint, to evaluate it instead of the base model.',
      check: checkCheckpoint,
    },
  ];
  const bodyOf = (values: Readonly<Record<string, string>>) => ({
    display_name: values['display_name']?.trim() ?? '',
    model_slug: values['model_slug']?.trim() ?? '',
    ...(values['checkpoint_id']?.trim() ? { checkpoint_id: values['checkpoint_id'].trim() } : {}),
  });
  return (
    <FormWindow<StartEvalResult>
      title={`Evaluate on ${label}`}
      fields={fields}
      request={values => ({ method: 'POST', path: `/api/v1/eval/${benchmark.bench_id}/start`, body: bodyOf(values) })}
      work={(service, values) => {
        const body = bodyOf(values);
        return service.evaluations.start(benchmark.bench_id, body, {
          idempotencyKey: idempotencyKey(JSON.stringify(body)),
        });
      }}
      touches={[evaluationKeys.all, benchmarkKeys.all]}
      onClose={onClose}
      onDone={result => {
        shell.toast({ kind: 'success', text: `Started ${result.display_name ?? result.eval_run_id}` });
        const name = result.display_name ? { name: result.display_name } : {};
        shell.open({ view: 'run', params: { eval_run_id: result.eval_run_id, bench_id: benchmark.bench_id, ...name } });
      }}
    />
  );
}
