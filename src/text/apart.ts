/** Two names that may begin alike, cut to a width without becoming the same. */
import { displayWidth, graphemes, truncate } from './width.ts';

/** How many of the graphemes that the two have in common stand before those that differ. */
const context = 2;

const commonStart = (one: readonly string[], other: readonly string[]): number => {
  const shorter = Math.min(one.length, other.length);
  let common = 0;
  while (common < shorter && one[common] === other[common]) common += 1;
  return common;
};

/** `name` in `width` cells: without its middle, or without its beginning where only so it shows in what it differs from `other`. */
export function cutApart(name: string, other: string, width: number): string {
  const cut = truncate(name, width, { position: 'middle' });
  if (cut === name || name === other) return cut;
  const [own, others] = [graphemes(name), graphemes(other)];
  const from = commonStart(own, others);
  const end = commonStart(
    own.toReversed().slice(0, own.length - from),
    others.toReversed().slice(0, others.length - from),
  );
  // Half of the width is of the beginning, and half of the end.
  const half = Math.floor((width - 1) / 2);
  const shows =
    displayWidth(own.slice(0, from + 1).join('')) <= half ||
    displayWidth(own.slice(own.length - end - 1).join('')) <= half;
  return shows ? cut : truncate(`…${own.slice(Math.max(0, from - context)).join('')}`, width);
}
