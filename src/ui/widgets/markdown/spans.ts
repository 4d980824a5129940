/** Inline Markdown as styled spans, and spans as lines. */

import type { MarkedToken, Tokens } from 'marked';
import { own } from '../../../base/own-property.ts';
import { sanitise, sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, truncate, walk } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { StyleName, Theme } from '../theme/theme.tsx';
import { asMarkedTokens } from './lexer.ts';

/** Text in the same styles. A line feed ends a line. */
export interface Span {
  readonly text: string;
  readonly styles: readonly StyleName[];
}

/** Inline tokens as spans; each adds its own styles to `styles`. */
export function spansOf(tokens: readonly MarkedToken[], theme: Theme, styles: readonly StyleName[] = []): Span[] {
  return tokens.flatMap(token => spansOfToken(token, theme, styles));
}

function spansOfToken(token: MarkedToken, theme: Theme, styles: readonly StyleName[]): Span[] {
  const inside = (tokens: readonly { readonly type: string }[], style: StyleName): Span[] =>
    spansOf(asMarkedTokens(tokens), theme, withStyle(styles, style));
  const marked = (mark: string, style: StyleName, spans: Span[]): Span[] => {
    // If the theme cannot show a style, keep the author's marks, which carry the meaning.
    if (theme.styles[style]('x') !== 'x') return spans;
    return [{ text: mark, styles }, ...spans, { text: mark, styles }];
  };
  switch (token.type) {
    case 'strong':
      return marked('**', 'strong', inside(token.tokens, 'strong'));
    case 'em':
      return marked('*', 'emphasis', inside(token.tokens, 'emphasis'));
    case 'del': {
      // No theme strikes text through, and many terminals cannot.
      const tilde = { text: '~~', styles: withStyle(styles, 'muted') };
      return [tilde, ...inside(token.tokens, 'muted'), tilde];
    }
    case 'codespan':
      return marked('`', 'code', [{ text: sanitiseLine(token.text), styles: withStyle(styles, 'code') }]);
    case 'link':
      return linkSpans(token, inside(token.tokens, 'link'), styles);
    case 'image': {
      const name = token.text === '' ? 'image' : decodeReferences(token.text);
      return linkSpans(token, [{ text: name, styles: withStyle(styles, 'link') }], styles);
    }
    case 'br':
      return [{ text: '\n', styles }];
    case 'checkbox':
      return [];
    case 'text':
      if (token.tokens !== undefined) return spansOf(asMarkedTokens(token.tokens), theme, styles);
      // The token's `text` is HTML-escaped: some character references are decoded, others added.
      return [{ text: textOf(token.escaped === true ? token.raw : decodeReferences(token.raw)), styles }];
    default:
      return [{ text: textOf('text' in token ? token.text : token.raw), styles }];
  }
}

/** A link's text, and its target unless the text is the target. */
function linkSpans(token: Tokens.Link | Tokens.Image, name: Span[], styles: readonly StyleName[]): Span[] {
  const literal = token.type === 'link' && token.autolink === true;
  const address = sanitiseLine(literal ? token.href : decodeReferences(token.href));
  const link = withStyle(styles, 'link');
  if (literal) return [{ text: sanitiseLine(token.text), styles: link }];
  const shown = plainOf(name).trim();
  if (shown === '' || shown === address) return [{ text: address, styles: link }];
  if (address === '') return name;
  return [...name, { text: ` (${address})`, styles: withStyle(styles, 'muted') }];
}

/** Adds a style unless it is there already: marks may be nested deeply. */
function withStyle(styles: readonly StyleName[], style: StyleName): readonly StyleName[] {
  return styles.includes(style) ? styles : [...styles, style];
}

/** Keeps line ends, because chat authors mean them. Spaces around them are only source layout. */
function textOf(text: string): string {
  return sanitise(text, { multiline: true }).replace(/(?<! ) *\n */g, '\n');
}

const namedCharacters: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Decodes character references. The result is as untrusted as any other text. */
function decodeReferences(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos|nbsp));/g, (...found) => {
    const [whole, decimal, hexadecimal, name] = found as [string, string?, string?, string?];
    if (name !== undefined) return own(namedCharacters, name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number.parseInt(decimal, 10);
    // Characters are sanitised one at a time, so that they cannot combine into an escape sequence.
    return code > 0x10ffff ? '\ufffd' : sanitiseLine(String.fromCodePoint(code));
  });
}

export function plainOf(spans: readonly Span[]): string {
  return spans.map(span => span.text).join('');
}

/** Spans as lines of at most `width` cells, broken between words. */
export function spanLines(spans: readonly Span[], width: number, theme: Theme): string[] {
  const text = plainOf(spans);
  const styled = styler(spans, theme);
  let from = 0;
  return wrap(text, width).map(line => {
    // A break drops only spaces and line ends, so the line begins at the next occurrence of its text.
    const start = Math.max(from, text.indexOf(line, from));
    from = start + line.length;
    if (text[from] === '\n') from += 1;
    return styled(fitLine(line, width, theme), start);
  });
}

/** Spans on one line of at most `width` cells, cut with an ellipsis. */
export function cutSpans(spans: readonly Span[], width: number, theme: Theme): { text: string; width: number } {
  const flat = spans.map(span => ({ ...span, text: span.text.replaceAll('\n', ' ') }));
  const cut = truncate(plainOf(flat), width, { ellipsis: theme.glyphs.ellipsis });
  return { text: styler(flat, theme)(cut, 0), width: displayWidth(cut) };
}

/** A line of code in pieces at most `width` cells wide; no space is dropped. */
export function hardLines(line: string, width: number, theme: Theme): string[] {
  const pieces: string[] = [];
  let start = 0;
  let cells = 0;
  walk(line, (from, _to, own) => {
    if (cells + own > width && from > start) {
      pieces.push(line.slice(start, from));
      start = from;
      cells = 0;
    }
    cells += own;
    return true;
  });
  pieces.push(line.slice(start));
  return pieces.map(piece => fitLine(piece, width, theme));
}

/** Plain text as lines of at most `width` cells. */
export function plainLines(text: string, width: number, theme: Theme): string[] {
  return wrap(text, width).map(line => fitLine(line, width, theme));
}

/** Truncates a line that is still too wide: in a single column, even a wide character alone does not fit. */
function fitLine(line: string, width: number, theme: Theme): string {
  return width > 1 && line.length <= width / 2 ? line : truncate(line, width, { ellipsis: theme.glyphs.ellipsis });
}

/**
 * Returns a function that styles ranges of the spans' text, to be called in offset order. A grapheme across two spans
 * gets the first one's style: an escape sequence inside it would change its width.
 */
function styler(spans: readonly Span[], theme: Theme): (part: string, offset: number) => string {
  let index = 0;
  let end = spans[0]?.text.length ?? 0;
  const stylesAt = (offset: number): readonly StyleName[] => {
    while (offset >= end && index < spans.length - 1) {
      index += 1;
      end += spans[index]?.text.length ?? 0;
    }
    return spans[index]?.styles ?? [];
  };
  return (part, offset) => {
    let line = '';
    let start = 0;
    let styles: readonly StyleName[] = [];
    const flush = (to: number): void => {
      line += styles.reduce((text, style) => theme.styles[style](text), part.slice(start, to));
      start = to;
    };
    walk(part, from => {
      const own = stylesAt(offset + from);
      if (own !== styles) {
        flush(from);
        styles = own;
      }
      return true;
    });
    flush(part.length);
    return line;
  };
}
