/** The program around the views: frame, sections, the current view, windows above it, and the global commands. */
import { Box, Text, useWindowSize } from 'ink';
import { type Dispatch, useCallback, useEffect, useMemo, useReducer, useState } from 'react';
import type { NoticeKind } from '../../config/preferences.ts';
import { useWorkbench } from '../../queries/workbench.tsx';
import { type Place, placeKey } from '../../resources/place.ts';
import { globalCommands, recordCommands } from '../keys/general.ts';
import { MouseProvider } from '../keys/mouse-regions.tsx';
import { type Binding, KeyScope, useKeyOf, useRouter } from '../keys/router.tsx';
import { canLeave, type HistoryAction } from '../navigation/history.ts';
import { Memory, MemoryProvider } from '../navigation/memory.tsx';
import { useConnection } from './connection.ts';
import { useConnectionNotice } from './connection-notice.ts';
import { ViewBoundary, WindowBoundary } from './failure-boundary.tsx';
import { useFailures } from './failures.ts';
import { Footer } from './footer.tsx';
import { frameLines, layoutOf, smallest } from './layout.ts';
import { lazyWindow } from './lazy.tsx';
import { leaveOrAsk } from './leave.tsx';
import { MissingView } from './missing-view.tsx';
import { BackgroundWatch, useJobNotices, useNotices } from './notices.tsx';
import { findView, type Registry } from './registry.ts';
import { Sections } from './sections.tsx';
import { type Overlay, type Shell, ShellProvider, type Toast } from './shell-context.tsx';
import { currentPlace, initialShellState, type ShellAction, sectionOf, shellReducer } from './shell-state.ts';
import type { TerminalPort } from './terminal-port.ts';
import { SaidContext, useToasts } from './toasts.ts';

export interface ShellProps {
  readonly registry: Registry;
  readonly terminal: TerminalPort;
  /** Where the program opens, if not at home. */
  readonly start?: Place;
  /** How the end of watched work is announced. */
  readonly notices?: NoticeKind;
}

const ConnectWindow = lazyWindow(async () => (await import('./connect-window.tsx')).ConnectWindow);
const HelpOverlay = lazyWindow(async () => (await import('./help.tsx')).HelpOverlay);
const ToastsWindow = lazyWindow(async () => (await import('./toasts-window.tsx')).ToastsWindow);
const PaletteOverlay = lazyWindow(async () => (await import('./palette.tsx')).PaletteOverlay);

/** Name of the setting that records that the welcome was shown. */
const welcomed = 'welcomed';
const welcome = (connectKey: string): Toast => ({
  kind: 'info',
  text: `This is the local service, with small models of its own. ${connectKey} connects to another service`,
  short: `Local service; ${connectKey} connects to another`,
  news: true,
});

/** The part of the shell that stays the same from drawing to drawing. */
type StableShell = Omit<Shell, 'layout' | 'sections' | 'foot' | 'focus' | 'canGoBack'>;

/** What happens anywhere in the program, in words. */
function useEventToasts(showToast: Shell['toast']): void {
  const { remembered } = useWorkbench();
  const { onRefused, keyOf } = useRouter();
  const connection = useConnection();
  const failures = useFailures();
  // Shown once, and only if no service was configured: what this is, and how to connect to another.
  useEffect(() => {
    if (!connection.isLocal || remembered.setting(welcomed) === true) return;
    remembered.setSetting(welcomed, true);
    showToast(welcome(keyOf(globalCommands.connect)));
  }, [connection.isLocal, remembered, showToast, keyOf]);
  useEffect(() => {
    const [warning = remembered.problem] = connection.warnings;
    if (warning !== undefined) showToast({ kind: 'warning', text: warning, news: true });
  }, [connection.warnings, remembered, showToast]);
  useEffect(
    () => remembered.onProblem(problem => showToast({ kind: 'warning', text: problem, news: true })),
    [remembered, showToast],
  );

  useEffect(
    () =>
      failures.subscribe(({ words, report }) =>
        showToast({
          kind: 'danger',
          news: true,
          text: `Failed: ${words}.`,
          tail: ` ${report === undefined ? 'No report could be written' : `Report: ${report}`}`,
        }),
      ),
    [failures, showToast],
  );

  useEffect(
    () =>
      onRefused(({ command: { title }, why }) =>
        showToast({
          kind: why === undefined ? 'warning' : 'info',
          text: `${why ?? 'Read-only'}: “${title}” is turned off`,
          short: why ?? 'Turned off: read-only',
        }),
      ),
    [onRefused, showToast],
  );
}

interface GlobalBindingsContext {
  readonly focus: Shell['focus'];
  readonly dispatch: Dispatch<ShellAction>;
  readonly shell: StableShell;
  readonly hasInspector: boolean;
}

