/** Highlights matches in a line. Pure. */
import type { Filter } from '../../text/filter.ts';
import type { Range } from '../../text/fuzzy.ts';
import type { Style, Theme } from './theme/theme.tsx';

const plainStyle: Style = text => text;

/** Text with these ranges in the match style, and the rest in its own style. */
export function withMatches(text: string, ranges: readonly Range[], { styles }: Theme, style = plainStyle): string {
  let shown = '';
  let from = 0;
  for (const [start, end] of ranges) {
    shown += style(text.slice(from, start)) + styles.match(text.slice(start, end));
    from = end;
  }
  return shown + style(text.slice(from));
}

/** The ranges of a text to highlight. */
export function matchesIn(text: string, filter: Filter | undefined): readonly Range[] {
  const isSearch = filter && filter.kind !== 'all' && filter.kind !== 'inverse';
  return (isSearch && filter.matches(text)) || [];
}

/** Text with a filter's matches highlighted, and the rest in its own style. */
export const highlight = (text: string, filter: Filter | undefined, theme: Theme, style = plainStyle): string =>
  withMatches(text, matchesIn(text, filter), theme, style);
