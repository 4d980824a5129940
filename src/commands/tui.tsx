/** `benchtop`: the workbench on the whole terminal. */
import { parseArgs } from 'node:util';
import { render } from 'ink';
import { loadConfig } from '../config/load.ts';
import { Workbench } from '../queries/workbench.tsx';
import { Program } from '../ui/app/program.tsx';
import type { TerminalPort } from '../ui/app/terminal-port.ts';
import { registry } from '../ui/views/registry.ts';
import { themeFor } from '../ui/widgets/theme/theme.tsx';
import { serviceOf } from './connect.ts';
import { configFlags, configOptions } from './flags.ts';

export async function tuiCommand(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: configOptions });
  const config = loadConfig(configFlags(values), process.env);
  const service = serviceOf(config);
  // Begins at once, beside the first frame; whoever asks first reports what went wrong.
  service().catch(() => {});
  const workbench = new Workbench({ service, profile: config.profile.name, readOnly: config.profile.readOnly.value });
  const theme = themeFor(config.preferences.theme.value, process.env);
  const port: TerminalPort = {
    writeRaw: sequence => process.stdout.write(sequence),
    runExternal: async () => 0,
    suspend: () => {},
    quit: () => instance.unmount(),
    repaint: () => {},
  };
  const instance = render(
    <Program
      workbench={workbench}
      theme={theme}
      registry={registry}
      terminal={port}
      overrides={config.preferences.keys}
    />,
    { alternateScreen: true, incrementalRendering: true, exitOnCtrlC: false, maxFps: 60 },
  );
  await instance.waitUntilExit();
  workbench.close();
  return 0;
}
