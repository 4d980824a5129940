import { expect, it } from 'vitest';
import { recordText, tableText } from '../../src/commands/output.ts';
import { runColumns } from '../../src/resources/runs.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** Sets the clipboard and the title, in both forms, and moves the cursor by a C1 control. */
const poison = 'be\u001b]52;c;ZXZpbA==\u0007ni\u001b]2;title\u001b\\gn\u009b2J';

it('writes a field of a record without escape sequences, and keeps its text (A1)', () => {
  expect(recordText({ name: poison }, 'name')).toBe('benign\n');
  expect(recordText({ inner: { name: poison } }, 'inner.name')).toBe('benign\n');
});

it.each([undefined, 100])('lets none through on a terminal nor in a pipe: columns %s (A1)', async columns => {
  const { url } = await hostileServer(
    json({ bench_id: 'bench_1', label: poison, description: `two\nlines ${poison}` }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  for (const field of ['label', 'description']) {
    const { out, notes } = await cli('get', ['benchmark', 'bench_1', '--field', field], {
      ...(columns !== undefined && { columns }),
    });
    expect(out).toBe(field === 'label' ? 'benign\n' : 'two\nlines benign\n');
    expect(`${out}${notes}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  }
});

it('cuts no number in a table on a terminal', () => {
  const run = { eval_run_id: 'evr_1', display_name: 'first', status: 'cancelled', bench_id: 'b1' };
  const rows = [{ ...run, reward_mean: 0.1726, reward_count: 888, total_rollouts: 1792 }];
  expect(tableText(rows, runColumns, { environment: {}, columns: 80 })).toContain(' 0.173 n=888');
});
