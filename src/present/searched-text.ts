/** Splits a trajectory into lines to search, each with its position in the transcript. */

import type { Cut } from '../base/expression.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { formsOf, hiddenMark, type LineCut, longestSearch, tabStop } from '../text/line-search.ts';
import { expandTabs } from '../text/width.ts';
import { type Block, transcriptOf } from './transcript.ts';

/** The origin of consecutive lines. */
export interface Origin {
  /** The index of the first line within the part. */
  readonly from: number;
  /** The step's number; undefined outside steps. */
  readonly step?: number | undefined;
  /** Counted from 1 over the whole trajectory; undefined outside messages. */
  readonly message?: number | undefined;
  /** The message's role, with the kind of its part if it differs: `assistant call`. */
  readonly role: string;
  /** The first line's number within the message, from 1; 0 for its heading. */
  readonly line: number;
  /** The first line's position in the transcript. */
  readonly place: number;
  /** Set if there is only one line: a piece of a longer one. */
  readonly cut?: LineCut | undefined;
}

/** Consecutive lines of a trajectory: either all from messages, or all from other blocks. */
interface SearchedPart {
  /** Joined by line feeds. A line may also have a hidden form: see `formsOf`. Unsafe for a terminal. */
  readonly body: string;
  /** Ordered by `from`. */
  readonly origins: readonly Origin[];
}

/** A part ends after this many characters. */
const partLength = 64 * 1024;
/** Longer lines are split, so that none can freeze the screen. */
const longestLine = 512 * 1024;

/** Headings that benchtop generates. */
export const headings: ReadonlySet<string> = new Set([
  'step',
  'system',
  'user',
  'assistant',
  'tool',
  'role',
  'blank',
  'fold',
]);

interface SearchedLine extends Pick<Origin, 'line' | 'place' | 'cut'> {
  readonly text: string;
}

/** The block's lines, counted from 0; positions are relative to the block's. Of a message's heading only the name. */
function* linesOf({ text, sent, heading, named }: Block): Generator<SearchedLine, void> {
  if (named !== undefined) {
    yield { text: named, line: 0, place: Math.max(0, text.indexOf(named)) };
    return;
  }
  const shown = text.split('\n');
  const received = sent === undefined ? shown : linesAs(sent, shown.length);
  // The first line of a fold is its heading: `reasoning, 490 characters`.
  const skipped = heading === 'fold' && (shown.length > 1 || sent === undefined) ? 1 : 0;
  let place = 0;
  for (const [index, own] of shown.entries()) {
    if (index >= skipped) yield* piecesOf(own, received[index] ?? own, { line: index - skipped, place });
    place += own.length + 1;
  }
}

/** Splits a text into at most this many lines; the last one has the rest. */
function linesAs(text: string, count: number): readonly string[] {
  const lines = text.split('\n');
  const rest = lines.splice(count - 1).filter(line => line !== '');
  return [...lines, rest.join(' ')];
}

/** A line as it is shown and as it was received, in pieces that overlap, so that a search finds what it cuts. */
function* piecesOf(
  shown: string,
  received: string,
  { line, place }: Pick<Origin, 'line' | 'place'>,
): Generator<SearchedLine, void> {
  const longer = Math.max(shown.length, received.length);
  if (longer <= longestLine) {
    // Tabs hide nothing.
    const isSame = shown === received || shown === expandTabs(received, tabStop);
    yield { text: isSame ? received : shown + hiddenMark + received, line, place };
    return;
  }
  const step = longestLine - longestSearch;
  for (let from = 0; from === 0 || from + longestSearch < longer; from += step) {
    const own = shown.slice(from, from + longestLine);
    const other = received.slice(from, from + longestLine);
    const text = own === other ? own : own + hiddenMark + other;
    const cut = [cutOf(shown, from), cutOf(received, from)] as const;
    yield { text, line, place: place + Math.min(from, shown.length), cut };
  }
}

/** Where the piece that begins here was cut from a line. */
function cutOf(line: string, from: number): Cut | null {
  const isCutAtEnd = from + longestLine < line.length;
  if (from === 0) return isCutAtEnd ? 'end' : null;
  return isCutAtEnd ? 'both' : 'start';
}

/** The lines in a part that are pieces of longer ones. @param origins the part's origins as JSON */
export function cutsIn(origins: string): ReadonlyMap<number, LineCut> | undefined {
  // Parsing takes long, and few texts have such lines.
  if (!origins.includes('"cut":')) return undefined;
  return new Map((JSON.parse(origins) as Origin[]).flatMap(({ from, cut }) => (cut ? [[from, cut]] : [])));
}

const partNames: ReadonlyMap<string, string> = new Map([
  ['reasoning', 'reasoning'],
  ['call', 'call'],
  ['refusal', 'refusal'],
  ['error', 'error'],
]);

/** A trajectory's lines, in parts of limited size. */
export function* searchedParts(trajectory: Trajectory): Generator<SearchedPart, void> {
  let lines: string[] = [];
  let origins: Origin[] = [];
  let length = 0;
  let [message, role, line] = [0, 'trajectory', 1];
  let inMessage = false;
  let isPartOfMessages = false;
  for (const block of transcriptOf(trajectory, { showHidden: false, details: true, keepsSent: true }).blocks) {
    if (block.head === 'message') {
      [message, role, line, inMessage] = [message + 1, block.text.split('  ')[0] ?? '', 1, true];
    } else if (block.head !== undefined)
      [role, line, inMessage] = [block.head === 'step' ? 'step' : 'details', 1, false];
    const isName = block.named !== undefined;
    const isMade = headings.has(block.kind) || (block.kind === 'meta' && block.heading === undefined && !inMessage);
    if (isMade && !isName) continue;
    const part = partNames.get(block.kind);
    const step =
      block.step < 0 || role === 'details' ? undefined : (trajectory.steps?.[block.step]?.step_index ?? block.step);
    if (inMessage !== isPartOfMessages && lines.length > 0) {
      yield { body: lines.join('\n'), origins };
      [lines, length, origins] = [[], 0, []];
    }
    isPartOfMessages = inMessage;
    const origin = {
      step,
      message: inMessage ? message : undefined,
      role: [role, part === role ? undefined : part].filter(Boolean).join(' '),
    };
    const first = isName ? 0 : line;
    let hasOrigin = false;
    for (const { text, line: index, place, cut } of linesOf(block)) {
      if (length > partLength) {
        yield { body: lines.join('\n'), origins };
        [lines, length, origins, hasOrigin] = [[], 0, [], false];
      }
      line = first + index;
      if (!hasOrigin || cut) {
        origins.push({ from: lines.length, ...origin, line, place: block.place + place, ...(cut && { cut }) });
      }
      hasOrigin = !cut;
      lines.push(text);
      length += text.length + 1;
      line += 1;
    }
  }
  if (lines.length > 0) yield { body: lines.join('\n'), origins };
}

export function originOf({ origins, body }: SearchedPart, index: number): Origin | undefined {
  const origin = origins.findLast(({ from }) => from <= index);
  if (!origin) return undefined;
  const lines = body.split('\n', index);
  let { place } = origin;
  for (let at = origin.from; at < index; at += 1) place += expandTabs(formsOf(lines[at] ?? '')[0], tabStop).length + 1;
  return { ...origin, from: index, line: origin.line + index - origin.from, place };
}
