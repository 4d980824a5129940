/** Reads the rows of a long JSON list as its bytes arrive, without holding its whole text or all rows at once. */
import { createHash } from 'node:crypto';
import { GrowingBytes } from './growing-bytes.ts';
import { deepestJson, isNestedDeeper, parseDeepJson } from './json-depth.ts';

/** Marks where rows were dropped from invalid JSON; valid JSON contains this character only inside strings. */
export const leftOut = '…';

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

const brackets = Buffer.from('[]');

/** Enough of the text before a list to contain its name. */
const maxNameBytes = 256;

/** Whole rows are recorded in blocks of at least this size. */
const blockBytes = 64 * 1024;

/** Whole rows of a list, as bytes. */
export interface RowBlock {
  readonly bytes: number;
  /** SHA-256. */
  readonly digest: string;
}

/** Takes a list's rows, and may keep them for the next response, which usually has the same rows plus a few more. */
export interface RowReader {
  add(row: unknown): void;
  /** The first rows of an earlier response, in blocks. */
  readonly blocks: readonly RowBlock[];
  /** Keeps the rows of the first `blocks` blocks, which have not changed, and drops the rest. */
  keep(blocks: number): void;
  /** Records the rows since the last block as a new block. */
  endBlock(block: RowBlock): void;
}

/** Keeps all rows of one response. */
export class AllRows implements RowReader {
  readonly blocks = [];
  readonly rows: unknown[] = [];

  add(row: unknown): void {
    this.rows.push(row);
  }

  keep(): void {}

  endBlock(): void {}
}

/**
 * Extracts a list's rows from JSON text: the text is the list itself, or an object with the list in a field. The text
 * that remains has an empty list. Rows that the reader has kept from an earlier response are compared rather than parsed.
 */
export class JsonRows {
  readonly #field: RegExp;
  readonly #reader: RowReader;
  #place: 'before' | 'within' | 'after' = 'before';
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  readonly #rest: Uint8Array[] = [];
  /** The bytes of rows that have not been parsed yet, after an opening bracket. */
  readonly #rows: GrowingBytes;
  #hasTaken = false;
  #isUnusable = false;
  /** The number of unchanged blocks; final once a block differs. */
  #same = 0;
  #isSame = true;
  /** The bytes received so far of the block being compared. */
  #compared: Uint8Array[] = [];
  #missingBytes = 0;
  /** The hash and size of the block being parsed. */
  #hash = createHash('sha256');
  #hashedBytes = 0;

  /**
   * @param name the field's name; must not need escaping
   * @param maxBytes the maximum size of the text
   */
  constructor(name: string, reader: RowReader, maxBytes: number) {
    this.#rows = new GrowingBytes(maxBytes + brackets.length);
    this.#field = new RegExp(`[{,]\\s*"${name}"\\s*:\\s*\\[$`);
    this.#reader = reader;
  }

  /** Takes the text's next bytes. They must not change afterwards. */
  add(bytes: Uint8Array): void {
    if (this.#place === 'within' && this.#isSame) this.#compare(bytes);
    else this.#scan(bytes);
  }

  /** Compares the list's next bytes with the blocks, and scans those that differ. */
  #compare(bytes: Uint8Array): void {
    let rest = bytes;
    for (;;) {
      const block = this.#reader.blocks[this.#same];
      if (!block) {
        this.#differ();
        break;
      }
      this.#missingBytes ||= block.bytes;
      const part = rest.subarray(0, this.#missingBytes);
      rest = rest.subarray(part.length);
      this.#compared.push(part);
      this.#missingBytes -= part.length;
      if (this.#missingBytes > 0) return;
      const hash = createHash('sha256');
      for (const each of this.#compared) hash.update(each);
      if (hash.digest('base64') !== block.digest) {
        this.#differ();
        break;
      }
      this.#compared = [];
      this.#same += 1;
      this.#hasTaken = true;
    }
    if (rest.length > 0) this.#scan(rest);
  }

  /** From here on, the list differs from the earlier response. */
  #differ(): void {
    const compared = this.#compared;
    [this.#isSame, this.#compared] = [false, []];
    this.#reader.keep(this.#same);
    for (const part of compared) this.#scan(part);
  }

  #scan(bytes: Uint8Array): void {
    // Where the current part of the text or the rows begins, and the comma after its last whole row.
    let [from, whole] = [0, -1];
    let [depth, isText, isEscaped] = [this.#depth, this.#isText, this.#isEscaped];
    for (let at = 0; at < bytes.length && this.#place !== 'after'; at += 1) {
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
        [this.#depth, this.#isText, this.#isEscaped] = [0, false, false];
        this.#compare(bytes.subarray(from));
        return;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth >= 0 || this.#place === 'before') continue;
        this.#takeRows(bytes.subarray(from, at), false);
        [from, whole] = [at, -1];
        this.#place = 'after';
      }
    }
    [this.#depth, this.#isText, this.#isEscaped] = [depth, isText, isEscaped];
    if (this.#place === 'within' && whole >= 0) {
      this.#takeRows(bytes.subarray(from, whole), true);
      from = whole + 1;
    }
    if (this.#place === 'within') this.#addRows(bytes.subarray(from));
    else this.#rest.push(bytes.subarray(from));
  }

  /** Whether the list that begins here is the field's value. */
  #isNamed(): boolean {
    return this.#field.test(Buffer.concat(this.#rest).subarray(-maxNameBytes).toString('latin1'));
  }

  #addRows(bytes: Uint8Array): void {
    if (this.#rows.size === 0) this.#rows.add(brackets.subarray(0, 1));
    this.#rows.add(bytes);
  }

  /** @param isFollowed whether a comma follows */
  #takeRows(end: Uint8Array, isFollowed: boolean): void {
    this.#addRows(end);
    const bytes = this.#rows.size - 1;
    if (isFollowed) this.#hash.update(this.#rows.view().subarray(1)).update(',');
    this.#rows.add(brackets.subarray(1));
    const text = this.#rows.takeText();
    const rows = parseDeepJson(text);
    // There must be a row before and after each comma.
    const isMissing = (isFollowed || this.#hasTaken) && text.slice(1, -1).trim() === '';
    this.#hasTaken = true;
    if (!Array.isArray(rows) || isMissing) this.#keepUnusable(`${leftOut}${text.slice(1, -1)}`);
    // Rows nested too deep stay in the text, whose parser refuses them.
    else if (isNestedDeeper(rows, deepestJson - 1)) this.#keepUnusable(text.slice(1, -1));
    else for (const row of rows) this.#reader.add(row);
    if (!isFollowed) return;
    this.#hashedBytes += bytes + 1;
    if (this.#hashedBytes < blockBytes) return;
    this.#reader.endBlock({ bytes: this.#hashedBytes, digest: this.#hash.digest('base64') });
    [this.#hash, this.#hashedBytes] = [createHash('sha256'), 0];
  }

  /** Leaves the first unusable part in the text, so that the parser's error points to it. */
  #keepUnusable(rows: string): void {
    if (!this.#isUnusable) this.#rest.push(Buffer.from(rows));
    this.#isUnusable = true;
  }

  /** The text without the rows. It is invalid if the rows are invalid. */
  text(): string {
    if (this.#isSame) this.#differ();
    if (this.#rows.size > 0) this.#keepUnusable(`${leftOut}${this.#rows.takeText().slice(1)}`);
    return Buffer.concat(this.#rest).toString();
  }
}
