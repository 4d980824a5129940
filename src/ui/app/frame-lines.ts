/** The lines around the panes: plain text in, styled text out. Pure. */

import { type HintRank, hintRanks } from '../../present/command.ts';
import { type Freshness, freshnessAt, overdueIntervals } from '../../queries/freshness.ts';
import { count, percent } from '../../text/numbers.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { age, duration } from '../../text/time.ts';
import { truncate, displayWidth as width } from '../../text/width.ts';
import type { Export } from '../../workbench/exports.ts';
import type { AnyJob } from '../../workbench/jobs.ts';
import { keyLabel } from '../keys/key.ts';
import type { Offer } from '../keys/router.tsx';
import type { Theme } from '../widgets/theme/theme.tsx';
import type { Layout } from './layout.ts';

/** How long ago the data was read; empty if there is none. */
const formatReadAge = (at: number | undefined, now: number): string =>
  at === undefined ? '' : `read ${age(now - at)} ago`;

/** Time until the next attempt, at least a second, or `retrying` once it is due. */
export function formatRetryTime(at: number | undefined, now: number): string {
  if (at === undefined) return '';
  return at <= now ? 'retrying' : `retry in ${age(Math.max(1_000, at - now))}`;
}

/** The wait that the service asks for, if benchtop will retry sooner; otherwise empty. */
export const describeRequestedWait = (until: number | undefined, now: number): string =>
  until === undefined ? '' : `the service asks to wait ${age(until - now)}`;

const joinParts = (...words: readonly string[]): string => words.filter(Boolean).join(', ');

/** The age of the oldest row is rounded up to a multiple of this, so that it seldom changes; milliseconds. */
const ageStepMs = 10_000;

/** The poll interval, or the age of the oldest row if it is older than that. */
function describeLive(
  { intervalMs, oldestAt }: Extract<Freshness, { kind: 'fresh' }>,
  now: number,
  [read, rows]: readonly [string, string] = ['', ''],
): string {
  if (intervalMs === undefined) return 'final';
  const oldMs = now - (oldestAt ?? now);
  if (oldMs <= overdueIntervals * intervalMs) return `live, ${read}every ${duration(intervalMs)}`;
  return `live, ${rows}up to ${age(Math.ceil(oldMs / ageStepMs) * ageStepMs)} old`;
}

/**
 * The main pane's freshness in words: its age and the time of the next poll. Normally shows only the poll interval: an
 * age would change, and be sent to the terminal, every second.
 */
export function describeFreshness(freshness: Freshness, now: number): string {
  const state = freshnessAt(freshness, now);
  switch (state.kind) {
    case 'loading':
      return 'loading';
    case 'fresh':
      return describeLive(state, now, ['read ', 'rows ']);
    case 'stale':
      return joinParts('stale', formatReadAge(state.at, now));
    case 'failing':
      return joinParts('failing', formatReadAge(state.at, now), formatRetryTime(state.retryAt, now));
    case 'limited':
      return joinParts(
        'rate limited',
        describeRequestedWait(state.requestedUntil, now),
        formatReadAge(state.at, now),
        formatRetryTime(state.until, now),
      );
    case 'paused':
      return joinParts('paused', formatReadAge(state.at, now));
    case 'gone':
      return state.at === undefined ? 'not found' : joinParts('deleted', formatReadAge(state.at, now));
    case 'unlisted':
      return state.at ? `not listed, seen ${age(now - state.at)} ago` : 'not listed';
  }
}

/** A shorter version: only the most important part. */
export function describeFreshnessShort(freshness: Freshness, now: number): string {
  const state = freshnessAt(freshness, now);
  switch (state.kind) {
    case 'fresh':
      return describeLive(state, now);
    case 'failing':
      return joinParts('failing', formatRetryTime(state.retryAt, now) || formatReadAge(state.at, now));
    case 'limited':
      return joinParts('rate limited', formatRetryTime(state.until, now));
    default:
      return describeFreshness(freshness, now);
  }
}

