/** The window that adds a service, or changes its address and key. */

import { Text } from 'ink';
import { useEffect, useRef, useState } from 'react';
import { errorMessage } from '../../base/errors.ts';
import { profileNameProblem } from '../../config/schema.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { wrap } from '../../text/wrap.ts';
import { formCommands } from '../keys/general.ts';
import { useKeyOf } from '../keys/router.tsx';
import { Form, formHeight, minFormLines, useForm } from '../widgets/form/form.tsx';
import type { FieldSpec, FormValues } from '../widgets/form/form-state.ts';
import { Lines } from '../widgets/lines.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { Window, windowMargin } from '../widgets/window.tsx';
import { type Connection, type KeySource, keySources, useConnection } from './connection.ts';
import { useShowProfile } from './leave.tsx';
import { useShell, useWindowRoom } from './shell-context.tsx';

const sourceLabels: Readonly<Record<KeySource, string>> = {
  environment: 'an environment variable',
  file: 'a file with mode 0600',
  command: 'a command that prints it',
  settings: 'the settings file (mode 0600)',
};

function isSource(value: string): value is KeySource {
  return (keySources as readonly string[]).includes(value);
}

function addressError(value: string): string | undefined {
  if (!URL.canParse(value.trim())) return 'Type an address such as https://service.example';
  return /^https?:$/.test(new URL(value.trim()).protocol)
    ? undefined
    : 'The address must begin with https:// or http://';
}

function fieldsOf({ current, isLocal, baseUrl, keeping }: Connection): readonly FieldSpec[] {
  return [
    {
      kind: 'text',
      name: 'name',
      label: 'Profile name',
      initial: isLocal ? '' : current,
      placeholder: 'prod',
      ...(keeping && { help: sanitiseLine(keeping) }),
      check: value => (/^\S+$/.test(value.trim()) ? profileNameProblem(value.trim(), '') : 'Must be one word'),
    },
    {
      kind: 'text',
      name: 'baseUrl',
      label: 'Service address',
      initial: baseUrl ?? '',
      placeholder: 'https://service.example',
      check: addressError,
    },
    {
      kind: 'choice',
      name: 'keySource',
      label: 'Get the API key from',
      options: keySources.map(source => ({ value: source, label: sourceLabels[source] })),
    },
    {
      kind: 'text',
      name: 'key',
      label: 'Variable, path, command line, or the key itself',
      mask: true,
      help: 'Shown as dots, because it may be the key itself.',
      check: value => (value.trim() === '' ? 'Enter where the key is' : undefined),
    },
  ];
}

/** Tests a profile, then sets it up. */
function useSetUp(onDone: (name: string) => void) {
  const connection = useConnection();
  const test = useRef<AbortController>(undefined);
  useEffect(() => () => test.current?.abort(), []);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const submit = async (values: FormValues): Promise<void> => {
    const { name = '', baseUrl = '', keySource = '', key = '' } = values;
    if (!isSource(keySource)) return;
    const controller = new AbortController();
    test.current = controller;
    setBusy(true);
    setError(undefined);
    try {
      const profile = { name: name.trim(), baseUrl: baseUrl.trim(), keySource, key: key.trim() };
      await connection.setUp(profile, controller.signal);
      onDone(profile.name);
    } catch (error) {
      setError(controller.signal.aborted ? 'Cancelled. Nothing was changed.' : errorMessage(error));
      setBusy(false);
    }
  };
  return { busy, error, submit, stop: () => test.current?.abort() };
}

export function ConnectWindow({ onClose }: { readonly onClose: () => void }) {
  const connection = useConnection();
  const showProfile = useShowProfile();
  const { busy, error, submit, stop } = useSetUp(name => {
    onClose();
    showProfile(name);
  });
  const { styles } = useTheme();
  const keyOf = useKeyOf();
  const [fields] = useState(() => fieldsOf(connection));
  const form = useForm(fields);
  const { showHelp } = useShell();
  const room = useWindowRoom(76);
  const { width, inner } = room;
  const errorLines = error === undefined ? [] : wrap(sanitiseLine(error), inner).slice(0, 4);
  const below = errorLines.length + (busy ? 1 : 0) + windowMargin.lines;
  const known = [...connection.origins, connection.generation()].filter(words => words !== undefined);
  const origins = known.flatMap(words => wrap(sanitiseLine(words), inner));
  // Omit the origins of the settings if only the fields fit.
  const notes = origins.length + 1 <= room.height - below - minFormLines ? [...origins, ' '] : [];
  const otherLines = notes.length + below;
  const height = Math.min(room.height, formHeight(fields) + otherLines);
  return (
    <Window title="Connect to a service" width={width} height={height}>
      <Lines lines={notes.map(note => styles.muted(note))} width={inner} height={notes.length} />
      <Form
        form={form}
        width={inner}
        height={height - otherLines}
        busy={busy}
        onSubmit={values => void submit(values)}
        onHelp={showHelp}
        onCancel={busy ? stop : onClose}
      />
      <Lines lines={errorLines.map(line => styles.danger(line))} width={inner} height={errorLines.length} />
      {busy ? <Text>{`Testing the service… ${keyOf(formCommands.cancel)} cancels`}</Text> : null}
    </Window>
  );
}
