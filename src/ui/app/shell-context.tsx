/** The shell's interface for views: navigation, messages, windows. */
import { createContext, type ReactNode, useContext } from 'react';
import type { Place } from '../../resources/place.ts';
import type { HistoryAction } from '../navigation/history.ts';
import { windowMargin } from '../widgets/window.tsx';
import { type Layout, type PaneName, type Size, windowRoom } from './layout.ts';
import type { TerminalPort } from './terminal-port.ts';

export type ToastKind = 'info' | 'success' | 'warning' | 'danger';

export interface Toast {
  readonly kind: ToastKind;
  /** One line; sanitised when shown. */
  readonly text: string;
  /** Follows the text, and takes precedence if there is no room for both, e.g. a path. */
  readonly tail?: string | undefined;
  /** Shown instead if there is no room for the text next to the main keys. */
  readonly short?: string | undefined;
  /** News from elsewhere: it stays when the user navigates, and can be read again. */
  readonly news?: boolean;
}

/** The glyph before a notice. */
export const toastMarks = { info: 'bullet', success: 'check', warning: 'warning', danger: 'cross' } as const;

/** A window above the panes; it receives all keys until it is closed. */
export interface Overlay {
  readonly id: string;
  readonly render: (close: () => void) => ReactNode;
}

export interface Shell {
  readonly layout: Layout;
  /** The parts of the frame that every view shows. */
  readonly sections: ReactNode;
  readonly foot: ReactNode;
  readonly focus: PaneName;
  readonly navigate: (action: HistoryAction) => void;
  readonly canGoBack: boolean;
  /** Opens a place below the current one. */
  readonly open: (place: Place) => void;
  readonly setFocus: (pane: PaneName) => void;
  readonly toast: (toast: Toast) => void;
  /** Opens a window, replacing one with the same id. */
  readonly showOverlay: (id: string, render: Overlay['render']) => void;
  /** Opens help about the keys that work now. */
  readonly showHelp: () => void;
  readonly terminal: TerminalPort;
}

const ShellContext = createContext<Shell | undefined>(undefined);

export const ShellProvider = ShellContext;

export function useShell(): Shell {
  const shell = useContext(ShellContext);
  if (!shell) throw new Error('useShell needs the shell above it');
  return shell;
}

/** The largest size for a window at most `widest` columns wide, and its inner width. */
export function useWindowRoom(widest: number): Size & { readonly inner: number } {
  const room = windowRoom(useShell().layout);
  const width = Math.min(room.width, widest);
  return { width, inner: width - windowMargin.columns, height: room.height };
}
