/** Splits a trajectory into lines to search, each with its position in the transcript. */
import type { Trajectory } from '../contract/trajectories.ts';
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
  /** The first line's number within the message, from 1. */
  readonly line: number;
  /** The first line's position in the transcript. */
  readonly place: number;
}

/** Consecutive lines of a trajectory: either all from messages, or all from other blocks. */
export interface SearchedPart {
  /** Joined by line feeds. */
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

function linesOf({ text, heading }: Block): { readonly lines: string[]; readonly skipped: number } {
  const all = text.split('\n');
  // The first line of a fold is its heading: `reasoning, 490 characters`.
  const skipped = heading === 'fold' ? 1 : 0;
  const lines = all
    .slice(skipped)
    .flatMap(line =>
      line.length <= longestLine
        ? [line]
        : Array.from({ length: Math.ceil(line.length / longestLine) }, (_, index) =>
            line.slice(index * longestLine, (index + 1) * longestLine),
          ),
    );
  return { lines, skipped: skipped === 0 ? 0 : (all[0]?.length ?? 0) + 1 };
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
  for (const block of transcriptOf(trajectory, { showHidden: false, details: true }).blocks) {
    if (block.head === 'message') {
      [message, role, line, inMessage] = [message + 1, block.text.split('  ')[0] ?? '', 1, true];
    } else if (block.head !== undefined)
      [role, line, inMessage] = [block.head === 'step' ? 'step' : 'details', 1, false];
    if (headings.has(block.kind) || (block.kind === 'meta' && block.heading === undefined && !inMessage)) continue;
    const { lines: own, skipped } = linesOf(block);
    const part = partNames.get(block.kind);
    const step =
      block.step < 0 || role === 'details' ? undefined : (trajectory.steps?.[block.step]?.step_index ?? block.step);
    let place = block.place + skipped;
    if (inMessage !== isPartOfMessages && lines.length > 0) {
      yield { body: lines.join('\n'), origins };
      [lines, length, origins] = [[], 0, []];
    }
    isPartOfMessages = inMessage;
    origins.push({
      from: lines.length,
      step,
      message: inMessage ? message : undefined,
      role: [role, part === role ? undefined : part].filter(Boolean).join(' '),
      line,
      place,
    });
    for (const each of own) {
      if (length > partLength) {
        yield { body: lines.join('\n'), origins };
        const last = origins.at(-1);
        [lines, length, origins] = [[], 0, last ? [{ ...last, from: 0, line, place }] : []];
      }
      lines.push(each);
      length += each.length + 1;
      place += each.length + 1;
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
  for (let at = origin.from; at < index; at += 1) place += (lines[at]?.length ?? 0) + 1;
  return { ...origin, from: index, line: origin.line + index - origin.from, place };
}
