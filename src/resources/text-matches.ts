/** The matches of a search in the text of one trajectory. Pure. */
import { type Origin, originOf } from '../present/searched-text.ts';
import type { TextPart } from '../store/text-index.ts';
import type { Range } from '../text/fuzzy.ts';
import { formsOf, type LineMatch, tabStop } from '../text/line-search.ts';
import { sanitise } from '../text/sanitise.ts';
import { expandTabs } from '../text/width.ts';

/** The matches in lines of one role. */
export interface RoleMatch {
  /** The number of matching lines. */
  readonly lines: number;
  /** Where the first match is. The role of hidden text ends in `hidden`: `tool hidden`. */
  readonly at: Origin;
  /** The position of the first match in the transcript. */
  readonly place: number;
  /** The line, truncated around the match. */
  readonly excerpt: string;
  /** Where the match is in the excerpt. */
  readonly range: Range;
  /** Whether the reader does not show the text. */
  readonly hidden: boolean;
}

/** The matches in one trajectory. `at`, `place`, `excerpt` and `range` belong to the first role's match. */
export interface TextMatch extends RoleMatch {
  /** The number of matching lines in messages. */
  readonly lines: number;
  /** The number of matching lines elsewhere: in rewards, metrics and other fields. */
  readonly other_lines: number;
  /** The matches by role, at least one; those in messages come before others. */
  readonly roles: readonly RoleMatch[];
}

const isInMessage = ({ at }: RoleMatch): boolean => at.message !== undefined;

/** @param roles see `TextMatch` */
export function matchIn(roles: readonly RoleMatch[]): TextMatch | undefined {
  const [first] = roles;
  const linesIn = (some: readonly RoleMatch[]): number => some.reduce((sum, { lines }) => sum + lines, 0);
  const inMessages = roles.filter(isInMessage);
  const lines = linesIn(inMessages);
  return first && { ...first, lines, other_lines: linesIn(roles) - lines, roles };
}

/** The length of an excerpt, and of the part of it before the match, in characters. */
const excerptLength = 240;
const beforeMatch = 20;

/** The part of a line around the match. Tabs become spaces, and hidden characters visible. */
function excerptOf(line: string, [begin, to]: Range, isHidden: boolean): Pick<RoleMatch, 'excerpt' | 'range'> {
  const from = Math.min(begin, line.length);
  // A narrow column shows only the beginning.
  const start = from <= beforeMatch ? 0 : from - beforeMatch;
  const lead = start === 0 ? '' : '…';
  const end = Math.min(start + excerptLength, line.length);
  const [before, match, after] = [
    [start, from],
    [from, Math.min(to, end)],
    [Math.max(from, Math.min(to, end)), end],
  ].map(([first, last]) => {
    const part = line.slice(first, last).toWellFormed().replaceAll('\t', ' ');
    return isHidden ? sanitise(part, { mode: 'show', multiline: true }) : part;
  });
  const text = `${lead}${before}${match}${after}${end < line.length ? '…' : ''}`;
  // Copy the text, because a slice would keep the trajectory's whole text in memory.
  const excerpt = Buffer.from(text).toString();
  const first = `${lead}${before}`.length;
  return { excerpt, range: [first, first + `${match}`.length] };
}

type AddedRole = { lines: number; piece?: string } & Omit<RoleMatch, 'lines'>;

/** Whether this is another piece of the line whose match was added last. */
function isPieceOfLast(json: string, role: AddedRole | undefined): boolean {
  if (!role || !json.includes('"cut":')) return false;
  const { message, line } = JSON.parse(json) as Origin;
  const before = role.piece;
  role.piece = `${message} ${line}`;
  return role.piece === before;
}

/** Collects the matches in one trajectory, whose parts are added in order. */
export class Matches {
  readonly trajectoryId: string;
  readonly #roles = new Map<string, AddedRole>();

  constructor(trajectoryId: string) {
    this.trajectoryId = trajectoryId;
  }

  /** Adds the matches found in one part. */
  add(found: readonly LineMatch[], { body, origins }: TextPart): void {
    const originAt = originsIn(origins);
    let last = '';
    let role: AddedRole | undefined;
    for (const { line, range, isHidden = false } of found) {
      const json = originAt(line);
      if (`${isHidden}${json}` !== last) {
        last = `${isHidden}${json}`;
        const key = `${isHidden} ${roleIn(json)}`;
        role = this.#roles.get(key);
        const at = role ? undefined : originOf({ body, origins: [JSON.parse(json) as Origin] }, line);
        if (at) {
          const [shown, hidden] = formsOf(body.split('\n', line + 1)[line] ?? '');
          role = {
            lines: 0,
            hidden: isHidden,
            at: isHidden ? { ...at, role: `${at.role} hidden` } : at,
            place: at.place + (isHidden ? 0 : expandTabs(shown.slice(0, range[0]), tabStop).length),
            ...excerptOf((isHidden ? hidden : shown) ?? '', range, isHidden),
          };
          this.#roles.set(key, role);
        }
        if (isPieceOfLast(json, role)) continue;
      }
      if (role) role.lines += 1;
    }
  }

  /** The matches by role; roles in messages come first. */
  get roles(): readonly RoleMatch[] {
    const { true: inMessages = [], false: others = [] } = Object.groupBy(this.#roles.values(), each =>
      isInMessage(each) ? 'true' : 'false',
    );
    return [...inMessages, ...others];
  }
}

/** Separates two origins. It cannot occur inside a JSON string, where quotes are escaped. */
const nextOrigin = '},{"from":';

/**
 * Returns a function that finds the JSON of a line's origin; the lines must ascend. Parses no other origin, because
 * parsing all of them takes long.
 */
function originsIn(origins: string): (line: number) => string {
  let to = -1;
  let next = 0;
  let current = '';
  return line => {
    while (next <= line) {
      const from = to + 2;
      to = origins.indexOf(nextOrigin, from);
      // The array ends with a bracket.
      current = origins.slice(from, to < 0 ? -1 : to + 1);
      next = to < 0 ? Number.POSITIVE_INFINITY : Number.parseInt(origins.slice(to + nextOrigin.length), 10);
    }
    return current;
  };
}

/** The values that distinguish the roles of two origins in JSON, and whether they are in messages. */
function roleIn(json: string): string {
  const from = json.indexOf('"role":');
  const isMessage = json.slice(0, from).includes('"message":');
  return `${isMessage} ${json.slice(from, json.indexOf(',"line":', from))}`;
}
