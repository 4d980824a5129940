/** One window on an otherwise empty screen, in the real shell, on a service that the test makes up. */
import { Text } from 'ink';
import { type ReactNode, useEffect } from 'react';
import { onTestFinished } from 'vitest';
import { Workbench } from '../../src/queries/workbench.tsx';
import type { Service } from '../../src/service/index.ts';
import { Panes } from '../../src/ui/app/panes.tsx';
import { Program } from '../../src/ui/app/program.tsx';
import { useShell } from '../../src/ui/app/shell-context.tsx';
import type { TerminalPort } from '../../src/ui/app/terminal-port.ts';
import type { ViewDefinition } from '../../src/ui/app/view-definition.ts';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';
import { openScreen, type Screen, type ScreenOptions } from '../screen.ts';
import { fakeService } from '../service/fake-service.ts';

export const noTerminal: TerminalPort = {
  writeRaw: () => {},
  runExternal: async () => 0,
  suspend: () => {},
  quit: () => {},
  repaint: () => {},
};

export interface StageOptions extends ScreenOptions {
  readonly service?: () => Promise<Service>;
}

export interface Stage extends Screen {
  readonly workbench: Workbench;
}

const noService = async (): Promise<Service> => fakeService();

/** Opens the window over a view that says "behind"; it closes with the test. */
export function openOnStage(
  window: (close: () => void) => ReactNode,
  { service = noService, ...options }: StageOptions = {},
): Stage {
  function StageView() {
    const { showOverlay } = useShell();
    // biome-ignore lint/correctness/useExhaustiveDependencies: the window is opened once
    useEffect(() => showOverlay({ id: 'window', render: window }), []);
    return <Panes main={<Text>behind</Text>} />;
  }
  return openViewOnStage(StageView, { service, ...options });
}

/** Opens a view that fills the screen; it closes with the test. */
export function openViewOnStage(
  component: ViewDefinition['component'],
  { service = noService, others = [], ...options }: StageOptions & { readonly others?: readonly ViewDefinition[] } = {},
): Stage {
  const view: ViewDefinition = { name: 'stage', title: 'Stage', section: true, aliases: [], commands: [], component };
  const workbench = new Workbench({ service, profile: 'test' });
  const screen = openScreen(
    <Program workbench={workbench} theme={createTheme()} registry={[view, ...others]} terminal={noTerminal} />,
    { columns: 100, rows: 30, ...options },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  return { ...screen, workbench };
}
