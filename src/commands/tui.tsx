/** `benchtop`: the workbench on the whole terminal. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, loadConfig } from '../config/load.ts';
import { RememberedStore } from '../queries/remembered/store.ts';
import { Workbench } from '../queries/workbench.tsx';
import { Program } from '../ui/app/program.tsx';
import { startTerminal } from '../ui/app/terminal/start-terminal.tsx';
import { overrideFaults } from '../ui/keys/command.ts';
import { generalLayers } from '../ui/keys/general.ts';
import { registry } from '../ui/views/registry.ts';
import { themeFor } from '../ui/widgets/theme/theme.tsx';
import { serviceOf } from './connect.ts';
import { configFlags, configOptions } from './flags.ts';

/** @throws Error naming every override of a key that cannot be followed */
function checkKeys({ preferences, settingsPath }: Config): void {
  const layers = [...generalLayers.map(table => Object.values(table)), ...registry.map(view => view.commands)];
  const faults = overrideFaults(layers, preferences.keys);
  if (faults.length > 0) throw new Error(`The keys in ${settingsPath} cannot be used:\n  ${faults.join('\n  ')}`);
}

export async function tuiCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: configOptions });
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new Error(
      'The workbench needs a terminal for its input and its output. `benchtop --help` lists what works without one.',
    );
  }
  const config = loadConfig(configFlags(values), process.env);
  checkKeys(config);
  const service = serviceOf(config);
  // Begins at once, beside the first frame; whoever asks first reports what went wrong.
  service().catch(() => {});
  const workbench = new Workbench({
    service,
    profile: config.profile.name,
    readOnly: config.profile.readOnly.value,
    remembered: () => RememberedStore.open(join(config.paths.state, 'remembered.db'), config.profile.name),
  });
  const { theme: themeName, keys, notices } = config.preferences;
  const theme = themeFor(themeName.value, process.env);
  const code = await startTerminal(
    terminal => (
      <Program
        workbench={workbench}
        theme={theme}
        registry={registry}
        terminal={terminal}
        overrides={keys}
        notices={notices.value}
      />
    ),
    {
      onSuspend: suspended => workbench.setSuspended(suspended),
      crashFolder: config.paths.state,
      redact: config.redact,
    },
  );
  workbench.close();
  void service()
    .then(connected => connected.close())
    .catch(() => {});
  return code;
}
