/** Lays out a transcript in lines of a given width, with folds. Pure. */

import { lastAt } from '../base/binary-search.ts';
import { inBatches } from '../base/many.ts';
import { perObject } from '../base/memo.ts';
import { rowsMadeOf } from '../contract/lists.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { counted } from '../text/numbers.ts';
import { displayWidth, truncate } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import {
  type Block,
  describeHidden,
  type FoldKind,
  type LineKind,
  type Transcript,
  transcriptOf,
  transcriptParts,
} from './transcript.ts';

export interface TranscriptLine {
  readonly kind: LineKind;
  readonly text: string;
  /** Its position in the transcript. */
  readonly place: number;
  readonly step: number;
  /** The style, if it differs from the kind's style. */
  readonly paint?: Paint | undefined;
  /** The same text with styles. */
  readonly drawn?: string | undefined;
}

/** Syntax highlighting of JSON and diffs. */
export type Paint = 'json' | 'added' | 'removed' | 'hunk';

/** Open folds, by kind and by position, and the messages and steps that are folded to their headings. */
export interface OpenFolds {
  readonly kinds: ReadonlySet<FoldKind>;
  readonly places: ReadonlySet<number>;
  /** Positions of the messages and steps that are folded. */
  readonly closed?: ReadonlySet<number>;
  /** Whether all steps are folded, except those in `places`. */
  readonly outline?: boolean;
  /** Whether system messages are folded, except those in `places`. */
  readonly system?: boolean;
}

/** Whether the message or step that begins at a position is folded to its heading. */
export function isClosed({ closed, outline, system, places }: OpenFolds, { place, head, kind }: Block): boolean {
  if (closed?.has(place)) return true;
  return !places.has(place) && ((head === 'step' && outline === true) || (kind === 'system' && system === true));
}

const allOpen: OpenFolds = { kinds: new Set<FoldKind>(['reasoning', 'tools']), places: new Set() };

/** The styles and marks for the lines. */
interface TranscriptMarks {
  /** Marks every line of reasoning, which otherwise looks like an answer; one cell wide. */
  readonly bar: string;
  /** Marks a folded message or step. */
  readonly closed?: string;
  /** Names the key that opens a fold, e.g. `z opens`; empty if there is none. */
  readonly opens: (fold: FoldKind) => string;
  /** Notes on a message, by its number: lines below its heading. They have no position of their own. */
  readonly notes?: ReadonlyMap<number, readonly string[]> | undefined;
  /** Lays out Markdown as styled lines; if missing, text is shown unchanged. */
  readonly markdown?: ((text: string, width: number) => readonly string[]) | undefined;
}

const plainMarks: TranscriptMarks = { bar: '|', opens: () => '' };

/** The visible lines. */
export interface TranscriptLines {
  readonly length: number;
  /** The line at an index, created on demand: a long trajectory has half a million lines. */
  readonly at: (index: number) => TranscriptLine | undefined;
  /** The position of the folded block that hides `place`; undefined if `place` is visible. */
  readonly foldAt: (place: number) => number | undefined;
}

/** A block's layout. */
interface Laid {
  /** For each line: where it starts in the block's text, its length, and its hanging indent in cells. */
  readonly bounds: readonly number[];
  /** Styled lines, which replace the text's lines. */
  readonly drawn?: readonly string[];
  /** The line that replaces folded lines, and the number of lines before it. */
  readonly note?: { readonly after: number; readonly kind: LineKind; readonly text: string };
  /** Text after the heading. */
  readonly headingEnd?: string;
  /** Text before the heading. */
  readonly headingStart?: string;
  /** The range of folded positions; the end is exclusive. */
  readonly hidden?: readonly [from: number, to: number];
  /** The position of the folded message or step that hides it. */
  readonly closedBy?: number;
  /** Notes on the message that the block begins, below its heading. */
  readonly notes?: readonly string[] | undefined;
}

/** How many lines at the start and at the end of a folded response are visible. */
const firstLines = 2;
const lastLines = 3;
/** Minimum width of a folded call's summary, in cells, before its id and the key get room. */
const minSummaryWidth = 40;
const indent = '  ';

function indentOf({ kind, heading, indented }: Block, isHeading: boolean, { bar }: TranscriptMarks): string {
  if (!indented) return '';
  if (heading === undefined || isHeading) return indent;
  return indent + (kind === 'reasoning' ? `${bar} ` : indent);
}

/** How many values the array of bounds holds per line. */
const perLine = 3;
/** A line's indentation or bullet, as wide as its hanging indent. */
const hanging = /^ *(?:(?:[-*+•]|\d{1,3}[.)]) +)?/;

