/**
 * The shell around the views: the frame, the sections, the current view, the windows above it, and the global commands.
 */

import { Box, Text } from 'ink';
import { type Dispatch, useCallback, useEffect, useMemo, useReducer, useState } from 'react';
import { endAll } from '../../base/listeners.ts';
import type { NoticeKind } from '../../config/preferences.ts';
import { type Place, placeKey } from '../../resources/place.ts';
import { hasLooked } from '../../resources/rotation.ts';
import { isBusy } from '../../resources/watch.ts';
import { useFile, useSetting, useWorkbench } from '../data/workbench.tsx';
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
import { frameLines, type HiddenPanes, type Layout, layoutOf, smallest } from './layout.ts';
import { lazyWindow } from './lazy.tsx';
import { leaveOrAsk } from './leave.tsx';
import { MissingView } from './missing-view.tsx';
import { BackgroundPolling, useNotices } from './notices.tsx';
import { findView, type Registry, type ViewDefinition } from './registry.ts';
import { Sections } from './sections.tsx';
import { type Overlay, type Shell, ShellProvider, type Toast } from './shell-context.tsx';
import { currentPlace, initialShellState, type ShellAction, shellReducer } from './shell-state.ts';
import type { TerminalPort } from './terminal-port.ts';
import { useTerminalSize } from './terminal-size.ts';
import { NoticeLogContext, useToasts } from './toasts.ts';

interface ShellProps {
  readonly registry: Registry;
  readonly terminal: TerminalPort;
  /** Where the program opens, if not at home. */
  readonly start?: Place | undefined;
  /** How to announce the end of watched work. */
  readonly notices?: NoticeKind | undefined;
  /** See {@link useToasts}. */
  readonly toastMs?: number | undefined;
}

const ConnectWindow = lazyWindow(async () => (await import('./connect-window.tsx')).ConnectWindow);
const HelpOverlay = lazyWindow(async () => (await import('./help.tsx')).HelpOverlay);
const ToastsWindow = lazyWindow(async () => (await import('./toasts-window.tsx')).ToastsWindow);
const PaletteOverlay = lazyWindow(async () => (await import('./palette.tsx')).PaletteOverlay);

/** Name of the setting that records that the welcome was shown. */
const welcomedSetting = 'welcomed';
const welcome = (connectKey: string): Toast => ({
  kind: 'info',
  text: `This is the local service, with small models of its own. ${connectKey} connects to another service`,
  short: `Local service; ${connectKey} connects to another`,
  news: true,
});

/** The part of the shell that does not change between renders. */
type StableShell = Omit<Shell, 'layout' | 'sections' | 'foot' | 'focus' | 'canGoBack'>;

/** Shown once, and only if no service is configured: the user may not know that this is the local service. */
function useWelcome(): Toast | undefined {
  const { remembered } = useWorkbench();
  const { keyOf } = useRouter();
  const { isLocal } = useConnection();
  const [toast] = useState(() =>
    isLocal && remembered.setting(welcomedSetting) !== true ? welcome(keyOf(globalCommands.connect)) : undefined,
  );
  useEffect(() => {
    if (toast) remembered.setSetting(welcomedSetting, true);
  }, [toast, remembered]);
  return toast;
}

/** Shows events from anywhere in the program as toasts. */
function useEventToasts(showToast: Shell['toast']): void {
  const { remembered } = useWorkbench();
  const { onRefused } = useRouter();
  const connection = useConnection();
  const failures = useFailures();
  const [warned] = connection.warnings;
  useEffect(() => {
    const warning = warned ?? remembered.file.problem ?? remembered.file.setAside;
    if (warning !== undefined) showToast({ kind: 'warning', text: warning, news: true });
  }, [warned, remembered, showToast]);
  const unread = useFile('problem');
  useEffect(() => {
    if (unread !== undefined) showToast({ kind: 'warning', text: unread, news: true });
  }, [unread, showToast]);
  useEffect(
    () => remembered.file.onProblem(problem => showToast({ kind: 'warning', text: problem, news: true })),
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
      onRefused(({ command: { title }, why, isNumber = false }) => {
        if (isNumber) return showToast({ kind: 'info', text: 'This is a row number: G goes to that row' });
        return showToast({
          kind: why === undefined ? 'warning' : 'info',
          text: why === undefined ? `Read-only: cannot ${title}` : `Disabled: ${title}. ${why}`,
          short: why ?? 'Disabled: read-only',
        });
      }),
    [onRefused, showToast],
  );
}

interface GlobalBindingsContext {
  readonly focus: Shell['focus'];
  readonly dispatch: Dispatch<ShellAction>;
  readonly shell: StableShell;
  readonly hasInspector: boolean;
  readonly togglePane: (pane: keyof HiddenPanes) => void;
}

