/** The organization's secrets: their metadata, never their values. */
import { secretCommands, secrets } from '../../resources/secrets.ts';
import type { ViewProps } from '../app/registry.ts';
import { useShell } from '../app/shell-context.tsx';
import { ResourceListView } from './list/list-view.tsx';
import { CreateSecretWindow } from './secret-windows.tsx';

export function SecretsView({ place }: ViewProps<'list'>) {
  const shell = useShell();
  return (
    <ResourceListView
      resource={secrets}
      place={place}
      bindings={[
        {
          command: secretCommands.create,
          run: () => shell.showOverlay('secret', close => <CreateSecretWindow onClose={close} />),
        },
      ]}
    />
  );
}
