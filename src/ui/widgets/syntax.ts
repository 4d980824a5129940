/** Colours for JSON and diffs, line by line. Pure. */
import type { Style, Styles } from './theme/theme.tsx';

/** A key, if there is one, and a value that begins on this line. */
const keyAndRest = /^(\s*)("(?:[^"\\]|\\.)*")(:.*)$/;
const literal = /^([:\s]*)(-?\d[\d.eE+-]*|true|false|null)(,?\s*)$/;
const string = /^([:\s]*)("(?:[^"\\]|\\.)*")(,?\s*)$/;

/** A line of JSON: keys, strings and other values in their own colours, the rest in `base`. */
export function jsonLine(line: string, styles: Styles, base: Style = text => text): string {
  const [, indent = '', key, rest = line] = keyAndRest.exec(line) ?? [];
  return key === undefined
    ? valueLine(line, styles, base)
    : indent + styles.accent(key) + valueLine(rest, styles, base);
}

function valueLine(text: string, styles: Styles, base: Style): string {
  const found = literal.exec(text);
  const [, before = '', value, after = ''] = found ?? string.exec(text) ?? [];
  if (value === undefined) return base(text);
  return before + (found ? styles.code : styles.success)(value) + after;
}

/** The style for a diff line, by how it begins; undefined for an unchanged line. */
export function differenceStyle(line: string, styles: Styles): Style | undefined {
  if (line.startsWith('@@')) return styles.accent;
  if (line.startsWith('+')) return styles.success;
  return line.startsWith('-') ? styles.danger : undefined;
}
