/** The forms that store a secret: a new one, one that a benchmark lacks, or a new value for an old one. */
import { useState } from 'react';
import type { Benchmark } from '../../contract/benchmarks.ts';
import type { Secret } from '../../contract/secrets.ts';
import { readinessQuery } from '../../queries/benchmarks.ts';
import { createSecret } from '../../queries/secrets.ts';
import { useShell } from '../app/shell-context.tsx';
import { useLive } from '../data/use-live.ts';
import type { FieldSpec, FormValues } from '../widgets/form/form-state.ts';
import { type ActionWindowProps, LoadingWindow } from '../windows/choice-window.tsx';
import { FormWindow } from '../windows/form-window.tsx';

export function ReplaceSecretWindow({ row: { name, description }, onClose }: ActionWindowProps<Secret>) {
  return <CreateSecretWindow name={name ?? undefined} description={description ?? undefined} onClose={onClose} />;
}

export function MissingSecretWindow({ row, onClose }: ActionWindowProps<Benchmark>) {
  const readiness = useLive(readinessQuery(row.bench_id), 'visible');
  const [name] = readiness.data?.missing_secret_names ?? [];
  if (name !== undefined) return <CreateSecretWindow name={name} onClose={onClose} />;
  const error = readiness.error ?? (readiness.data && new Error('No secret is missing.'));
  return <LoadingWindow title="Create the secret" error={error} onClose={onClose} />;
}

interface CreateSecretWindowProps {
  /** The secret's name and description, if known. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly onClose: () => void;
}

/** The form that creates a secret. The value is masked, sent once, and not stored here. */
export function CreateSecretWindow({ name = '', description = '', onClose }: CreateSecretWindowProps) {
  const shell = useShell();
  const [fields] = useState<readonly FieldSpec[]>(() => [
    {
      kind: 'text',
      name: 'name',
      label: 'Name',
      initial: name,
      placeholder: 'MY_API_KEY',
      check: value => (/^\S+$/.test(value.trim()) ? undefined : 'Must be one word'),
    },
    {
      kind: 'text',
      name: 'value',
      label: 'Value',
      mask: true,
      help: 'Sent once; it cannot be read afterwards.',
      check: value => (value === '' ? 'Type or paste the value' : undefined),
    },
    { kind: 'text', name: 'description', label: 'Description (optional)', initial: description },
  ]);
  const bodyOf = (values: FormValues) => ({
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
