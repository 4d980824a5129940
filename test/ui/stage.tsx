/** One window on an otherwise empty screen, in the real shell, on a scripted service. */

import { Text } from 'ink';
import { type ComponentType, type ReactNode, useEffect } from 'react';
import { onTestFinished } from 'vitest';
import type { Place, ViewName } from '../../src/resources/place.ts';
import type { Service } from '../../src/service/index.ts';
import { Program } from '../../src/ui/app/program.tsx';
import { type Registry, type ViewDefinition, type ViewProps, viewId } from '../../src/ui/app/registry.ts';
import { useShell } from '../../src/ui/app/shell-context.tsx';
import type { TerminalPort } from '../../src/ui/app/terminal-port.ts';
import { View } from '../../src/ui/app/view.tsx';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';
import type { ShownFile, Workbench, WorkbenchOptions } from '../../src/workbench/workbench.ts';
import { openScreen, type Screen, type ScreenOptions } from '../screen.ts';
import { fakeService } from '../service/fake-service.ts';
import { newWorkbench } from '../workbench/new-workbench.ts';

export const noTerminal: TerminalPort = {
  writeRaw: () => {},
  runExternal: async () => 0,
  suspend: () => {},
  quit: () => {},
  repaint: () => {},
};

export interface StageOptions extends ScreenOptions {
  /** The file that is read. */
  readonly file?: ShownFile;
  readonly remembered?: WorkbenchOptions['remembered'];
  readonly service?: () => Promise<Service>;
  readonly terminal?: TerminalPort;
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
    useEffect(() => showOverlay('window', window), []);
    return <View main={<Text>behind</Text>} />;
  }
  return openViewOnStage(StageView, { service, ...options });
}

interface ViewOptions<Name extends ViewName> {
  /** The place that the view shows; by default, the list of the resource on the stage. */
  readonly place?: Place<Name>;
  /** Views that can be opened from it. */
  readonly others?: readonly ViewDefinition[];
}

interface RegistryOptions {
  readonly home?: Place | undefined;
  readonly others?: readonly ViewDefinition[];
}

const onStage: Place = { view: 'list', resource: 'stage' };

/** A program of one view, and others that can be opened from it. */
export function registryOf(
  component: ComponentType<ViewProps>,
  { home = onStage, others = [] }: RegistryOptions = {},
): Registry {
  return {
    home,
    sections: [{ title: 'Stage', names: ['stage'], place: home }],
    views: [{ id: viewId(home), title: 'Stage', commands: [], general: [], component }, ...others],
  };
}

/** Opens a view that fills the screen; it closes with the test. */
export function openViewOnStage<Name extends ViewName>(
  component: ComponentType<ViewProps<Name>>,
  {
    service = noService,
    terminal = noTerminal,
    others = [],
    place,
    file,
    remembered,
    ...options
  }: StageOptions & ViewOptions<Name> = {},
): Stage {
  const workbench = newWorkbench({ service, file, ...(remembered && { remembered }) });
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registryOf(component as ComponentType<ViewProps>, { home: place as Place | undefined, others })}
      terminal={terminal}
    />,
    { columns: 100, rows: 30, ...options },
  );
  onTestFinished(() => {
    screen.close();
    workbench.close();
  });
  return { ...screen, workbench };
}
