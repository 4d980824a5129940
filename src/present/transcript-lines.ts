/** Lays out a transcript in lines of a given width, with folding. Pure. */

import { lastAt } from '../base/binary-search.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { displayWidth, truncate } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import { type Block, type FoldKind, type LineKind, type Transcript, transcriptOf } from './transcript.ts';

export interface TranscriptLine {
  readonly kind: LineKind;
  readonly text: string;
  /** Its position in the transcript. */
  readonly place: number;
  readonly step: number;
}

/** Open folds: whole kinds, and single blocks by position. */
export interface OpenFolds {
  readonly kinds: ReadonlySet<FoldKind>;
  readonly places: ReadonlySet<number>;
}

const allOpen: OpenFolds = { kinds: new Set<FoldKind>(['reasoning', 'tools']), places: new Set() };

/** The styles and marks of the lines. */
export interface TranscriptMarks {
  /** Marks every line of reasoning with one cell, which otherwise looks like an answer. */
  readonly bar: string;
  /** Names the key that opens a fold, e.g. `z opens`; empty if there is none. */
  readonly opens: (fold: FoldKind) => string;
}

const plainMarks: TranscriptMarks = { bar: '|', opens: () => '' };

/** The visible lines. */
export interface TranscriptLines {
  readonly length: number;
  /** The line at an index, created on demand: a long trajectory has half a million lines. */
  readonly at: (index: number) => TranscriptLine | undefined;
  /** The position of the folded block that hides `place`; undefined if that is visible. */
  readonly foldAt: (place: number) => number | undefined;
}

/** The layout of a block. */
interface Laid {
  /** Alternates the start of each line in the block's text and its length. */
  readonly bounds: readonly number[];
  /** The line that replaces the folded ones, and the number of lines before it. */
  readonly note?: { readonly after: number; readonly kind: LineKind; readonly text: string };
  /** Text after the heading. */
  readonly headingEnd?: string;
  /** The folded positions: from the first, up to but not including the second. */
  readonly hidden?: readonly [from: number, to: number];
}

/** Visible lines of a folded response: its beginning and its end. */
const firstLines = 2;
const lastLines = 3;
const indent = '  ';

function indentOf({ kind, heading, indented }: Block, isHeading: boolean, { bar }: TranscriptMarks): string {
  if (!indented) return '';
  if (heading === undefined || isHeading) return indent;
  return indent + (kind === 'reasoning' ? `${bar} ` : indent);
}

function boundsOf({ text, indented, heading }: Block, width: number): number[] {
  if (!indented) return [0, text.length];
  const bounds: number[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    let from = 0;
    const used = heading === undefined || start === 0 ? indent.length : 2 * indent.length;
    for (const part of wrap(line, Math.max(8, width - used))) {
      // Wrapping drops spaces, so find the real start of a part. The displayed text has no tabs.
      from = Math.max(from, line.indexOf(part, from));
      bounds.push(start + from, part.length);
      from += part.length;
    }
    start += line.length + 1;
  }
  // Copy the array, to drop the excess capacity that pushing leaves.
  return bounds.slice();
}

const inBrackets = (words: string): string => (words === '' ? '' : ` (${words})`);

function foldedOf(block: Block, width: number, marks: TranscriptMarks): Laid {
  const { text, place, fold = 'tools', summary, heading } = block;
  const end = place + text.length + 1;
  const key = marks.opens(fold);
  if (fold === 'reasoning') {
    const [title = ''] = text.split('\n', 1);
    return { bounds: [0, title.length], headingEnd: inBrackets(key), hidden: [place + title.length + 1, end] };
  }
  if (summary) {
    const more = summary.more === 0 ? '' : `  (+${summary.more} line${summary.more === 1 ? '' : 's'})`;
    const isWhole = more === '' && displayWidth(summary.text) <= width - indent.length;
    const tail = isWhole ? '' : more + inBrackets(key);
    const room = Math.max(8, width - indent.length - displayWidth(tail));
    const line = { after: 0, kind: 'call', text: indent + truncate(summary.text, room) + tail } as const;
    return { bounds: [], note: line, hidden: [place, end] };
  }
  const bounds = boundsOf(block, width);
  const first = firstLines + (heading === undefined ? 0 : 1);
  const count = bounds.length / 2 - first - lastLines;
  // Showing one more line costs as much as the note about it.
  if (count <= 1) return { bounds };
  const tail = bounds.slice(-2 * lastLines);
  return {
    bounds: [...bounds.slice(0, 2 * first), ...tail],
    note: {
      after: first,
      kind: 'fold',
      text: `${indentOf(block, false, marks)}… ${count} more lines${inBrackets(key)}`,
    },
    hidden: [place + (bounds[2 * first] ?? 0), place + (tail[0] ?? 0)],
  };
}

function lineOf(block: Block, laid: Laid, index: number, marks: TranscriptMarks): TranscriptLine | undefined {
  const { text, place, step, heading } = block;
  const { bounds, note, hidden, headingEnd = '' } = laid;
  if (note && index === note.after) return { kind: note.kind, text: note.text, place: hidden?.[0] ?? place, step };
  const own = note && index > note.after ? index - 1 : index;
  const [from, length] = [bounds[own * 2], bounds[own * 2 + 1]];
  if (from === undefined || length === undefined) return undefined;
  const isHeading = heading !== undefined && from === 0;
  const shown = indentOf(block, isHeading, marks) + text.slice(from, from + length);
  return {
    kind: isHeading ? heading : block.kind,
    text: isHeading ? shown + headingEnd : shown,
    place: place + from,
    step,
  };
}

/**
 * Lays out a transcript for a width. Call the result with the open folds; only blocks whose fold has changed are laid
 * out again.
 */
export function layOut(
  { blocks }: Transcript,
  width: number,
  marks: TranscriptMarks = plainMarks,
): (open: OpenFolds) => TranscriptLines {
  const known = { open: new Map<Block, Laid>(), folded: new Map<Block, Laid>() };
  const laid = (block: Block, isOpen: boolean): Laid => {
    const before = known[isOpen ? 'open' : 'folded'];
    const made = before.get(block) ?? (isOpen ? { bounds: boundsOf(block, width) } : foldedOf(block, width, marks));
    before.set(block, made);
    return made;
  };
  return open => {
    const shown = blocks.map(block => {
      return laid(block, !block.fold || open.kinds.has(block.fold) || open.places.has(block.place));
    });
    let length = 0;
    /** Index of the first line of each block. */
    const firsts = shown.map(({ bounds, note }) => {
      const first = length;
      length += bounds.length / 2 + (note ? 1 : 0);
      return first;
    });
    const at = (index: number): TranscriptLine | undefined => {
      const which = index < length ? lastAt(firsts.length, each => firsts[each] ?? 0, index) : -1;
      const [block, own] = [blocks[which], shown[which]];
      return block && own && lineOf(block, own, index - (firsts[which] ?? 0), marks);
    };
    const foldAt = (place: number): number | undefined => {
      const which = lastAt(blocks.length, index => blocks[index]?.place ?? 0, place);
      const [from, to] = shown[which]?.hidden ?? [];
      return from !== undefined && to !== undefined && place >= from && place < to ? blocks[which]?.place : undefined;
    };
    return { length, at, foldAt };
  };
}

/** Every unwrapped line for searching, folded or not. */
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
export function transcriptText(trajectory: Trajectory, width: number): string {
  const lines = layOut(transcriptOf(trajectory, { showHidden: false }), width)(allOpen);
  return Array.from({ length: lines.length }, (_, index) => `${lines.at(index)?.text.trimEnd()}\n`).join('');
}
