/** Lays out two aligned trajectories in two columns or one, and marks the words that differ. Pure. */
import { differencesOf } from '../base/differences.ts';
import { pushAll } from '../base/many.ts';
import { counted } from '../text/numbers.ts';
import { fitCells } from '../text/width.ts';
import { wrap } from '../text/wrap.ts';
import { type AlignedPair, type Alignment, differingWords, type Message, type Ranges } from './alignment.ts';

/** A line on one side, and the character ranges that differ. */
export interface SideText {
  readonly text: string;
  readonly marks: Ranges;
}

export interface SideLine {
  readonly kind: 'head' | 'text' | 'equal' | 'blank';
  /** In a single column, one side is undefined. */
  readonly left: SideText | undefined;
  readonly right: SideText | undefined;
  /** Its position: the pair's index, plus the fraction of the pair's lines above it. */
  readonly place: number;
}

interface SideLayout {
  readonly lines: readonly SideLine[];
  /** Positions of the first differing line in each pair that differs. */
  readonly differences: readonly number[];
}

interface SideOptions {
  readonly width: number;
  /** In a single column, the lines of the left side come first. */
  readonly columns: 1 | 2;
  /** Whether to show equal messages, and equal lines in other messages. */
  readonly all: boolean;
}

/** Characters between the columns. */
export const sideGap = 3;
/** Maximum characters of a message to show. The reader shows all of it. */
const maxTextLength = 6_000;
/** Characters shown before the first difference in a longer message. */
const charactersBefore = 1_000;
/** Number of equal lines shown next to differing ones. */
const linesAround = 2;
/** Maximum insertions and deletions of lines to search for; beyond that, all lines are shown as different. */
const maxLines = 400;
/** Maximum characters laid out; each later message gets one line. */
const maxCharacters = 4_000_000;
const indent = '  ';
const plainSide = (text: string): SideText => ({ text, marks: [] });

/** A message's place, alone and followed by how the message ended. */
function headOf(message: Message | undefined): readonly [place: string, whole: string] {
  if (!message) return ['', 'not there'];
  const { step, number, role, end } = message;
  const place = step === Number.MAX_SAFE_INTEGER ? role : `step ${number}  ${role}`;
  return [place, [place, end].filter(Boolean).join('  ')];
}

/** The parts of two texts around their first difference, and the number of characters left out. */
function shownParts(left: string, right: string) {
  if (Math.max(left.length, right.length) <= maxTextLength)
    return { texts: [left, right], before: 0, after: [0, 0] } as const;
  let same = 0;
  while (same < left.length && left[same] === right[same]) same += 1;
  const start = same > charactersBefore ? beginsAt(left, same - charactersBefore) : 0;
  const end = Math.min(left.length, start + maxTextLength);
  // End both parts before the same words; otherwise their ends would differ.
  const sameEnd = right.length - (left.length - end);
  const isSame = end < left.length && sameEnd > start && right.endsWith(left.slice(end));
  const otherEnd = Math.min(
    right.length,
    isSame && sameEnd - start < 2 * maxTextLength ? sameEnd : start + maxTextLength,
  );
  return {
    texts: [left.slice(start, end), right.slice(start, otherEnd)],
    before: start,
    after: [left.length - end, right.length - otherEnd],
  } as const;
}

