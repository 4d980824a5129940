/** The form that creates a secret. The value is masked, sent once, and kept nowhere. */
import { useState } from 'react';
import { createSecret } from '../../../queries/secrets.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { FormWindow } from '../shared/form-window.tsx';

export interface CreateSecretWindowProps {
  /** Name and description of the secret, where they are known. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly onClose: () => void;
}

export function CreateSecretWindow({ name = '', description = '', onClose }: CreateSecretWindowProps) {
  const shell = useShell();
  const [fields] = useState<readonly FieldSpec[]>(() => [
    {
      kind: 'text',
      name: 'name',
      label: 'Name',
      initial: name,
      placeholder: 'MY_API_KEY',
      check: value => (/^\S+$/.test(value.trim()) ? undefined : 'One word'),
    },
    {
      kind: 'text',
      name: 'value',
      label: 'Value',
      mask: true,
      help: 'Sent once; nobody can read it afterwards.',
      check: value => (value === '' ? 'Type or paste the value' : undefined),
    },
    { kind: 'text', name: 'description', label: 'Description (optional)', initial: description },
  ]);
  const bodyOf = (values: Readonly<Record<string, string>>) => ({
    name: values['name']?.trim() ?? '',
    value: values['value'] ?? '',
    ...(values['description']?.trim() ? { description: values['description'].trim() } : {}),
  });
  return (
    <FormWindow
      title={name === '' ? 'Create a secret' : `Secret ${name}`}
      fields={fields}
      start={name === '' ? 0 : 1}
      action={createSecret}
      inputOf={bodyOf}
      onClose={onClose}
      onDone={secret => shell.toast({ kind: 'success', text: `Stored ${secret.name ?? secret.secret_id}` })}
    />
  );
}
