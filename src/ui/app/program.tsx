/** The whole screen, with the contexts it needs. */
import type { NoticeKind } from '../../config/preferences.ts';
import type { Place } from '../../resources/place.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { WorkbenchProvider } from '../data/workbench.tsx';
import type { KeyOverrides } from '../keys/key.ts';
import { KeyRouter } from '../keys/router.tsx';
import { type Theme, ThemeProvider } from '../widgets/theme/theme.tsx';
import { type Connection, ConnectionProvider, noConnection } from './connection.ts';
import { FailuresProvider, useFailures } from './failures.ts';
import type { Registry } from './registry.ts';
import { ShellScreen } from './shell.tsx';
import type { TerminalPort } from './terminal-port.ts';

interface ProgramProps {
  readonly workbench: Workbench;
  readonly theme: Theme;
  readonly registry: Registry;
  readonly terminal: TerminalPort;
  readonly overrides?: KeyOverrides;
  readonly start?: Place;
  readonly notices?: NoticeKind;
  readonly toastMs?: number;
  readonly connection?: Connection;
}

const noOverrides: KeyOverrides = {};

export function Program({
  workbench,
  theme,
  registry,
  terminal,
  overrides = noOverrides,
  start,
  notices,
  toastMs,
  connection = noConnection,
}: ProgramProps) {
  const unreported = useFailures();
  const failures = terminal.failures ?? unreported;
  return (
    <WorkbenchProvider workbench={workbench}>
      <ThemeProvider theme={theme}>
        <FailuresProvider value={failures}>
          <KeyRouter overrides={overrides} readOnly={workbench.readOnly} onFailure={failures.announce}>
            <ConnectionProvider value={connection}>
              <ShellScreen {...{ registry, terminal, start, notices, toastMs }} />
            </ConnectionProvider>
          </KeyRouter>
        </FailuresProvider>
      </ThemeProvider>
    </WorkbenchProvider>
  );
}
