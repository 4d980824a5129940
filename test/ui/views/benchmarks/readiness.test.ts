import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { readiness } from '../../../../src/contract/benchmarks.ts';
import { readinessLines } from '../../../../src/ui/views/benchmarks/readiness.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

it.each([true, false])('a warning is shown whether the benchmark is ready or not: %s', ready => {
  const said = readiness.parse({ ready, warnings: ['1 task cannot be \u001b[31mgraded here', { task: 'b' }] });
  const lines = readinessLines(said, createTheme('plain', true), () => '').map(stripVTControlCharacters);
  expect(lines.slice(-2)).toEqual(['! 1 task cannot be graded here', '! {"task":"b"}']);
});