/** The keys that work in every view. */
function useGlobalBindings(
  registry: Registry,
  { focus, dispatch, shell, hasInspector }: GlobalBindingsContext,
): readonly Binding[] {
  const workbench = useWorkbench();
  const keyOf = useKeyOf();
  const { navigate, terminal } = shell;
  return [
    { command: globalCommands.left, run: () => dispatch({ kind: 'move-focus', direction: -1, hasInspector }) },
    { command: globalCommands.right, run: () => dispatch({ kind: 'move-focus', direction: 1, hasInspector }) },
    {
      command: globalCommands.back,
      run: () => (focus === 'inspector' ? dispatch({ kind: 'focus', pane: 'main' }) : navigate({ kind: 'up' })),
    },
    { command: globalCommands.last, run: () => navigate({ kind: 'last' }) },
    { command: globalCommands.historyBack, run: () => navigate({ kind: 'back' }) },
    { command: globalCommands.historyForward, run: () => navigate({ kind: 'forward' }) },
    {
      command: globalCommands.palette,
      run: () =>
        shell.showOverlay({ id: 'palette', render: close => <PaletteOverlay registry={registry} onClose={close} /> }),
    },
    {
      command: globalCommands.help,
      run: () =>
        shell.showOverlay({ id: 'help', render: close => <HelpOverlay registry={registry} onClose={close} /> }),
    },
    {
      command: globalCommands.pause,
      run: () => {
        workbench.setPaused(!workbench.paused);
        shell.toast({
          kind: 'info',
          text: workbench.paused
            ? `Polling is paused; ${keyOf(recordCommands.refresh)} refreshes, ${keyOf(globalCommands.pause)} resumes`
            : 'Polling resumed',
        });
      },
    },
    {
      command: globalCommands.notices,
      run: () => shell.showOverlay({ id: 'notices', render: close => <ToastsWindow onClose={close} /> }),
    },
    { command: globalCommands.repaint, run: terminal.repaint },
    { command: globalCommands.suspend, run: terminal.suspend },
    {
      command: globalCommands.connect,
      run: () => shell.showOverlay({ id: 'connect', render: close => <ConnectWindow onClose={close} /> }),
    },
    {
      command: globalCommands.quit,
      run: () => leaveOrAsk(workbench.unfinishedWork(), shell, 'quit', () => terminal.quit()),
    },
  ];
}

export function ShellScreen({ registry, terminal, start, notices = 'off' }: ShellProps) {
  const { columns, rows } = useWindowSize();
  const { sections } = registry;
  const [state, dispatch] = useReducer(shellReducer, undefined, () =>
    initialShellState(
      start ?? registry.home,
      sections.map(({ place }) => place),
    ),
  );
  const [overlays, setOverlays] = useState<readonly Overlay[]>([]);
  const [memory] = useState(() => new Memory());
  const failures = useFailures();

  const place = currentPlace(state);
  const { shown: toast, said, say: showToast, keep } = useToasts(placeKey(place), overlays.length);
  useEventToasts(showToast);
  const navigate = useCallback((action: HistoryAction) => dispatch({ kind: 'navigate', action }), []);
  useNotices(notices, terminal, showToast);
  useJobNotices(notices, terminal, showToast, place);
  const connectionNotice = useConnectionNotice({ say: showToast, keep });
  const view = findView(registry, place);
  const hasInspector = view?.hasInspector ?? true;
  const layout = layoutOf(columns, rows, state.focus, hasInspector);
  const closeOverlay = useCallback(
    (id: string) => setOverlays(shown => shown.filter(overlay => overlay.id !== id)),
    [],
  );
  const shell = useMemo<StableShell>(
    () => ({
      navigate,
      open: target => navigate({ kind: 'open', place: target }),
      setFocus: pane => dispatch({ kind: 'focus', pane }),
      toast: showToast,
      showOverlay: overlay => setOverlays(shown => [...shown.filter(({ id }) => id !== overlay.id), overlay]),
      terminal,
    }),
    [navigate, terminal, showToast],
  );

  return (
    <KeyScope bindings={useGlobalBindings(registry, { focus: state.focus, dispatch, shell, hasInspector })}>
      <BackgroundWatch counted={layout?.panes.sections !== undefined} />
      {layout ? (
        <MouseProvider source={terminal.mouse} blocked={overlays.length > 0} onFailure={failures.announce}>
          <ShellProvider
            value={{
              ...shell,
              layout,
              focus: state.focus,
              canGoBack: canLeave(state.history),
              sections: layout.panes.sections ? (
                <Sections
                  sections={sections}
                  size={layout.panes.sections}
                  focused={state.focus === 'sections'}
                  cursor={state.section}
                  shown={sectionOf(state)}
                  dispatch={dispatch}
                />
              ) : null,
              foot: (
                <Footer
                  columns={columns}
                  layout={layout}
                  registry={registry}
                  trail={state.history.present.trail}
                  toast={connectionNotice ?? toast}
                />
              ),
            }}
          >
            <MemoryProvider memory={memory} place={placeKey(place)}>
              <ViewBoundary key={placeKey(place)}>
                {view ? <view.component place={place} /> : <MissingView place={place} home={registry.home} />}
              </ViewBoundary>
            </MemoryProvider>
            <SaidContext value={said}>
              {overlays.map(overlay => (
                <Box
                  key={overlay.id}
                  position="absolute"
                  marginTop={1}
                  width={columns}
                  height={rows - frameLines}
                  justifyContent="center"
                  alignItems="center"
                >
                  <WindowBoundary overlay={overlay} onClose={closeOverlay} />
                </Box>
              ))}
            </SaidContext>
          </ShellProvider>
        </MouseProvider>
      ) : (
        <TooSmall columns={columns} rows={rows} />
      )}
    </KeyScope>
  );
}

function TooSmall({ columns, rows }: { columns: number; rows: number }) {
  const keyOf = useKeyOf();
  const message = `benchtop needs ${smallest.columns}×${smallest.rows} cells; this terminal has ${columns}×${rows}. Make it larger, or press ${keyOf(globalCommands.quit)}.`;
  return (
    <Box width={columns} height={rows} overflow="hidden">
      <Text wrap="wrap">{message}</Text>
    </Box>
  );
}
