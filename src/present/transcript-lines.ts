/** Lays out a transcript in lines of a given width, with folding. Pure. */
import type { Trajectory } from '../contract/trajectories.ts';
import { lastAt } from '../text/last-at.ts';
import * as numbers from '../text/numbers.ts';
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

/** The lines that are shown. */
export interface TranscriptLines {
  readonly length: number;
  /** The line of this index, from 0 on. Cut out on demand: a long trajectory has half a million lines. */
  readonly at: (index: number) => TranscriptLine | undefined;
  /** The position of the folded block that hides `place`; undefined if that is visible. */
  readonly foldAt: (place: number) => number | undefined;
}

/** A block laid out. */
interface Laid {
  /** Where each line begins in the text of the block, and its length, in turns. */
  readonly bounds: readonly number[];
  /** The line below them, which says what is folded, with the first hidden position. */
  readonly note?: TranscriptLine & { readonly hiddenFrom: number };
}

/** Visible lines of a folded tool call or response. */
const foldedLines = 6;
const indent = '  ';

function boundsOf({ text, indented }: Block, width: number): number[] {
  if (!indented) return [0, text.length];
  const bounds: number[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    let from = 0;
    for (const part of wrap(line, Math.max(8, width - indent.length))) {
      // Line breaks swallow spaces, so the real start of a part is looked up. The displayed text has no tabs.
      from = Math.max(from, line.indexOf(part, from));
      bounds.push(start + from, part.length);
      from += part.length;
    }
    start += line.length + 1;
  }
  // What is kept has no room for more.
  return bounds.slice();
}

function foldedOf(block: Block, width: number): Laid {
  const { step, text, place, fold } = block;
  const note = (words: string, hiddenFrom: number) =>
    ({ kind: 'fold', text: indent + words, step, place: hiddenFrom, hiddenFrom }) as const;
  if (fold === 'reasoning') {
    const words = `reasoning, ${numbers.count(text.length)} character${text.length === 1 ? '' : 's'} folded`;
    return { bounds: [], note: note(words, place) };
  }
  const bounds = boundsOf(block, width);
  const count = bounds.length / 2;
  // Showing one more line costs as much as the note about it.
  if (count <= foldedLines + 1) return { bounds };
  const shown = foldedLines * 2;
  return {
    bounds: bounds.slice(0, shown),
    note: note(`… ${count - foldedLines} more lines`, place + (bounds[shown] ?? 0)),
  };
}

function lineOf({ kind, text, place, step, indented }: Block, { bounds, note }: Laid, index: number) {
  const [from, length] = [bounds[index * 2], bounds[index * 2 + 1]];
  if (from === undefined || length === undefined) return note;
  const own = text.slice(from, from + length);
  return { kind, text: indented ? indent + own : own, place: place + from, step };
}

/**
 * Lays out a transcript for a width. Call the result with the open folds; only blocks whose fold has changed are laid
 * out again.
 */
export function layOut({ blocks }: Transcript, width: number): (open: OpenFolds) => TranscriptLines {
  const known = { open: new Map<Block, Laid>(), folded: new Map<Block, Laid>() };
  const laid = (block: Block, isOpen: boolean): Laid => {
    const before = known[isOpen ? 'open' : 'folded'];
    const made = before.get(block) ?? (isOpen ? { bounds: boundsOf(block, width) } : foldedOf(block, width));
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
      return block && own && lineOf(block, own, index - (firsts[which] ?? 0));
    };
    const foldAt = (place: number): number | undefined => {
      const which = lastAt(blocks.length, index => blocks[index]?.place ?? 0, place);
      const hiddenFrom = shown[which]?.note?.hiddenFrom;
      return hiddenFrom !== undefined && place >= hiddenFrom ? blocks[which]?.place : undefined;
    };
    return { length, at, foldAt };
  };
}

/** Every line of the text for searching: folded or not, and unwrapped. */
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