/** The start of the line or word at this position, or at least of the character. */
function beginsAt(text: string, position: number): number {
  for (const end of ['\n', ' ']) {
    const at = text.lastIndexOf(end, position) + 1;
    if (at > position - charactersBefore) return at;
  }
  // Do not split a surrogate pair.
  return position - (/[\uDC00-\uDFFF]/.test(text.charAt(position)) ? 1 : 0);
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
  let left = maxCharacters;
  let equal: AlignedPair[] = [];
  const push = (pair: number, { rows, first = 0 }: Rows): void => {
    const placeOf = (index: number): number => pair + index / (rows.length + 1);
    if (pairs[pair]?.isEqual === false) differences.push(placeOf(first));
    for (const row of all ? rows.map((line, at) => ({ line, at })) : foldEqualRows(rows)) {
      const { isEqual: _, ...line } = row.line;
      lines.push({ ...line, place: placeOf(row.at) });
    }
  };
  const fold = (end: number): void => {
    if (equal.length === 0) return;
    const steps = (['left', 'right'] as const).map(side => {
      const [first, last] = [equal[0]?.[side]?.number, equal.at(-1)?.[side]?.number];
      return first === last ? `step ${first}` : `steps ${first} to ${last}`;
    });
    const text = plainSide(`= ${counted(equal.length, 'equal message')}, ${[...new Set(steps)].join(' beside ')}`);
    push(end - equal.length, { rows: [{ kind: 'equal', left: text, right: undefined }] });
    equal = [];
  };
  for (const [index, pair] of pairs.entries()) {
    if (pair.isEqual && !all) {
      equal.push(pair);
      continue;
    }
    fold(index);
    const size =
      Math.min(maxTextLength, pair.left?.text.length ?? 0) + Math.min(maxTextLength, pair.right?.text.length ?? 0);
    left -= size;
    push(index, left < 0 ? notLaidOut(pair) : laidOut(pair, room, columns));
  }
  fold(pairs.length);
  return { lines, differences };
}

const formatLength = (message: Message | undefined): string =>
  message === undefined ? '' : counted(message.text.length, 'character');

/** A line, and whether it is equal on both sides; undefined if it is not part of the message. */
type Row = Omit<SideLine, 'place'> & { readonly isEqual?: boolean };

/** A message's lines, and the index of the first one that differs. */
interface Rows {
  readonly rows: readonly Row[];
  readonly first?: number;
}

const notLaidOut = (pair: AlignedPair): Rows => ({
  rows: [
    {
      kind: 'head',
      left: plainSide(`${headOf(pair.left)[1]}, ${formatLength(pair.left)}`),
      right: plainSide(`${headOf(pair.right)[1]}, ${formatLength(pair.right)}`),
    },
  ],
});

function laidOut(pair: AlignedPair, room: number, columns: 1 | 2): Rows {
  const cut = shownParts(pair.left?.text ?? '', pair.right?.text ?? '');
  const [one, other] = cut.texts;
  const marks: readonly [Ranges, Ranges] =
    pair.isEqual || !pair.left || !pair.right ? [[], []] : differingWords(one, other);
  const left = pair.left ? linesOf(one, marks[0], room) : [];
  const right = pair.right ? linesOf(other, marks[1], room) : [];
  const blank = { kind: 'blank', left: undefined, right: undefined } as const;
  const [[place, leftText], [rightPlace, rightText]] = [headOf(pair.left), headOf(pair.right)];
  const [leftHead, rightHead] = [plainSide(leftText), plainSide(rightText)];
  // If both sides have the same place, name it once.
  const rest = place === rightPlace ? rightText.slice(place.length).trim() || 'end unknown' : rightText;
  const bothHeads = leftText === rightText ? leftHead : plainSide(`${leftText}, ${rest}`);
  const onlyHead = pair.left && pair.right ? bothHeads : pair.left ? leftHead : rightHead;
  const head =
    columns === 2
      ? ({ kind: 'head', left: leftHead, right: rightHead } as const)
      : ({ kind: 'head', left: onlyHead, right: undefined } as const);
  const [leftRest, otherRest] = cut.after.map(count =>
    count > 0 ? [plainSide(`… ${counted(count, 'more character')}`)] : [],
  );
  const rows: readonly Row[] = [
    head,
    ...(cut.before > 0
      ? [{ kind: 'equal', left: plainSide(`… ${counted(cut.before, 'character')} before`), right: undefined } as const]
      : []),
    ...(pair.isEqual ? equalRows(left, right, columns) : rowsOf(left, right, columns)),
    ...changedRows(leftRest ?? [], otherRest ?? [], columns),
    blank,
  ];
  return {
    rows,
    first: Math.max(
      1,
      rows.findIndex(({ isEqual }) => isEqual === false),
    ),
  };
}

