/** The lines below the panes: a rule, then crumbs and hints or a message, then the border. */
import { Box, Text } from 'ink';
import { useCallback, useSyncExternalStore } from 'react';
import { resourceNamed } from '../../resources/catalogue.ts';
import type { Place } from '../../resources/place.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { displayWidth, truncate } from '../../text/width.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { globalCommands } from '../keys/general.ts';
import { keyLabel } from '../keys/key.ts';
import { type Offer, useOffered } from '../keys/router.tsx';
import { type Theme, useTheme } from '../widgets/theme/theme.tsx';
import { bottomLine, footerLine, type Hint, hintsFor, mainHintsWidth, ruleLine, trailRoom } from './frame-lines.ts';
import type { Layout } from './layout.ts';
import { crumbOf, type Registry } from './registry.ts';
import { type Toast, toastMarks } from './shell-context.tsx';
import { isKept } from './toasts.ts';

interface FooterProps {
  readonly layout: Layout;
  readonly registry: Registry;
  /** From the section down to the current place. */
  readonly trail: readonly Place[];
  readonly toast: Toast | undefined;
  /** Whether a window is open: a notice must not cover its keys. */
  readonly isWindow: boolean;
}

/** Adds the name of a record opened by id, once it is known. */
function withName({ statuses }: Workbench, place: Place): Place {
  if (place.view !== 'record' || (place.label ?? place.id) !== place.id) return place;
  const { id, resource } = place;
  const label = statuses.get({ kind: resourceNamed(resource)?.kind ?? '', id })?.label;
  return label === undefined ? place : { ...place, label };
}

function useCrumbs(registry: Registry, trail: readonly Place[], columns: number): readonly string[] {
  const workbench = useWorkbench();
  const room = trailRoom(columns);
  const read = useCallback(
    () => trail.map(place => sanitiseLine(crumbOf(registry, withName(workbench, place), room))).join('\n'),
    [workbench, registry, trail, room],
  );
  return useSyncExternalStore(workbench.statuses.subscribe, read).split('\n');
}

export function Footer({ layout, registry, trail, toast, isWindow }: FooterProps) {
  const { columns } = layout;
  const theme = useTheme();
  const offered = useOffered();
  const crumbs = useCrumbs(registry, trail, columns);
  const line = toast
    ? toastLine(columns, toast, offered, theme, isWindow)
    : footerLine(columns, crumbs, offered, theme);
  return (
    <Box flexDirection="column" flexShrink={0}>
      <Text wrap="truncate">{ruleLine(layout, theme)}</Text>
      <Text wrap="truncate">{line}</Text>
      <Text wrap="truncate">{bottomLine(columns, theme)}</Text>
    </Box>
  );
}

/** Columns reserved for the main keys. */
const roomForHints = 24;

/** A message as a line, with hints if there is room; a truncated message gets the key that shows the rest. */
export function toastLine(
  columns: number,
  toast: Toast,
  offered: readonly Offer[],
  { styles, glyphs }: Theme,
  isWindow = false,
): string {
  const { kind, text: long, tail = '', short = long } = toast;
  const whole = columns - 6;
  // A window's main keys come first, then the notice, then its other keys.
  const rest = whole - displayWidth(long) - displayWidth(tail);
  const kept = isWindow
    ? hintsFor(offered, Math.min(whole - minTextWidth, Math.max(rest, mainHintsWidth(offered))))
    : [];
  const room = whole - widthOf(kept);
  const text = displayWidth(long) + (isWindow ? 0 : roomForHints) <= room ? long : short;
  const isCut = displayWidth(text) + displayWidth(tail) > room;
  const again = isCut && !isWindow && isKept(toast) ? offered.find(isNotices)?.keys[0] : undefined;
  const wordRoom = room - (again === undefined ? 0 : displayWidth(`  <${keyLabel(again)}> more`));
  const end = truncate(tail, wordRoom - 2, { position: 'start' });
  const shown = `${truncate(text, wordRoom - displayWidth(end))}${end}`;
  const free = whole - displayWidth(shown);
  const hints = isWindow
    ? kept
    : again === undefined
      ? hintsFor(offered, free - 2)
      : [{ key: keyLabel(again), word: 'more' }];
  const hintWidth = widthOf(hints);
  const keys = hints.map(({ key, word }) => `  ${styles.key(`<${key}>`)} ${styles.muted(word)}`).join('');
  const border = styles.border(glyphs.vertical);
  const gap = ' '.repeat(Math.max(0, free - hintWidth));
  return `${border} ${styles[kind](`${glyphs[toastMarks[kind]]} ${shown}`)}${gap}${keys} ${border}`;
}

/** A message in fewer columns would be useless. */
const minTextWidth = 12;

const widthOf = (hints: readonly Pick<Hint, 'key' | 'word'>[]): number =>
  hints.reduce((sum, { key, word }) => sum + displayWidth(`  <${key}> ${word}`), 0);

const isNotices = ({ binding }: Offer): boolean => binding.command.id === globalCommands.notices.id;
