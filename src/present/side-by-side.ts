/** Lays out two aligned trajectories in two columns or in one, with the words that differ marked. Pure. */
import { counted } from '../text/numbers.ts';
import { fitCells } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import { type AlignedPair, type Alignment, differingWords, type Message, type Ranges } from './alignment.ts';

/** A line on one side, and the ranges of its characters that differ. */
export interface SideText {
  readonly text: string;
  readonly marks: Ranges;
}

export interface SideLine {
  readonly kind: 'head' | 'text' | 'equal' | 'blank';
  /** In a single column, one side is undefined. */
  readonly left: SideText | undefined;
  readonly right: SideText | undefined;
  /** Its position: the index of the pair plus the fraction of its lines above. */
  readonly place: number;
}

export interface SideLayout {
  readonly lines: readonly SideLine[];
  /** Positions of the pairs that differ. */
  readonly differences: readonly number[];
}

interface SideOptions {
  readonly width: number;
  /** In a single column, the lines of the left side come first. */
  readonly columns: 1 | 2;
  /** Show equal messages as well. */
  readonly all: boolean;
}

/** Characters between the columns. */
export const sideGap = 3;
/** Maximum characters shown of a message; the reader shows the rest. */
const mostText = 6_000;
/** Characters shown before the first difference of a longer message. */
const before = 1_000;
/** Maximum characters laid out; later messages get one line each. */
const mostLaidOut = 4_000_000;
const indent = '  ';
const plain = (text: string): SideText => ({ text, marks: [] });

function headOf({ left, right }: AlignedPair, side: 'left' | 'right'): string {
  const message = side === 'left' ? left : right;
  if (!message) return 'not there';
  return message.step === Number.MAX_SAFE_INTEGER ? message.role : `step ${message.number}  ${message.role}`;
}

/** The part of two texts around their first difference. */
function shownParts(left: string, right: string): readonly [left: string, right: string] {
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  const start = same > before ? Math.max(0, left.lastIndexOf('\n', same - before)) : 0;
  const part = (text: string): string => {
    if (text.length <= mostText) return text;
    const shown = text.slice(start, start + mostText);
    const rest = Math.max(0, text.length - start - mostText);
    return [
      ...(start > 0 ? [`… ${counted(start, 'character')} before`] : []),
      shown,
      ...(rest > 0 ? [`… ${counted(rest, 'more character')}`] : []),
    ].join('\n');
  };
  return [part(left), part(right)];
}

/** Wraps a text into lines, each with its marks. */
function linesOf(text: string, marks: Ranges, width: number): SideText[] {
  const lines: SideText[] = [];
  let start = 0;
  let mark = 0;
  for (const line of text.split('\n')) {
    let from = 0;
    for (const part of wrap(line, width)) {
      // Wrapping drops spaces.
      from = Math.max(from, line.indexOf(part, from));
      const [first, last] = [start + from, start + from + part.length];
      while ((marks[mark]?.[1] ?? Number.POSITIVE_INFINITY) <= first) mark += 1;
      const own: (readonly [number, number])[] = [];
      for (let at = mark; (marks[at]?.[0] ?? Number.POSITIVE_INFINITY) < last; at += 1) {
        const [low, high] = marks[at] ?? [0, 0];
        own.push([Math.max(low, first) - first, Math.min(high, last) - first]);
      }
      lines.push({ text: part, marks: own });
      from += part.length;
    }
    start += line.length + 1;
  }
  return lines;
}

export function sideBySide({ pairs }: Alignment, { width, columns, all }: SideOptions): SideLayout {
  const lines: SideLine[] = [];
  const differences: number[] = [];
  const room = Math.max(8, (columns === 2 ? Math.floor((width - sideGap) / 2) : width - indent.length) - indent.length);
  let left = mostLaidOut;
  let equal: AlignedPair[] = [];
  const push = (pair: number, own: readonly Omit<SideLine, 'place'>[]): void => {
    for (const [index, line] of own.entries()) lines.push({ ...line, place: pair + index / (own.length + 1) });
  };
  const fold = (end: number): void => {
    if (equal.length === 0) return;
    const [first, last] = [equal[0]?.left?.number, equal.at(-1)?.left?.number];
    const steps = first === last ? `step ${first}` : `steps ${first} to ${last}`;
    const text = plain(`= ${counted(equal.length, 'equal message')}, ${steps}`);
    push(end - equal.length, [{ kind: 'equal', left: text, right: undefined }]);
    equal = [];
  };
  for (const [index, pair] of pairs.entries()) {
    if (pair.isEqual && !all) {
      equal.push(pair);
      continue;
    }
    fold(index);
    if (!pair.isEqual) differences.push(index);
    const size = Math.min(mostText, pair.left?.text.length ?? 0) + Math.min(mostText, pair.right?.text.length ?? 0);
    left -= size;
    push(index, left < 0 ? notLaidOut(pair) : laidOut(pair, room, columns));
  }
  fold(pairs.length);
  return { lines, differences };
}

const lengthWords = (message: Message | undefined): string =>
  message === undefined ? '' : counted(message.text.length, 'character');

const notLaidOut = (pair: AlignedPair): readonly Omit<SideLine, 'place'>[] => [
  {
    kind: 'head',
    left: plain(`${headOf(pair, 'left')}, ${lengthWords(pair.left)}`),
    right: plain(`${headOf(pair, 'right')}, ${lengthWords(pair.right)}`),
  },
];

function laidOut(pair: AlignedPair, room: number, columns: 1 | 2): readonly Omit<SideLine, 'place'>[] {
  const [one, other] = shownParts(pair.left?.text ?? '', pair.right?.text ?? '');
  const marks: readonly [Ranges, Ranges] =
    pair.isEqual || !pair.left || !pair.right ? [[], []] : differingWords(one, other);
  const texts = [
    pair.left ? linesOf(one, marks[0], room) : [],
    pair.right ? linesOf(other, marks[1], room) : [],
  ] as const;
  const blank = { kind: 'blank', left: undefined, right: undefined } as const;
  const [leftHead, rightHead] = [plain(headOf(pair, 'left')), plain(headOf(pair, 'right'))];
  if (columns === 2) {
    const length = Math.max(texts[0].length, texts[1].length);
    const body = Array.from({ length }, (_, index) => ({
      ...({ kind: 'text', left: texts[0][index], right: texts[1][index] } as const),
    }));
    return [{ kind: 'head', left: leftHead, right: rightHead }, ...body, blank];
  }
  const head = pair.left ? leftHead : rightHead;
  if (pair.isEqual) {
    return [
      { kind: 'head', left: head, right: undefined },
      ...texts[0].map(text => ({ kind: 'equal', left: text, right: undefined }) as const),
      blank,
    ];
  }
  return [
    { kind: 'head', left: head, right: undefined },
    ...texts[0].map(text => ({ kind: 'text', left: text, right: undefined }) as const),
    ...texts[1].map(text => ({ kind: 'text', left: undefined, right: text }) as const),
    blank,
  ];
}

/** A line as plain text, for searching. */
export function plainLine({ left, right }: SideLine, width: number): string {
  if (!right) return left?.text ?? '';
  return `${fitCells(left?.text ?? '', Math.floor((width - sideGap) / 2))}   ${right.text}`;
}