function boundsOf({ text, indented, heading }: Block, width: number): number[] {
  if (!indented) return [0, text.length, 0];
  const bounds: number[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    const used = heading === undefined || start === 0 ? indent.length : 2 * indent.length;
    const room = Math.max(8, width - used);
    const own = line.length <= room ? 0 : (hanging.exec(line)?.[0].length ?? 0);
    const hang = own > room / 2 ? 0 : own;
    const [first = '', ...rest] = wrap(hang === 0 ? line : line.slice(hang), room - hang);
    bounds.push(start, hang + first.length, 0);
    let from = hang + first.length;
    for (const part of rest) {
      // Wrapping drops spaces, so find where a part really starts. The displayed text has no tabs.
      from = Math.max(from, line.indexOf(part, from));
      bounds.push(start + from, part.length, hang);
      from += part.length;
    }
    start += line.length + 1;
  }
  // Copy the array to drop the excess capacity that pushing leaves.
  return bounds.slice();
}

const styleSequence = /\u001b\[[\d;]*m/g;

/** Lays out text as Markdown. Each line gets the position of its first word, if it is found. */
function markdownOf({ text }: Block, width: number, markdown: NonNullable<TranscriptMarks['markdown']>): Laid {
  const drawn = markdown(text, Math.max(8, width - indent.length));
  const bounds: number[] = [];
  let place = 0;
  for (const [index, line] of drawn.entries()) {
    const plain = line.replace(styleSequence, '');
    const [word] = /[\p{L}\p{N}]+/u.exec(plain) ?? [];
    // Search only near the last word: for a missing word, this avoids scanning the whole text. Positions must ascend.
    const from = Math.floor(place);
    const found = word === undefined ? -1 : text.slice(from, from + 4 * width).indexOf(word);
    place = Math.max(found === -1 ? 0 : from + found, index === 0 ? 0 : place + fractionOfPosition);
    bounds.push(place, plain.length, 0);
  }
  return { bounds, drawn };
}

/** A fraction of a position, for text with fewer characters than lines. */
const fractionOfPosition = 2 ** -20;

const inBrackets = (words: string): string => (words === '' ? '' : ` (${words})`);

function openOf(block: Block, width: number, { markdown }: TranscriptMarks): Laid {
  if (block.markdown && markdown && block.text !== '') return markdownOf(block, width, markdown);
  return { bounds: boundsOf(block, width) };
}

function foldedOf(block: Block, width: number, marks: TranscriptMarks): Laid {
  const { text, place, fold = 'tools', summary, heading } = block;
  const end = place + text.length + 1;
  const key = marks.opens(fold);
  if (fold === 'reasoning') {
    const [title = ''] = text.split('\n', 1);
    return { bounds: [0, title.length, 0], headingEnd: inBrackets(key), hidden: [place + title.length + 1, end] };
  }
  if (summary) {
    const more = summary.more === 0 ? '' : `  (+${counted(summary.more, 'line')})`;
    const room = (tail: string): number => width - indent.length - displayWidth(tail);
    const isWhole = more === '' && displayWidth(summary.text) <= room('');
    const tails = [[summary.id, isWhole ? '' : key], [isWhole ? '' : key], [summary.id]].map(
      parts => more + inBrackets(parts.filter(Boolean).join(', ')),
    );
    // Leave out the id or the key if the summary would get too little room.
    const needed = Math.min(displayWidth(summary.text), minSummaryWidth);
    const tail = tails.find(each => room(each) >= needed) ?? more;
    const line = {
      after: 0,
      kind: 'call',
      text: indent + truncate(summary.text, Math.max(8, room(tail))) + tail,
    } as const;
    return { bounds: [], note: line, hidden: [place, end] };
  }
  const bounds = boundsOf(block, width);
  const first = firstLines + (heading === undefined ? 0 : 1);
  const count = bounds.length / perLine - first - lastLines;
  // A note about a single line takes as much room as the line.
  if (count <= 1) return { bounds };
  const tail = bounds.slice(-perLine * lastLines);
  return {
    bounds: [...bounds.slice(0, perLine * first), ...tail],
    note: {
      after: first,
      kind: 'fold',
      text: `${indentOf(block, false, marks)}… ${count} more lines${inBrackets(key)}`,
    },
    hidden: [place + (bounds[perLine * first] ?? 0), place + (tail[0] ?? 0)],
  };
}

function lineOf(block: Block, laid: Laid, index: number, marks: TranscriptMarks): TranscriptLine | undefined {
  const { text, place, step, heading } = block;
  const { bounds, note, hidden, headingStart = '', headingEnd = '', drawn, notes = [] } = laid;
  const beyond = index - bounds.length / perLine - (note ? 1 : 0);
  if (beyond >= 0) {
    const said = notes[beyond];
    return said === undefined ? undefined : { kind: 'note', text: said, place: place + text.length, step };
  }
  if (note && index === note.after) return { kind: note.kind, text: note.text, place: hidden?.[0] ?? place, step };
  const own = note && index > note.after ? index - 1 : index;
  const [from, length, hang = 0] = bounds.slice(own * perLine, (own + 1) * perLine);
  if (from === undefined || length === undefined) return undefined;
  const styled = drawn && indent + (drawn[own] ?? '');
  if (styled !== undefined) {
    const plain = styled.replace(styleSequence, '');
    return { kind: block.kind, text: plain, place: place + from, step, drawn: styled };
  }
  const isHeading = heading !== undefined && from === 0;
  const shown = indentOf(block, isHeading, marks) + ' '.repeat(hang) + text.slice(from, from + length);
  return {
    kind: isHeading ? heading : block.kind,
    text: isHeading || block.head ? headingStart + shown + headingEnd : shown,
    place: place + from,
    step,
    paint: isHeading ? undefined : paintOf(block, from),
  };
}

/** Maximum number of blocks to search for first words. */
const maxFirstWordBlocks = 100;

/** The first line of the message or step that begins with this block, preferably the model's text or a call. */
export function firstWords({ blocks }: Pick<Transcript, 'blocks'>, index: number): string {
  const isStep = blocks[index]?.head === 'step';
  let words = '';
  let byModel = false;
  for (const { head, kind, text, heading, summary } of blocks.slice(index + 1, index + maxFirstWordBlocks)) {
    if (head && (head !== 'message' || !isStep)) break;
    if (head) byModel = kind === 'assistant';
    if (head || kind === 'blank' || kind === 'reasoning' || (words !== '' && !byModel)) continue;
    const [own = ''] = (heading === undefined ? text : text.slice(text.indexOf('\n') + 1)).trimStart().split('\n', 1);
    words = summary?.text ?? own;
    if (byModel || !isStep) break;
  }
  return words;
}

/**
 * Returns a function to call for each block in order. For a folded message or step, it returns the heading with the
 * first words, and no lines for the other blocks. Undefined for blocks that are not folded in this way.
 */
function createFolding(
  blocks: readonly Block[],
  open: OpenFolds,
  { closed = '+' }: TranscriptMarks,
): (block: Block, index: number) => Laid | undefined {
  let step: number | undefined;
  let message: number | undefined;
  return (block, index) => {
    const { head, place, text } = block;
    if (head === 'step' || head === 'end') step = undefined;
    if (head) message = undefined;
    const hiddenBy = step ?? message;
    if (hiddenBy !== undefined) return { bounds: [], closedBy: hiddenBy };
    if (!head || head === 'end' || !isClosed(open, block)) return undefined;
    if (head === 'step') step = place;
    else message = place;
    const words = firstWords({ blocks }, index);
    return {
      bounds: [0, text.length, 0],
      headingStart: `${closed} `,
      headingEnd: words === '' ? '' : `  ·  ${words}`,
    };
  };
}

/** The beginning of a diff, with the column of its marks. */
const difference = /^( {0,80})(?:diff --git |@@ -\d|\*\*\* Begin Patch)/m;
const json = /^\s*(?:\{|\[|"(?:[^"\\\n]|\\.){0,200}": ?)/;
/** Maximum characters to search back for the start of a wrapped line. */
const longestLine = 10_000;

interface Syntax {
  readonly isJson: boolean;
  /** The column of a diff's marks. */
  readonly marks: number | undefined;
}

/** Computed only for visible blocks. */
const syntaxOf = perObject(({ kind, text, heading }: Block): Syntax => {
  const isTool = kind === 'call' || kind === 'response';
  const body = isTool && heading !== undefined ? text.slice(text.indexOf('\n') + 1) : text;
  return {
    isJson: isTool && json.test(body),
    marks: isTool || kind === 'text' ? difference.exec(body)?.[1]?.length : undefined,
  };
});

function paintOf(block: Block, from: number): Paint | undefined {
  const { isJson, marks } = syntaxOf(block);
  if (marks !== undefined) {
    const start = Math.max(0, from - longestLine);
    const before = block.text.slice(start, from).lastIndexOf('\n');
    const line = before === -1 ? start : start + before + 1;
    const mark = block.text.slice(line + marks, line + marks + 2);
    if (mark === '@@') return 'hunk';
    if (mark.startsWith('+')) return 'added';
    if (mark.startsWith('-')) return 'removed';
  }
  return isJson ? 'json' : undefined;
}

/**
 * Lays out a transcript for a width. Returns a function of the open folds, which lays out again only those blocks whose
 * folds have changed.
 */
export function layOut(
  { blocks }: Pick<Transcript, 'blocks'>,
  width: number,
  marks: TranscriptMarks = plainMarks,
): (open: OpenFolds) => TranscriptLines {
  const known = { open: new Map<Block, Laid>(), folded: new Map<Block, Laid>() };
  const laid = (block: Block, isOpen: boolean): Laid => {
    const before = known[isOpen ? 'open' : 'folded'];
    const made = before.get(block) ?? (isOpen ? openOf(block, width, marks) : foldedOf(block, width, marks));
    before.set(block, made);
    return made;
  };
  return open => {
    const isOpen = ({ fold, place }: Block): boolean => !fold || open.kinds.has(fold) || open.places.has(place);
    const folded = createFolding(blocks, open, marks);
    const shown = blocks.map((block, index) =>
      withNotes(folded(block, index) ?? laid(block, isOpen(block)), block, width, marks),
    );
    let length = 0;
    /** The index of each block's first line. */
    const firsts = shown.map(({ bounds, note, notes = [] }) => {
      const first = length;
      length += bounds.length / perLine + (note ? 1 : 0) + notes.length;
      return first;
    });
    const at = (index: number): TranscriptLine | undefined => {
      const which = index < length ? lastAt(firsts.length, each => firsts[each] ?? 0, index) : -1;
      const [block, own] = [blocks[which], shown[which]];
      return block && own && lineOf(block, own, index - (firsts[which] ?? 0), marks);
    };
    const foldAt = (place: number): number | undefined => {
      const which = lastAt(blocks.length, index => blocks[index]?.place ?? 0, place);
      const { hidden: [from, to] = [], closedBy } = shown[which] ?? {};
      if (closedBy !== undefined) return closedBy;
      return from !== undefined && to !== undefined && place >= from && place < to ? blocks[which]?.place : undefined;
    };
    return { length, at, foldAt };
  };
}

/** Adds the notes on the message that the block begins, unless a folded step hides it. */
function withNotes(laid: Laid, { message }: Block, width: number, { notes, bar }: TranscriptMarks): Laid {
  const said = message === undefined || laid.closedBy !== undefined ? undefined : notes?.get(message);
  if (!said) return laid;
  const lines = said.flatMap(line => wrap(line, Math.max(8, width - indent.length - 2)));
  return { ...laid, notes: lines.map(line => `${indent}${bar} ${line}`) };
}

/** Every unwrapped line, folded or not, for searching. */
export function* searchedLines({ blocks }: Transcript): Generator<{ readonly text: string; readonly place: number }> {
  for (const block of blocks) {
    let { place } = block;
    for (const text of block.text.split('\n')) {
      if (text !== '') yield { text, place };
      place += text.length + 1;
    }
  }
}

/** A trajectory as plain text, for a pager or a file. */
export const transcriptText = (trajectory: Trajectory, width: number): string =>
  Array.from(transcriptLines(trajectory, width)).join('');

/** The same text in parts, so that a large one need not fit in memory, with the notes on its messages. */
export const transcriptTextParts = (
  trajectory: Trajectory,
  width: number,
  notes?: TranscriptMarks['notes'],
): Generator<string, void> => inBatches(transcriptLines(trajectory, width, notes));

function* transcriptLines(
  trajectory: Trajectory,
  width: number,
  notes?: TranscriptMarks['notes'],
): Generator<string, void> {
  let dropped = '';
  for (const { blocks, hidden } of transcriptParts(trajectory, { showHidden: false })) {
    const { length, at } = layOut({ blocks }, width, { ...plainMarks, notes })(allOpen);
    for (let index = 0; index < length; index += 1) yield `${at(index)?.text.trimEnd()}\n`;
    dropped = describeHidden(hidden);
  }
  if (dropped !== '') yield `Left out: ${dropped}.\n`;
}

const nothingOpen: OpenFolds = { kinds: new Set(), places: new Set() };

/** A trajectory's last lines, folded, for a preview. Lays out only the steps it needs. */
export function endLines(trajectory: Trajectory, width: number, height: number): readonly TranscriptLine[] {
  const all = trajectory.steps ?? [];
  for (let count = 1; ; count *= 4) {
    const first = Math.max(0, all.length - count);
    const last = all.slice(first).map((step, index) => ({ ...step, step_index: step.step_index ?? first + index }));
    const steps = trajectory.steps && rowsMadeOf(all, last);
    const before = all.slice(0, first).reduce((sum, { messages }) => sum + (messages?.length ?? 0), 0);
    const transcript = transcriptOf({ ...trajectory, steps }, { showHidden: false, before });
    const { length, at } = layOut(transcript, width)(nothingOpen);
    let end = length;
    while (end > 0 && at(end - 1)?.kind === 'blank') end -= 1;
    if (end < height && first > 0) continue;
    const top = Math.max(0, end - height);
    return Array.from({ length: end - top }, (_, index) => at(top + index)).filter(line => line !== undefined);
  }
}
