/** The part of long facts that fits. */
import { expect, it } from 'vitest';
import { linesAround } from '../../../../src/ui/views/record/use-references.ts';

const lines = ['a', 'b', 'c', 'd', 'e', 'f'];

it('says how many lines follow, and always shows the selected one', () => {
  expect(linesAround(lines, 6, undefined)).toEqual(lines);
  expect(linesAround(lines, 4, undefined)).toEqual(['a', 'b', 'c', '… 3 more lines']);
  expect(linesAround(lines, 4, 3)).toEqual(['b', 'c', 'd', '… 2 more lines']);
  for (const at of lines.keys()) {
    for (let height = 3; height <= 6; height += 1) expect(linesAround(lines, height, at)).toContain(lines[at]);
  }
});