/** The lines of both sides: equal ones next to each other, and the differing ones in between. */
function rowsOf(left: readonly SideText[], right: readonly SideText[], columns: 1 | 2): readonly Row[] {
  const { matched } = differencesOf(
    left.map(({ text }) => text),
    right.map(({ text }) => text),
    maxLines,
  );
  const isMarked = ({ marks }: SideText): boolean => marks.length > 0;
  // A line may have the same text even though words in it are marked as different.
  const equal = matched.filter(([one, other]) => ![left[one], right[other]].some(line => line && isMarked(line)));
  const rows: Row[] = [];
  let [one, other] = [0, 0];
  for (const [toOne, toOther] of [...equal, [left.length, right.length] as const]) {
    const [ones, others] = [left.slice(one, toOne), right.slice(other, toOther)];
    // After the last differing word, only the wrapping differs.
    const [last, lastOther] = [ones.findLastIndex(isMarked) + 1, others.findLastIndex(isMarked) + 1];
    const rewrapped = last + lastOther === 0 ? 0 : Math.min(ones.length - last, others.length - lastOther);
    const [end, endOther] = [ones.length - rewrapped, others.length - rewrapped];
    pushAll(rows, changedRows(ones.slice(0, end), others.slice(0, endOther), columns));
    pushAll(rows, equalRows(ones.slice(end), others.slice(endOther), columns));
    const [shared, sharedOther] = [left[toOne], right[toOther]];
    if (shared && sharedOther) pushAll(rows, equalRows([shared], [sharedOther], columns));
    [one, other] = [toOne + 1, toOther + 1];
  }
  return rows;
}

const rowsBeside = (ones: readonly SideText[], others: readonly SideText[], isEqual: boolean): readonly Row[] =>
  Array.from({ length: Math.max(ones.length, others.length) }, (_, index) => ({
    ...({ kind: 'text', left: ones[index], right: others[index], isEqual } as const),
  }));

/** In a single column, equal lines are shown once. */
const equalRows = (ones: readonly SideText[], others: readonly SideText[], columns: 1 | 2): readonly Row[] =>
  columns === 2
    ? rowsBeside(ones, others, true)
    : ones.map(left => ({ kind: 'equal', left, right: undefined, isEqual: true }) as const);

const changedRows = (ones: readonly SideText[], others: readonly SideText[], columns: 1 | 2): readonly Row[] =>
  columns === 2
    ? rowsBeside(ones, others, false)
    : [
        ...ones.map(left => ({ kind: 'text', left, right: undefined, isEqual: false }) as const),
        ...others.map(right => ({ kind: 'text', left: undefined, right, isEqual: false }) as const),
      ];

/** The rows with their indexes. Long runs of equal rows are folded, except next to differing rows. */
function foldEqualRows(rows: readonly Row[]): readonly { readonly line: Row; readonly at: number }[] {
  const shown: { line: Row; at: number }[] = [];
  for (let at = 0; at < rows.length; ) {
    const line = rows[at];
    let end = at;
    while (rows[end]?.isEqual) end += 1;
    const from = rows[at - 1]?.isEqual === false ? at + linesAround : at;
    const to = rows[end]?.isEqual === false ? end - linesAround : end;
    if (line && to - from < 2) {
      shown.push({ line, at });
      at += 1;
      continue;
    }
    const text = plainSide(`= ${counted(to - from, 'equal line')}`);
    pushAll(
      shown,
      rows.slice(at, from).map((each, index) => ({ line: each, at: at + index })),
    );
    shown.push({ line: { kind: 'equal', left: text, right: undefined }, at: from });
    pushAll(
      shown,
      rows.slice(to, end).map((each, index) => ({ line: each, at: to + index })),
    );
    at = end;
  }
  return shown;
}

/** A line as plain text, for searching. */
export function plainLine({ left, right }: SideLine, width: number): string {
  if (!right) return left?.text ?? '';
  return `${fitCells(left?.text ?? '', Math.floor((width - sideGap) / 2))}   ${right.text}`;
}
