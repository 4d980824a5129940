/**
 * Parses Markdown with marked's lexer, within limits: nesting, table size and the work on inline text are capped,
 * because a model's answer may be crafted to parse slowly.
 */
import { Lexer, type MarkedToken, Tokenizer, type Tokens } from 'marked';

/** UTF-16 units, about thirty screens; a longer answer is shown as plain text. */
const maximumLength = 100_000;
/** Maximum nesting depth for lists and quotes. Deeper ones keep their marks and are shown as text. */
const maximumDepth = 12;
/**
 * Limits the work on lists and quotes, per unit of text. The lexer reads these once per level, and again for each line
 * that may continue them, which is quadratic.
 */
const maximumRereads = 3 * maximumDepth;
/** Maximum cells in one table. Rows are padded to the header's width, so a wide header multiplies short rows. */
const maximumCells = 20_000;
/** Maximum number of table header rules. At each, the lexer scans to the end of the text for rows. */
const maximumTableRules = 100;
/** Longer inline text, or text with more marks, is not parsed: that would take quadratic time. */
const maximumInline = { length: 10_000, marks: 600 } as const;

const inlineMarks = /[*_~`[\]<>!\\&]/g;

class BoundedTokenizer extends Tokenizer {
  #depth = 0;
  #unitsLeft: number;

  constructor(length: number) {
    super();
    // Short text may have any number of marks.
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
    // Aborts parsing, which then returns undefined.
    if (this.#unitsLeft < 0) throw new RangeError('These lists and quotes are nested too deeply to be shown');
    return token;
  }
}

/** The tokens in `text`, or undefined if it is too long or too tangled. Never throws. */
export function readMarkdown(text: string): MarkedToken[] | undefined {
  if (text.length > maximumLength || tableRules(text) > maximumTableRules) return undefined;
  try {
    const lexer = new Lexer({ gfm: true, tokenizer: new BoundedTokenizer(text.length) });
    lexer.blockTokens(text, lexer.tokens);
    // Processes the queue as `lex` does, but measures each piece first.
    for (const { src, tokens } of lexer.inlineQueue) {
      if (isCostly(src)) tokens.push({ type: 'text', raw: src, text: src, escaped: true });
      else lexer.inlineTokens(src, tokens);
    }
    return asMarkedTokens(lexer.tokens);
  } catch {
    return undefined;
  }
}

/** Lines like `|---|:-:|`, also in a quote or a list. */
function tableRules(text: string): number {
  let count = 0;
  for (const line of text.split('\n')) {
    // Backwards, character by character: a pattern with no fixed start would take quadratic time.
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

/** Without extensions, the lexer produces only its own tokens, but its types are wider. */
export function asMarkedTokens(tokens: readonly { readonly type: string }[] | undefined): MarkedToken[] {
  return (tokens ?? []) as MarkedToken[];
}
