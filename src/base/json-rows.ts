/** Reads the rows of a long list in JSON as its bytes arrive, so that neither its text nor all of its rows are held at once. */
import { parseDeepJson } from './json-depth.ts';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Enough of the text before a list to hold its name. */
const mostNameBytes = 256;

/**
 * Takes the rows of a list from a JSON text: of the whole text, or of a field of its object. The rest remains, with an
 * empty list in their place.
 */
export class JsonRows {
  readonly #field: RegExp;
  readonly #take: (row: unknown) => void;
  #place: 'before' | 'within' | 'behind' = 'before';
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** What has arrived of the rest, and of the rows that are not taken yet. */
  readonly #rest: Uint8Array[] = [];
  #rows: Uint8Array[] = [];
  #hasTaken = false;
  #isBroken = false;

  /** @param name the field; must not need escaping */
  constructor(name: string, take: (row: unknown) => void) {
    this.#field = new RegExp(`[{,]\\s*"${name}"\\s*:\\s*\\[$`);
    this.#take = take;
  }

  /** Takes the next bytes of the text. They must not change afterwards. */
  add(bytes: Uint8Array): void {
    // Where the current part of the rest or of the rows begins, and the comma behind its last whole row.
    let [from, whole] = [0, -1];
    let [depth, isText, isEscaped] = [this.#depth, this.#isText, this.#isEscaped];
    for (let at = 0; at < bytes.length && this.#place !== 'behind'; at += 1) {
      const byte = bytes[at];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
      } else if (byte === quote) isText = true;
      else if (byte === comma) {
        if (depth === 0) whole = at;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        if (this.#place === 'within' || byte === openBrace || depth > 2) continue;
        this.#rest.push(bytes.subarray(from, at + 1));
        from = at + 1;
        if (depth > 1 && !this.#isNamed()) continue;
        this.#place = 'within';
        depth = 0;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth >= 0 || this.#place === 'before') continue;
        this.#takeRows(bytes.subarray(from, at), false);
        [from, whole] = [at, -1];
        this.#place = 'behind';
      }
    }
    [this.#depth, this.#isText, this.#isEscaped] = [depth, isText, isEscaped];
    if (this.#place === 'within' && whole >= 0) {
      this.#takeRows(bytes.subarray(from, whole), true);
      from = whole + 1;
    }
    (this.#place === 'within' ? this.#rows : this.#rest).push(bytes.subarray(from));
  }

  /** Whether the list that begins here is the field. */
  #isNamed(): boolean {
    return this.#field.test(Buffer.concat(this.#rest).subarray(-mostNameBytes).toString('latin1'));
  }

  /** @param isFollowed whether a comma follows */
  #takeRows(end: Uint8Array, isFollowed: boolean): void {
    const text = Buffer.concat([...this.#rows, end]).toString();
    this.#rows = [];
    const rows = parseDeepJson(`[${text}]`);
    // Before or behind a comma, there must be a row.
    const isMissing = (isFollowed || this.#hasTaken) && text.trim() === '';
    this.#hasTaken = true;
    if (Array.isArray(rows) && !isMissing) for (const row of rows) this.#take(row);
    else this.#isBroken = true;
  }

  /** The text without the rows. If these are not JSON, neither is this. */
  text(): string {
    return Buffer.concat([...this.#rest, ...this.#rows]).toString() + (this.#isBroken ? '…' : '');
  }
}
