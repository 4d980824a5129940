/**
 * The package `string-width`, with a short way for simple text. The build gives it to Ink in the package's place: Ink
 * measures every cell of every frame, and the package's expressions take milliseconds a frame and 20 ms to compile.
 */
import stringWidth, { type Options } from 'string-width';
import { simpleTextWidth } from './width.ts';

/** Styles (SGR), which take no cell. */
const styles = /\u001b\[[\d;]*m/g;

/** Cells of a text as a terminal shows it; the same number as the package gives. */
export default function measure(text: string, options?: Options): number {
  const plain = options?.countAnsiEscapeCodes || !text.includes('\u001b') ? text : text.replace(styles, '');
  return simpleTextWidth(plain) ?? stringWidth(text, options);
}