/** The progress of running exports; empty if there are none. */
export function describeExports(exports: readonly Export[]): string {
  if (exports.length === 0) return '';
  const rows = count(exports.reduce((sum, each) => sum + each.rows, 0));
  return `${exports.length === 1 ? 'exporting' : `${exports.length} exports`}, ${rows} read`;
}

/** Maximum columns for an upload's name in the frame. */
const uploadNameWidth = 24;

/** The progress of running uploads; empty if there are none. Omits the name if there is little room. */
export function describeUploads(jobs: readonly AnyJob[], short = false): string {
  const [first, ...others] = jobs.filter(({ busy }) => busy);
  if (!first) return '';
  const share = [first, ...others].reduce((sum, each) => sum + each.share, 0) / (others.length + 1);
  // Whole percentages, because each change redraws the frame.
  const done = percent(Math.floor(share * 100) / 100);
  if (others.length > 0) return `${others.length + 1} uploads, ${done}`;
  return ['uploading', short ? '' : truncate(sanitiseLine(first.label), uploadNameWidth), done]
    .filter(Boolean)
    .join(' ');
}

/** The styled glyph for the freshness; the words mean the same. */
export function freshnessMark(freshness: Freshness, now: number, { styles, glyphs }: Theme): string {
  const state = freshnessAt(freshness, now);
  const marks = {
    loading: styles.muted(glyphs.circle),
    fresh: styles.success(glyphs.dot),
    stale: styles.warning(glyphs.circle),
    failing: styles.danger(glyphs.cross),
    limited: styles.warning(glyphs.pause),
    paused: styles.warning(glyphs.pause),
    gone: styles.danger(glyphs.cross),
    unlisted: styles.muted(glyphs.bullet),
  } as const;
  return marks[state.kind];
}

/**
 * A border line as wide as the terminal, with a title on the left and words on the right: the longest words that leave
 * room for the longest title, otherwise the last words and the first title that fits.
 */
export function titleLine(
  columns: number,
  titles: readonly string[],
  words: readonly string[],
  rightMark: string,
  theme: Theme,
): string {
  const { styles, glyphs } = theme;
  const room = columns - 4;
  const [longest = ''] = titles;
  const right = words.find(each => width(longest) + width(each) + 7 <= room) ?? words.at(-1) ?? '';
  // A view that reports no freshness has no mark.
  const rightText = right === '' ? '' : ` ${rightMark === '' ? '' : `${rightMark} `}${right} `;
  const rightWidth = right === '' ? 0 : width(right) + (rightMark === '' ? 2 : 4);
  const shownRight = rightWidth < room - 12 ? rightText : '';
  const titleRoom = room - (shownRight === '' ? 0 : rightWidth) - 3;
  const title = titles.find(each => width(each) <= titleRoom) ?? titles.at(-1) ?? '';
  const shownTitle = truncate(title, titleRoom);
  const fill = room - width(shownTitle) - 2 - (shownRight === '' ? 0 : rightWidth);
  return (
    styles.border(`${glyphs.topLeft}${glyphs.horizontal}`) +
    styles.title(` ${shownTitle} `) +
    styles.border(glyphs.horizontal.repeat(Math.max(0, fill))) +
    shownRight +
    styles.border(`${glyphs.horizontal}${glyphs.topRight}`)
  );
}

/** The rule below the panes, with a junction under each separator. */
export function ruleLine(layout: Layout, { styles, glyphs }: Theme): string {
  const widths = Object.values(layout.panes).map(pane => pane.width);
  const runs = widths.map(paneWidth => glyphs.horizontal.repeat(paneWidth));
  return styles.border(`${glyphs.teeRight}${runs.join(glyphs.teeUp)}${glyphs.teeLeft}`);
}

