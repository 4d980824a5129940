import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { readiness, taskCount } from '../../../../src/contract/benchmarks.ts';
import { readinessLines, taskLines } from '../../../../src/ui/views/benchmarks/readiness.ts';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';

it.each([true, false])('shows a warning whether the benchmark is ready or not: %s', ready => {
  const said = readiness.parse({ ready, warnings: ['1 task cannot be \u001b[31mgraded here', { task: 'b' }] });
  const lines = readinessLines(said, 60, createTheme('plain', true), () => '').map(stripVTControlCharacters);
  expect(lines.slice(-2)).toEqual(['! 1 task cannot be graded here', '! {"task":"b"}']);
});

it('never cuts a warning', () => {
  const said = readiness.parse({ ready: true, warnings: ['2 tasks cannot be graded here and get no reward'] });
  const lines = readinessLines(said, 30, createTheme('plain', true), () => '').map(stripVTControlCharacters);
  expect(lines.slice(1)).toEqual(['! 2 tasks cannot be graded', '  here and get no reward']);
});

it('shows counts of tasks that overflow as such', () => {
  const said = taskCount.parse(JSON.parse('{"task_count":8,"by_split":{"train":1e999,"test":2}}'));
  const lines = taskLines(said, createTheme('plain', true)).map(stripVTControlCharacters);
  expect(lines).toEqual(['8 tasks: ∞ train, 2 test']);
});

it('counts images that are not ready in words', () => {
  const said = readiness.parse({ ready: false, unready_task_image_counts: { null: 2, pending: 1, not_started: 3 } });
  const lines = readinessLines(said, 60, createTheme('plain', true), () => '').map(stripVTControlCharacters);
  expect(lines).toEqual(
    expect.arrayContaining(['! 2 images without a status', '! 1 image pending', '! 3 images not started']),
  );
});

it('does not show a readiness of null as not ready, unless something blocks it (B3)', () => {
  const lines = (said: object): string[] =>
    readinessLines(readiness.parse({ ready: null, ...said }), 60, createTheme('plain', true), () => '').map(
      stripVTControlCharacters,
    );
  expect(lines({ warnings: ['slow'] })).toEqual(['readiness not reported', '! slow']);
  expect(lines({ unready_task_image_counts: { pending: 1 } })[0]).toContain('not ready');
});
