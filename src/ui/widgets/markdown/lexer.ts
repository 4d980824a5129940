/**
 * Markdown taken apart by the library's lexer, within bounds: nesting, table size and the work on one stretch of
 * inline text are capped, since an answer may be made to be slow to read.
 */
import { Lexer, type MarkedToken, Tokenizer, type Tokens } from 'marked';

/** UTF-16 units. Some thirty screens of text; a longer answer is shown as plain text. */
const maximumLength = 100_000;
/** Lists and quotes inside each other. Deeper ones keep their marks and are shown as text. */
const maximumDepth = 12;
/**
 * Units of lists and quotes that may be read, for each unit of the text. One is read once at each of its levels, and
 * once more for each line by which the lexer finds it to continue, which is quadratic.
 */
const maximumRereads = 3 * maximumDepth;
/** Cells of one table. Rows are filled up to the width of the header, so a wide header over short rows multiplies. */
const maximumCells = 20_000;
/** Lines that rule off the header of a table. At each, the lexer reads the text to its end in search of rows. */
const maximumTableRules = 100;
/** Inline text beyond either is shown without looking for marks: the search is quadratic in them. */
const maximumInline = { length: 10_000, marks: 600 } as const;

const inlineMarks = /[*_~`[\]<>!\\&]/g;

class BoundedTokenizer extends Tokenizer {
  #depth = 0;
  #unitsLeft: number;

  constructor(length: number) {
    super();
    // What is short may be as tangled as it likes.
    this.#unitsLeft = maximumRereads * (length + 1_000);
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this.#within(() => super.blockquote(source));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#within(() => super.list(source));
  }

  override table(source: string): Tokens.Table | undefined {
    const found = this.rules.block.table.exec(source)?.[0];
    if (found === undefined) return undefined;
    const header = found.slice(0, found.indexOf('\n'));
    const cells = header.split('|').length * found.split('\n').length;
    return cells > maximumCells ? undefined : super.table(source);
  }

  #within<T extends Tokens.Blockquote | Tokens.List>(read: () => T | undefined): T | undefined {
    if (this.#depth >= maximumDepth) return undefined;
    this.#depth += 1;
    const token = read();
    this.#depth -= 1;
    this.#unitsLeft -= token?.raw.length ?? 0;
    // Ends the whole reading, which then answers undefined.
    if (this.#unitsLeft < 0) throw new RangeError('These lists and quotes are nested too deeply to be shown');
    return token;
  }
}

/** The tokens of `text`, or undefined if it is too long or too tangled to be read as Markdown. Never throws. */
export function readMarkdown(text: string): MarkedToken[] | undefined {
  if (text.length > maximumLength || tableRules(text) > maximumTableRules) return undefined;
  try {
    const lexer = new Lexer({ gfm: true, tokenizer: new BoundedTokenizer(text.length) });
    lexer.blockTokens(text, lexer.tokens);
    // What `lex` does with the queue, but each stretch is measured first.
    for (const { src, tokens } of lexer.inlineQueue) {
      if (isCostly(src)) tokens.push({ type: 'text', raw: src, text: src, escaped: true });
      else lexer.inlineTokens(src, tokens);
    }
    return known(lexer.tokens);
  } catch {
    return undefined;
  }
}

/** Lines like `|---|:-:|`, be it in a quote or a list. */
function tableRules(text: string): number {
  let count = 0;
  for (const line of text.split('\n')) {
    // From the end, character by character: a pattern that is open to the left would be quadratic.
    let start = line.length;
    while (start > 0 && ' |:-'.includes(line.charAt(start - 1))) start -= 1;
    if (start > 0 && !'>*+.)'.includes(line.charAt(start - 1))) continue;
    const rule = line.slice(start);
    if (rule.includes('-') && /[|:]/.test(rule)) count += 1;
  }
  return count;
}

function isCostly(inline: string): boolean {
  return inline.length > maximumInline.length || (inline.match(inlineMarks)?.length ?? 0) > maximumInline.marks;
}

/** Without extensions the lexer makes no tokens but its own, which its types do not say. */
export function known(tokens: readonly { readonly type: string }[] | undefined): MarkedToken[] {
  return (tokens ?? []) as MarkedToken[];
}
