/** The secrets of the organization: their metadata, never their values. */
import { useState } from 'react';
import type { Secret } from '../../contract/secrets.ts';
import { createSecret, deleteSecret } from '../../queries/secrets.ts';
import { secretCommands, secrets } from '../../resources/secrets.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import type { FieldSpec } from '../widgets/form/form-state.ts';
import { useConfirm } from './shared/confirm.tsx';
import { FormWindow } from './shared/form-window.tsx';
import { namesOf } from './shared/list-words.ts';
import { ResourceListView } from './shared/resource-views.tsx';

const labelOf = ({ name, secret_id }: Secret): string => name ?? secret_id;

export function SecretsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  const confirm = useConfirm();
  return (
    <ResourceListView
      resource={secrets}
      place={place}
      bindings={[
        {
          command: secretCommands.create,
          run: () => shell.showOverlay({ id: 'secret', render: close => <CreateSecretWindow onClose={close} /> }),
        },
      ]}
      actions={rows => {
        const [row] = rows;
        const names = namesOf(rows.map(labelOf));
        return [
          {
            command: secretCommands.replace,
            enabled: rows.length === 1,
            run: () =>
              row &&
              shell.showOverlay({
                id: 'secret',
                render: close => (
                  <CreateSecretWindow
                    name={row.name ?? undefined}
                    description={row.description ?? undefined}
                    onClose={close}
                  />
                ),
              }),
          },
          {
            command: secretCommands.revoke,
            enabled: rows.length > 0,
            run: () =>
              confirm({
                title: rows.length === 1 ? 'Revoke this secret?' : `Revoke ${rows.length} secrets?`,
                question: `${names}: tasks that need it cannot run until it is created again. This cannot be undone.`,
                verb: 'revoke',
                past: 'revoked',
                action: deleteSecret,
                rows,
                labelOf,
                onDone: () => shell.toast({ kind: 'success', text: `Revoked ${names}` }),
              }),
          },
        ];
      }}
    />
  );
}

export interface CreateSecretWindowProps {
  /** Name and description of the secret, if known. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly onClose: () => void;
}

/** The form that creates a secret. The value is masked, sent once, and stored nowhere. */
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
      help: 'Sent once; it cannot be read afterwards.',
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
