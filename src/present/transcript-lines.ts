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

export interface TranscriptLines {
  readonly lines: readonly TranscriptLine[];
  /** The position of the folded block that hides `place`; undefined if that is visible. */
  readonly foldAt: (place: number) => number | undefined;
}

interface Laid {
  readonly lines: readonly TranscriptLine[];
  /** The first hidden position; undefined if everything is visible. */
  readonly hiddenFrom?: number;
}

/** Visible lines of a folded tool call or response. */
const foldedLines = 6;
const indent = '  ';

/** A range of a block's text. Cut out on demand: a long trajectory has half a million lines. */
class Stretch implements TranscriptLine {
  readonly #block: Block;
  readonly #from: number;
  readonly #length: number;

  constructor(block: Block, from: number, length: number) {
    this.#block = block;
    this.#from = from;
    this.#length = length;
  }

  get kind(): LineKind {
    return this.#block.kind;
  }

  get text(): string {
    return indent + this.#block.text.slice(this.#from, this.#from + this.#length);
  }

  get place(): number {
    return this.#block.place + this.#from;
  }

  get step(): number {
    return this.#block.step;
  }
}

function linesOf(block: Block, width: number): TranscriptLine[] {
  const { kind, text, step, indented } = block;
  if (!indented) return [{ kind, text, step, place: block.place }];
  const lines: TranscriptLine[] = [];
  let start = 0;
  for (const line of text.split('\n')) {
    let from = 0;
    for (const part of wrap(line, Math.max(8, width - indent.length))) {
      // Line breaks swallow spaces, so the real start of a part is looked up. The displayed text has no tabs.
      const found = line.indexOf(part, from);
      from = Math.max(from, found);
      if (found === -1) lines.push({ kind, text: indent + part, step, place: block.place + start + from });
      else lines.push(new Stretch(block, start + from, part.length));
      from += part.length;
    }
    start += line.length + 1;
  }
  return lines;
}

function foldedOf(block: Block, width: number): Laid {
  const { step, text, place, fold } = block;
  const note = (words: string, at: number): TranscriptLine => ({ kind: 'fold', text: indent + words, step, place: at });
  if (fold === 'reasoning') {
    const words = `reasoning, ${numbers.count(text.length)} character${text.length === 1 ? '' : 's'} folded`;
    return { lines: [note(words, place)], hiddenFrom: place };
  }
  const lines = linesOf(block, width);
  const first = lines[foldedLines];
  // Showing one more line costs as much as the note about it.
  if (!first || lines.length <= foldedLines + 1) return { lines };
  const more = note(`… ${lines.length - foldedLines} more lines`, first.place);
  return { lines: [...lines.slice(0, foldedLines), more], hiddenFrom: first.place };
}

/**
 * Lays out a transcript for a width. Call the result with the open folds; only blocks whose fold has changed are laid
 * out again.
 */
export function layOut({ blocks }: Transcript, width: number): (open: OpenFolds) => TranscriptLines {
  const known = { open: new Map<Block, Laid>(), folded: new Map<Block, Laid>() };
  const laid = (block: Block, isOpen: boolean): Laid => {
    const before = known[isOpen ? 'open' : 'folded'];
    const made = before.get(block) ?? (isOpen ? { lines: linesOf(block, width) } : foldedOf(block, width));
    before.set(block, made);
    return made;
  };
  return open => {
    const lines: TranscriptLine[] = [];
    const hidden = new Map<number, number>();
    for (const block of blocks) {
      const isOpen = !block.fold || open.kinds.has(block.fold) || open.places.has(block.place);
      const { lines: own, hiddenFrom } = laid(block, isOpen);
      for (const line of own) lines.push(line);
      if (hiddenFrom !== undefined) hidden.set(block.place, hiddenFrom);
    }
    const foldAt = (place: number): number | undefined => {
      const block = blocks[lastAt(blocks.length, index => blocks[index]?.place ?? 0, place)];
      const from = block && hidden.get(block.place);
      return from !== undefined && place >= from ? block?.place : undefined;
    };
    return { lines, foldAt };
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
  const { lines } = layOut(transcriptOf(trajectory, { showHidden: false }), width)(allOpen);
  return lines.map(({ text }) => `${text.trimEnd()}\n`).join('');
}
