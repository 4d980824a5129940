/** The secrets of the organization: what is known of them, never their values. */
import type { Secret } from '../../../contract/secrets.ts';
import { deleteSecret, secretList } from '../../../queries/secrets.ts';
import { secretColumns, secretCommands, secretFacts } from '../../../resources/secrets.ts';
import { useShell } from '../../app/shell-context.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { namesOf } from '../shared/names.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { CreateSecretWindow } from './create.tsx';

const labelOf = ({ name, secret_id }: Secret): string => name ?? secret_id;

export function SecretsView() {
  const shell = useShell();
  return (
    <ResourceList
      source={secretList}
      columns={secretColumns}
      emptyWords="No secrets yet"
      emptyAdvice={{ command: secretCommands.create, words: 'creates one' }}
      facts={secretFacts}
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
              shell.showOverlay({
                id: 'confirm',
                render: close => (
                  <Confirm
                    title={rows.length === 1 ? 'Revoke this secret?' : `Revoke ${rows.length} secrets?`}
                    question={`${names}: tasks that need it cannot run until it is created again. This cannot be undone.`}
                    verb="revoke"
                    past="revoked"
                    action={deleteSecret}
                    rows={rows}
                    labelOf={labelOf}
                    onDone={() => shell.toast({ kind: 'success', text: `Revoked ${names}` })}
                    onClose={close}
                  />
                ),
              }),
          },
        ];
      }}
    />
  );
}