/** The panes on screen, except the ones that the user or the view hides. */
function useLayout(view: ViewDefinition | undefined, focus: Shell['focus'], dispatch: Dispatch<ShellAction>) {
  const { columns, rows } = useTerminalSize();
  const everywhere = useSetting<HiddenPanes>('hidden panes', {});
  const reading = useSetting<HiddenPanes>('hidden panes while reading', {});
  const [chosen, keep] = view?.sidesFrom === undefined ? everywhere : reading;
  const isNarrow = columns < (view?.sidesFrom ?? 0);
  const hidden: HiddenPanes = {
    inspector: chosen.inspector ?? (isNarrow || columns < (view?.inspectorFrom ?? 0)),
    sections: chosen.sections ?? isNarrow,
  };
  const layoutWith = (focused: Shell['focus'], without: HiddenPanes): Layout | undefined =>
    layoutOf(columns, rows, focused, view?.hasInspector ?? true, without);
  const layout = layoutWith(focus, hidden);
  const togglePane = (pane: keyof HiddenPanes): void => {
    const isShown = layout?.panes[pane] !== undefined && hidden[pane] !== true;
    keep({ ...chosen, [pane]: isShown });
    // If it does not fit beside the others, focusing shows it.
    if (isShown) dispatch({ kind: 'focus', pane: 'main' });
    else if (layoutWith('main', { ...hidden, [pane]: false })?.panes[pane] === undefined)
      dispatch({ kind: 'focus', pane });
  };
  return { layout, togglePane };
}

/** The keys that work in every view. */
function useGlobalBindings(
  registry: Registry,
  { focus, dispatch, shell, hasInspector, togglePane }: GlobalBindingsContext,
): readonly Binding[] {
  const workbench = useWorkbench();
  const keyOf = useKeyOf();
  const { navigate, terminal } = shell;
  return [
    { command: globalCommands.left, run: () => dispatch({ kind: 'move-focus', direction: -1, hasInspector }) },
    { command: globalCommands.right, run: () => dispatch({ kind: 'move-focus', direction: 1, hasInspector }) },
    { command: globalCommands.facts, enabled: hasInspector, run: () => togglePane('inspector') },
    { command: globalCommands.sections, run: () => togglePane('sections') },
    {
      command: globalCommands.back,
      run: () => (focus === 'inspector' ? dispatch({ kind: 'focus', pane: 'main' }) : navigate({ kind: 'up' })),
    },
    { command: globalCommands.last, run: () => navigate({ kind: 'last' }) },
    { command: globalCommands.historyBack, run: () => navigate({ kind: 'back' }) },
    { command: globalCommands.historyForward, run: () => navigate({ kind: 'forward' }) },
    {
      command: globalCommands.palette,
      run: () => shell.showOverlay('palette', close => <PaletteOverlay registry={registry} onClose={close} />),
    },
    { command: globalCommands.help, run: shell.showHelp },
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
    { command: globalCommands.inbox, run: () => shell.open({ view: 'inbox' }) },
    {
      command: globalCommands.notices,
      run: () => shell.showOverlay('notices', close => <ToastsWindow onClose={close} />),
    },
    { command: globalCommands.repaint, run: terminal.repaint },
    { command: globalCommands.suspend, run: terminal.suspend },
    {
      command: globalCommands.connect,
      run: () => shell.showOverlay('connect', close => <ConnectWindow onClose={close} />),
    },
    {
      command: globalCommands.quit,
      run: () => leaveOrAsk(workbench.unfinishedWork(), shell, 'quit', () => terminal.quit()),
    },
  ];
}

/** The part of the shell that is the same object in every render. */
function useStableShell(
  registry: Registry,
  terminal: TerminalPort,
  dispatch: Dispatch<ShellAction>,
  toast: StableShell['toast'],
  showOverlay: StableShell['showOverlay'],
): StableShell {
  return useMemo(() => {
    const navigate = (action: HistoryAction): void => dispatch({ kind: 'navigate', action });
    return {
      navigate,
      open: place => navigate({ kind: 'open', place }),
      setFocus: pane => dispatch({ kind: 'focus', pane }),
      toast,
      showOverlay,
      showHelp: () => showOverlay('help', hide => <HelpOverlay registry={registry} onClose={hide} />),
      terminal,
    };
  }, [registry, terminal, dispatch, toast, showOverlay]);
}

/** The windows above the view, the last one opened on top. */
function useOverlays() {
  const [overlays, setOverlays] = useState<readonly Overlay[]>([]);
  const show = useCallback(
    (id: string, render: Overlay['render']) =>
      setOverlays(shown => [...shown.filter(each => each.id !== id), { id, render }]),
    [],
  );
  const close = useCallback((id: string) => setOverlays(shown => shown.filter(overlay => overlay.id !== id)), []);
  return { overlays, show, close };
}

/**
 * The terminals on which the user has pressed a key or opened a place, here or in an earlier shell for another service.
 */
