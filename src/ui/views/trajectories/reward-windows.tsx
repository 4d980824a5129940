/** The forms that log a reward to a trajectory, and that end one. */

import { useState } from 'react';
import { type Trajectory, terminationReasons } from '../../../contract/trajectories.ts';
import { completeTrajectory, logReward } from '../../../queries/trajectories.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec, FormValues } from '../../widgets/form/form-state.ts';
import type { ActionWindowProps } from '../../windows/choice-window.tsx';
import { FormWindow } from '../../windows/form-window.tsx';
import { numberProblem } from '../number-window.tsx';

const tokenField: FieldSpec = {
  kind: 'text',
  name: 'token',
  label: 'Trajectory token (optional)',
  mask: true,
  placeholder: 'the organization key',
  help: 'A short-lived token for this trajectory, if the service requires one.',
};

function tokenOf(values: FormValues): string | undefined {
  return values['token']?.trim() || undefined;
}

export function LogRewardWindow({ row, onClose }: ActionWindowProps<Trajectory>) {
  const shell = useShell();
  const [fields] = useState<readonly FieldSpec[]>(() => [
    {
      kind: 'text',
      name: 'name',
      label: 'Name',
      placeholder: 'quality',
      check: value => (value.trim() === '' ? 'Enter a name' : undefined),
    },
    { kind: 'text', name: 'value', label: 'Value', check: numberProblem },
    { kind: 'text', name: 'explanation', label: 'Explanation (optional)' },
    {
      kind: 'text',
      name: 'weight',
      label: 'Weight (optional)',
      placeholder: '1',
      help: '0 keeps it for diagnosis only.',
      check: value => (value.trim() === '' ? undefined : numberProblem(value)),
    },
    {
      kind: 'text',
      name: 'reward_id',
      label: 'Reward id',
      initial: crypto.randomUUID(),
      help: 'The service logs a reward with this id only once.',
      check: value => (value.trim() === '' ? 'Enter an id' : undefined),
    },
    tokenField,
  ]);
  const inputOf = (values: FormValues) => ({
    trajectory_id: row.trajectory_id,
    token: tokenOf(values),
    reward_id: values['reward_id']?.trim() ?? '',
    name: values['name']?.trim() ?? '',
    value: Number(values['value']),
    ...(values['explanation']?.trim() ? { explanation: values['explanation'].trim() } : {}),
    ...(values['weight']?.trim() ? { weight: Number(values['weight']) } : {}),
  });
  return (
    <FormWindow
      title="Log a reward"
      fields={fields}
      action={logReward}
      inputOf={inputOf}
      onClose={onClose}
      onDone={() => shell.toast({ kind: 'success', text: 'Reward logged' })}
    />
  );
}

export function CompleteWindow({ row, onClose }: ActionWindowProps<Trajectory>) {
  const shell = useShell();
  const [fields] = useState<readonly FieldSpec[]>(() => [
    {
      kind: 'choice',
      name: 'reason',
      label: 'Reason',
      options: terminationReasons.map(reason => ({ value: reason, label: reason })),
    },
    tokenField,
  ]);
  const reasonOf = (values: FormValues) => terminationReasons.find(reason => reason === values['reason']) ?? 'ENV_DONE';
  return (
    <FormWindow
      title="End the trajectory"
      fields={fields}
      action={completeTrajectory}
      inputOf={values => ({
        trajectory_id: row.trajectory_id,
        termination_reason: reasonOf(values),
        token: tokenOf(values),
      })}
      onClose={onClose}
      onDone={() => shell.toast({ kind: 'success', text: 'The trajectory has ended; it accepts no more rewards' })}
    />
  );
}
