/** The form that starts a training run. */

import { useState } from 'react';
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { displayNameLength } from '../../../contract/evaluations.ts';
import type { StartTrainingBody } from '../../../contract/training.ts';
import { usualOptions } from '../../../queries/run-options.ts';
import { type Service, useWorkbench } from '../../../queries/workbench.tsx';
import { benchmarkActions } from '../../../resources/benchmarks.ts';
import { recordPlace } from '../../../resources/define.ts';
import { training } from '../../../resources/training.ts';
import { own } from '../../../text/own.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { modelField, type RunOffer, useRunOffer } from '../shared/fields.ts';
import { FormWindow } from '../shared/form-window.tsx';
import { checkingOptions, optionSpecs, optionsOf } from '../shared/options.ts';
import { useCheckpoint } from '../shared/use-checkpoint.tsx';
import { type ActionWindowProps, NoticeWindow } from '../shared/windows.tsx';

const { send, options: optionsOperation } = benchmarkActions.train.sends;

/** For a benchmark, by its label or by that of the checkpoint to train on. */
export interface TrainWindowProps extends ActionWindowProps<Benchmark> {
  /** Finds the checkpoint to start from; without it, training starts from the base model. */
  readonly parent?: (service: Service) => Promise<string>;
}

const noParent = async (): Promise<string> => '';

export function TrainWindow({ row, parent, onClose }: TrainWindowProps) {
  const { bench_id: benchId } = row;
  const label = row.label ?? benchId;
  const offer = useRunOffer(optionsOperation, { benchId });
  const checkpoint = useCheckpoint(parent ?? noParent);
  if (!offer || checkpoint.kind === 'failed' || checkpoint.kind === 'asking') {
    const error = checkpoint.kind === 'failed' ? checkpoint.error : undefined;
    return <NoticeWindow title={`Train on ${label}`} error={error} onClose={onClose} />;
  }
  return (
    <TrainForm
      {...offer}
      benchId={benchId}
      label={label}
      parentId={checkpoint.kind === 'known' ? checkpoint.id : ''}
      onClose={onClose}
    />
  );
}

interface TrainFormProps extends RunOffer {
  readonly benchId: string;
  readonly label: string;
  readonly parentId: string;
  readonly onClose: () => void;
}

function TrainForm({ benchId, label, models, offered, parentId, onClose }: TrainFormProps) {
  const shell = useShell();
  const { remembered } = useWorkbench();
  const [specs] = useState(() => optionSpecs(offered, usualOptions));
  // Created once: an answer that arrives later must not replace what was typed.
  const [fields] = useState<readonly FieldSpec[]>(() => [
    ...(parentId === '' ? [modelField('base_model_slug', models)] : []),
    {
      kind: 'text',
      name: 'display_name',
      label: 'Name of the run',
      initial: remembered.freeName('training', parentId === '' ? `${label} training` : `${label}, continued`),
      check: value =>
        value.trim().length > displayNameLength.maximum ? `At most ${displayNameLength.maximum} characters` : undefined,
    },
    ...(parentId === ''
      ? []
      : [
          {
            kind: 'text' as const,
            name: 'parent_checkpoint_id',
            label: 'From checkpoint',
            initial: parentId,
            check: (value: string) => (value.trim() === '' ? 'Name a checkpoint' : undefined),
          },
        ]),
    ...specs.map(spec => spec.field),
  ]);
  const bodyOf = (values: Readonly<Record<string, string>>): StartTrainingBody => {
    const options = optionsOf(specs, values);
    const [model, parent, name] = ['base_model_slug', 'parent_checkpoint_id', 'display_name'].map(field =>
      own(values, field)?.trim(),
    );
    return {
      bench_id: benchId,
      ...(model ? { base_model_slug: model } : {}),
      ...(parent ? { parent_checkpoint_id: parent } : {}),
      ...(name ? { display_name: name } : {}),
      ...(Object.keys(options).length > 0 ? { options } : {}),
    };
  };
  const [start] = useState(() => checkingOptions(send, body => body.base_model_slug, offered));
  return (
    <FormWindow
      title={`Train on ${label}`}
      fields={fields}
      action={start}
      describe={send}
      inputOf={bodyOf}
      onClose={onClose}
      onDone={run => {
        shell.toast({ kind: 'success', text: `Started ${run.display_name ?? run.training_run_id}` });
        shell.open({
          ...recordPlace(training, run.training_run_id, run.display_name),
          parent: run.bench_id ?? benchId,
        });
      }}
    />
  );
}