const inUse = new WeakSet<TerminalPort>();

/**
 * Goes to `busyHome` if the first round of polls finds that the program is busy, unless the user chose where to open or
 * has already pressed a key. Work that starts later does not change the view.
 */
function useBusyHome(
  { busyHome }: Registry,
  terminal: TerminalPort,
  isAtHome: boolean,
  dispatch: Dispatch<ShellAction>,
): void {
  const workbench = useWorkbench();
  const { onPress } = useRouter();
  useEffect(() => {
    if (!isAtHome) inUse.add(terminal);
    if (!busyHome || inUse.has(terminal)) return undefined;
    return endAll([
      workbench.statuses.subscribe(() => {
        if (hasLooked(workbench) || !isBusy(workbench) || inUse.has(terminal)) return;
        dispatch({ kind: 'navigate', action: { kind: 'go', trail: [busyHome] } });
      }),
      onPress(() => void inUse.add(terminal)),
    ]);
  }, [workbench, terminal, onPress, isAtHome, busyHome, dispatch]);
}

export function ShellScreen({ registry, terminal, start, notices = 'off', toastMs }: ShellProps) {
  const workbench = useWorkbench();
  const [state, dispatch] = useReducer(shellReducer, undefined, () =>
    initialShellState(
      start ?? (isBusy(workbench) ? (registry.busyHome ?? registry.home) : registry.home),
      registry.sections.map(({ place }) => place),
    ),
  );
  const { overlays, show, close } = useOverlays();
  const [memory] = useState(() => new Memory());
  const failures = useFailures();
  const place = currentPlace(state);
  useBusyHome(registry, terminal, start === undefined && placeKey(place) === placeKey(registry.home), dispatch);
  const { shown: toast, log, say, keep } = useToasts(placeKey(place), overlays.length, useWelcome(), toastMs);
  useEventToasts(say);
  useNotices(notices, terminal, say, place);
  const connectionNotice = useConnectionNotice({ say, keep });
  const view = findView(registry, place);
  const hasInspector = view?.hasInspector ?? true;
  const { layout, togglePane } = useLayout(view, state.focus, dispatch);
  const shell = useStableShell(registry, terminal, dispatch, say, show);
  const { sections } = layout?.panes ?? {};
  return (
    <KeyScope bindings={useGlobalBindings(registry, { focus: state.focus, dispatch, shell, hasInspector, togglePane })}>
      <BackgroundPolling counted={sections !== undefined} atHome={start === undefined} />
      {layout ? (
        <MouseProvider source={terminal.mouse} blocked={overlays.length > 0} onFailure={failures.announce}>
          <ShellProvider
            value={{
              ...shell,
              ...{ layout, focus: state.focus, canGoBack: canLeave(state.history) },
              sections: sections ? (
                <Sections registry={registry} size={sections} state={state} dispatch={dispatch} />
              ) : null,
              foot: (
                <Footer
                  {...{ layout, registry }}
                  trail={state.history.present}
                  toast={connectionNotice ?? toast}
                  isWindow={overlays.length > 0}
                />
              ),
            }}
          >
            <CurrentView registry={registry} place={place} memory={memory} />
            <NoticeLogContext value={log}>
              <Overlays overlays={overlays} layout={layout} onClose={close} />
            </NoticeLogContext>
          </ShellProvider>
        </MouseProvider>
      ) : (
        <TooSmall />
      )}
    </KeyScope>
  );
}

function CurrentView({ registry, place, memory }: { registry: Registry; place: Place; memory: Memory }) {
  const view = findView(registry, place);
  return (
    <MemoryProvider memory={memory} place={placeKey(place)}>
      <ViewBoundary key={placeKey(place)}>
        {view ? <view.component place={place} /> : <MissingView place={place} home={registry.home} />}
      </ViewBoundary>
    </MemoryProvider>
  );
}

interface OverlaysProps {
  readonly overlays: readonly Overlay[];
  readonly layout: Layout;
  readonly onClose: (id: string) => void;
}

function Overlays({ overlays, layout: { columns, rows }, onClose }: OverlaysProps) {
  return overlays.map(overlay => (
    <Box
      key={overlay.id}
      position="absolute"
      marginTop={1}
      width={columns}
      height={rows - frameLines}
      justifyContent="center"
      alignItems="center"
    >
      <WindowBoundary overlay={overlay} onClose={onClose} />
    </Box>
  ));
}

function TooSmall() {
  const { columns, rows } = useTerminalSize();
  const keyOf = useKeyOf();
  const message = `benchtop needs ${smallest.columns}×${smallest.rows} cells; this terminal has ${columns}×${rows}. Make it larger, or press ${keyOf(globalCommands.quit)} to quit.`;
  return (
    <Box width={columns} height={rows} overflow="hidden">
      <Text wrap="wrap">{message}</Text>
    </Box>
  );
}