export function bottomLine(columns: number, { styles, glyphs }: Theme): string {
  return styles.border(`${glyphs.bottomLeft}${glyphs.horizontal.repeat(columns - 2)}${glyphs.bottomRight}`);
}

export interface Hint {
  readonly key: string;
  readonly word: string;
}

/**
 * Default keys of the commands that open, go back and show help. Unless ranked, their hints are dropped last, even if
 * the user has changed the keys.
 */
const mainKeys: ReadonlySet<string> = new Set(['enter', 'esc', '?']);

interface RankedHint extends Hint {
  /** The position in the line, by rank. */
  readonly place: number;
  /** If there is little room, hints with lower values are kept. */
  readonly priority: number;
}

const rankOf = (rank: HintRank): number => hintRanks.indexOf(rank);

/** All hints in order: by rank, then the innermost first. */
function rankedHints(offered: readonly Offer[]): readonly RankedHint[] {
  const words = new Set<string>();
  const hints = offered.flatMap(({ binding: { command, rank = command.rank }, keys: [key = ''] }) => {
    const word = command.hint;
    if (word === undefined || words.has(word)) return [];
    words.add(word);
    const place = rankOf(rank ?? 'normal');
    const isMain = rank === undefined && mainKeys.has(command.keys[0] ?? '');
    return [{ key: keyLabel(key), word, place, priority: isMain ? -1 : place }];
  });
  return hints.toSorted((left, right) => left.place - right.place);
}

const hintWidth = ({ key, word }: Hint): number => width(key) + width(word) + 3;
const hintGap = 2;

/** `<e> evaluate  <enter> open …`: as many hints as fit, chosen by priority. */
export function hintsFor(offered: readonly Offer[], room: number): readonly Hint[] {
  const inOrder = rankedHints(offered);
  let left = room;
  const chosen = new Set<Hint>();
  for (const hint of inOrder.toSorted((one, other) => one.priority - other.priority)) {
    const size = hintWidth(hint) + hintGap;
    if (size > left) continue;
    left -= size;
    chosen.add(hint);
  }
  return inOrder.filter(hint => chosen.has(hint)).map(({ key, word }) => ({ key, word }));
}

/** Cells taken by the hints that crumbs must not displace: the main commands, the ones that stop work, and help. */
export function mainHintsWidth(offered: readonly Offer[]): number {
  const main = rankedHints(offered).filter(({ priority }) => priority <= rankOf('stop'));
  return main.reduce((sum, hint) => sum + hintWidth(hint) + hintGap, 0);
}

/** In fewer cells, crumbs are useless. */
const minTrailWidth = 8;

/**
 * Maximum cells for the crumbs in a terminal of this many columns.
 *
 * @param main cells taken by hints that matter more
 */
export const trailRoom = (columns: number, main = 0): number =>
  Math.max(minTrailWidth, Math.min(Math.floor((columns - 4) / 2), columns - 6 - main));

/** The crumbs, then the hints, between the borders. */
export function footerLine(
  columns: number,
  crumbs: readonly string[],
  offered: readonly Offer[],
  { styles, glyphs }: Theme,
): string {
  const room = columns - 4;
  const most = trailRoom(columns, mainHintsWidth(offered));
  // The last crumb matters most, so the beginning is cut.
  const trail = truncate(crumbs.join(` ${glyphs.crumb} `), most, { position: 'start' });
  const shown = hintsFor(offered, room - width(trail));
  const hintText = shown.map(({ key, word }) => `${styles.key(`<${key}>`)} ${styles.muted(word)}`).join('  ');
  const taken = shown.reduce((sum, hint) => sum + hintWidth(hint) + hintGap, -hintGap);
  const gap = ' '.repeat(Math.max(1, room - width(trail) - taken));
  const line =
    shown.length > 0 ? `${trail}${gap}${hintText}` : `${trail}${' '.repeat(Math.max(0, room - width(trail)))}`;
  return `${styles.border(glyphs.vertical)} ${line} ${styles.border(glyphs.vertical)}`;
}
