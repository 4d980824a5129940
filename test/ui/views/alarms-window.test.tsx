/** The window with a run's alarms. */
import { expect, it } from 'vitest';
import { unknownResource } from '../../../src/queries/statuses/known-resource.ts';
import { LineAlarms } from '../../../src/ui/views/alarms-window.tsx';
import { openOnStage } from '../stage.tsx';

it('keeps the indent of an alarm on all its lines (out31 C12)', async () => {
  const ref = { kind: 'run', id: 'evr_1' };
  const run = { ...unknownResource(ref, 'first'), status: 'completed', done: 20, total: 20, failed: 15, graded: 5 };
  const stage = openOnStage(close => <LineAlarms run={run} onClose={close} />, { columns: 60, rows: 15 });
  await stage.waitFor('1 alarm:');
  const lines = stage.text().split('\n');
  const first = lines.findIndex(line => line.includes('15 of 20 rollouts'));
  const indentOf = (line = ''): number => line.replaceAll(/[│ ]*$/g, '').search(/[^│ ]/);
  expect(indentOf(lines[first + 1])).toBe(indentOf(lines[first]));
  expect(indentOf(lines[first])).toBe(indentOf(lines[first - 1]) + 2);
});
