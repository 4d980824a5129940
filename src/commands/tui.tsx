/** `benchtop`: the full-screen workbench. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Place } from '../resources/place.ts';
import { trajectories } from '../resources/trajectories.ts';
import { isAsciiOnly } from '../text/terminal.ts';
import { Program } from '../ui/app/program.tsx';
import { startTerminal } from '../ui/app/terminal/start-terminal.tsx';
import type { TerminalPort } from '../ui/app/terminal-port.ts';
import { registry } from '../ui/views/registry.ts';
import { type Theme, themeFor } from '../ui/widgets/theme/theme.tsx';
import type { Workbench } from '../workbench/workbench.ts';
import { CommandError } from './exit.ts';
import { keepHeapSmall } from './heap.ts';
import { type FirstService, Session, type ShownService } from './session.ts';
import { checkKeys, checkTerminal, homePlace } from './start-checks.ts';
import type { WorkbenchFlags } from './table/commands.ts';

interface RootProps {
  readonly session: Session;
  readonly terminal: TerminalPort;
  readonly theme: Theme;
  readonly start?: Place | undefined;
}

/** The views for a file, whose only section is its list. */
function ofFile(place: Place): typeof registry {
  const [name] = trajectories.names;
  const listKey = trajectories.list('scope' in place ? (place.scope ?? {}) : {}).key;
  const sections = registry.sections.filter(section => section.names[0] === name);
  return { ...registry, sections: sections.map(section => ({ ...section, place, listKey })) };
}

/** The program for the current service; another service gets a new one. */
function Root({ session, terminal, theme, start }: RootProps) {
  const shown = useSyncExternalStore(session.subscribe, () => session.shown);
  return <Screen key={shown.id} session={session} shown={shown} terminal={terminal} theme={theme} start={start} />;
}

function Screen({ session, shown, terminal, theme, start }: RootProps & { readonly shown: ShownService }) {
  const connection = useSyncExternalStore(session.subscribe, () => session.connection);
  // Views may save something while they unmount, so release their resources afterwards.
  useEffect(() => () => void setImmediate(() => void session.release(shown)), [session, shown]);
  const { keys, notices } = session.config.preferences;
  const home = homePlace(shown.config);
  const [views] = useState(() => (start && shown.workbench.file ? ofFile(start) : registry));
  return (
    <Program
      workbench={shown.workbench}
      theme={theme}
      registry={views}
      terminal={terminal}
      {...(start && shown.id === 1 ? { start } : home && { start: home })}
      overrides={keys}
      notices={notices}
      connection={connection}
    />
  );
}

/** The first response is drawn, and the next requests are sent, within this time, in milliseconds. */
const settleMs = 100;

/**
 * Calls back once the service has responded to anything. Having data does not show that, because the screen may begin
 * with remembered data.
 */
function onFirstAnswer({ cache }: Workbench, callback: () => void): void {
  const stop = cache.getQueryCache().subscribe(event => {
    if (event.type !== 'updated' || event.action.type !== 'success' || event.action.manual) return;
    stop();
    callback();
  });
}

/** Time limit for closing connections, in milliseconds. */
const closeMs = 300;

interface RunOptions {
  readonly first?: FirstService;
  /** The first place to show; the first section if missing. */
  readonly start?: Place | undefined;
}

export async function run(
  { lines: _, debug, ...flags }: WorkbenchFlags,
  { start, first }: RunOptions = {},
): Promise<number> {
  if (debug) throw new CommandError('--debug is for commands: the workbench has no place to show requests.');
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new CommandError(
      'The workbench needs a terminal for its input and its output. `benchtop --help` lists the commands that need none.',
    );
  }
  checkTerminal(process.env);
  const session = new Session(flags, process.env, first);
  const { config } = session;
  checkKeys(config);
  homePlace(config);
  onFirstAnswer(session.workbench, () => setTimeout(keepHeapSmall, settleMs).unref());
  process.on('exit', () => session.workbench.closeNow());
  const theme = themeFor(config.preferences.theme, process.env);
  const code = await startTerminal(
    terminal => <Root session={session} terminal={terminal} theme={theme} start={start} />,
    {
      onSuspend: suspended => session.workbench.setSuspended(suspended),
      mouse: config.preferences.mouse,
      ascii: isAsciiOnly(process.env),
      images: config.preferences.images,
      crashFolder: config.paths.state,
      redact: text => session.config.redact(text),
    },
  );
  // Pending work, such as a DNS lookup, must not keep the process alive.
  await Promise.race([session.close(), new Promise(resolve => setTimeout(resolve, closeMs))]);
  process.exit(code);
}
