/** Tells that something watched has come to its end, wherever the user is. */
import { useEffect, useRef } from 'react';
import { useLive } from '../../queries/use-live.ts';
import { backgroundWatch, isOver, type WatchedThing } from '../../queries/watch.ts';
import { reward } from '../../text/numbers.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { statusMeaning } from '../widgets/status.ts';
import type { Toast } from './shell-context.tsx';
import type { TerminalPort } from './terminal-port.ts';

/** How an end is told beside the line on the screen. */
export type NoticeKind = 'off' | 'bell' | 'desktop';

export interface Notice {
  readonly toast: Toast;
  /** For the desktop and the title of the window. */
  readonly words: string;
}

/** What ended between two looks. A thing that was over when it was first seen is no news. */
export function endsBetween(before: readonly WatchedThing[], after: readonly WatchedThing[]): Notice[] {
  const ran = new Set(
    before.filter(row => row.status !== undefined && !isOver(row)).map(row => `${row.kind} ${row.id}`),
  );
  return after
    .filter(row => ran.has(`${row.kind} ${row.id}`) && isOver(row))
    .map(({ label, status = '', mean }) => {
      const words = sanitiseLine(`${label} ${status}${mean === undefined ? '' : `, mean ${reward(mean)}`}`);
      const kinds = { success: 'success', failure: 'danger' } as const;
      const meaning = statusMeaning(status);
      const kind = meaning === 'success' || meaning === 'failure' ? kinds[meaning] : 'info';
      return { toast: { kind, text: words }, words };
    });
}

/**
 * The bytes that tell it: the bell, or a desktop notice by OSC 9 (iTerm2, Windows Terminal, kitty) and OSC 777 (rxvt, foot,
 * VTE), and in either case the title of the window. Terminals leave out what they do not know.
 */
export function noticeSequence(words: string, kind: NoticeKind): string {
  if (kind === 'off') return '';
  const plain = words.replaceAll(';', ',');
  const title = `\u001b]2;benchtop: ${plain}\u0007`;
  return kind === 'bell'
    ? `\u0007${title}`
    : `\u001b]9;${plain}\u0007\u001b]777;notify;benchtop;${plain}\u0007${title}`;
}

/** Looks after what runs in the background; gives how many things still do. */
export function useNotices(kind: NoticeKind, terminal: TerminalPort, toast: (toast: Toast) => void): number {
  const { data = [] } = useLive(backgroundWatch, 'visible');
  const before = useRef<readonly WatchedThing[]>([]);
  useEffect(() => {
    const notices = endsBetween(before.current, data);
    before.current = data;
    for (const notice of notices) {
      toast(notice.toast);
      const sequence = noticeSequence(notice.words, kind);
      if (sequence !== '') terminal.writeRaw(sequence);
    }
  }, [data, kind, terminal, toast]);
  return data.filter(row => row.status !== undefined && !isOver(row)).length;
}
