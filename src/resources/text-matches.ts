/** The matches of a search in the text of one trajectory. Pure. */
import { type Origin, originOf, type SearchedPart } from '../present/searched-text.ts';
import type { TextPart } from '../store/text-index.ts';
import type { Range } from '../text/fuzzy.ts';
import type { LineMatches } from '../text/line-search.ts';

/** The matches in one trajectory. */
export interface TextMatch {
  /** The number of matching lines in messages. */
  readonly lines: number;
  /** The number of matching lines elsewhere: in rewards, metrics and other fields. */
  readonly other_lines: number;
  /** Where the first match is; matches in messages come before others. */
  readonly at: Origin;
  /** The position of the first match in the transcript. */
  readonly place: number;
  /** The line, truncated around the match. */
  readonly excerpt: string;
  /** Where the match is in the excerpt. */
  readonly range: Range;
}

/** The length of an excerpt, and of the part of it before the match, in characters. */
const excerptLength = 240;
const beforeMatch = 20;

/** The part of a line around the match. */
function excerptOf(line: string, [from, to]: Range): Pick<TextMatch, 'excerpt' | 'range'> {
  // A narrow column shows only the beginning.
  const start = from <= beforeMatch ? 0 : from - beforeMatch;
  const lead = start === 0 ? '' : '…';
  const cut = line.slice(start, start + excerptLength).toWellFormed();
  const text = `${lead}${cut}${start + excerptLength < line.length ? '…' : ''}`;
  // Copy the text, because a slice would keep the trajectory's whole text in memory.
  const excerpt = Buffer.from(text).toString();
  const shift = lead.length - start;
  return { excerpt, range: [from + shift, Math.min(to + shift, excerpt.length)] };
}

/** The part of a hit that depends on a trajectory's lines. */
export interface Matches {
  readonly trajectoryId: string;
  inMessages: number;
  elsewhere: number;
  first?: Pick<TextMatch, 'at' | 'place' | 'excerpt' | 'range'>;
}

/** Adds the matches found in one part. */
export function addMatches(matches: Matches, found: LineMatches, text: TextPart): void {
  if (!found.first) return;
  const { line, range } = found.first;
  const part = partIn(text, line);
  const isInMessages = part.origins[0]?.message !== undefined;
  const isFirst = matches.first === undefined || (isInMessages && matches.inMessages === 0);
  matches[isInMessages ? 'inMessages' : 'elsewhere'] += found.count;
  const at = isFirst ? originOf(part, line) : undefined;
  if (at) matches.first = { at, place: at.place + range[0], ...excerptOf(found.first.text, range) };
}

/** Separates two origins. It cannot occur inside a JSON string, where quotes are escaped. */
const nextOrigin = '},{"from":';

/** Parses only the origin of the requested line, because parsing all of them takes long. */
function partIn({ body, origins }: TextPart, line: number): SearchedPart {
  let from = 1;
  let to = origins.indexOf(nextOrigin);
  while (to >= 0 && Number.parseInt(origins.slice(to + nextOrigin.length), 10) <= line) {
    from = to + 2;
    to = origins.indexOf(nextOrigin, from);
  }
  return { body, origins: JSON.parse(`[${origins.slice(from, to < 0 ? -1 : to + 1)}]`) as Origin[] };
}
