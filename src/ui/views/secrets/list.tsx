/** The secrets of the organization: what is known of them, never their values. */
import type { Secret } from '../../../contract/secrets.ts';
import { benchmarkKeys } from '../../../queries/benchmarks.ts';
import { secretKeys, secretList } from '../../../queries/secrets.ts';
import { bytes } from '../../../text/numbers.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Column } from '../../widgets/table/column.ts';
import { ageOf, instant } from '../shared/ages.ts';
import { namesOf } from '../shared/names.ts';
import { ResourceList } from '../shared/resource-list.tsx';
import { Confirm } from '../shared/windows.tsx';
import { secretCommands } from './commands.ts';
import { CreateSecretWindow } from './create.tsx';

const columns: readonly Column<Secret>[] = [
  { id: 'name', title: 'SECRET', width: { min: 12, max: 50, grow: 2 }, value: row => row.name ?? row.secret_id },
  {
    id: 'size',
    title: 'SIZE',
    width: 8,
    align: 'right',
    value: row => row.byte_length ?? undefined,
    text: row => bytes(row.byte_length),
  },
  {
    id: 'updated',
    title: 'UPDATED',
    width: 8,
    align: 'right',
    value: row => instant(row.updated_at),
    text: row => ageOf(row.updated_at),
  },
  {
    id: 'description',
    title: 'DESCRIPTION',
    width: { min: 10, max: 60, grow: 2 },
    value: row => row.description ?? undefined,
  },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.secret_id },
];

export function SecretsView() {
  const shell = useShell();
  return (
    <ResourceList
      source={secretList}
      columns={columns}
      emptyWords="No secrets yet: n creates one"
      facts={row => [
        { label: 'name', value: row.name },
        { label: 'id', value: row.secret_id },
        { label: 'size', value: bytes(row.byte_length) },
        { label: 'about', value: row.description },
        { label: 'created', value: ageOf(row.created_at) },
        { label: 'updated', value: ageOf(row.updated_at) },
        { label: 'value', value: 'cannot be read' },
      ]}
      bindings={[
        {
          command: secretCommands.create,
          run: () => shell.showOverlay({ id: 'secret', render: close => <CreateSecretWindow onClose={close} /> }),
        },
      ]}
      actions={rows => {
        const [row] = rows;
        const names = namesOf(rows.map(each => each.name ?? each.secret_id));
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
                    things={rows.map(each => each.name ?? each.secret_id)}
                    requests={rows.map(({ secret_id }) => `DELETE /api/v1/secrets/${secret_id}`)}
                    work={service => Promise.all(rows.map(({ secret_id }) => service.secrets.delete(secret_id)))}
                    touches={[secretKeys.all, benchmarkKeys.all]}
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
