import { expect, it } from 'vitest';
import { recordText, tableText } from '../../src/commands/output.ts';
import { runColumns } from '../../src/resources/run-columns.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

/** Sets the clipboard and the title, in both forms, and moves the cursor by a C1 control. */
const poison = 'be\u001b]52;c;ZXZpbA==\u0007ni\u001b]2;title\u001b\\gn\u009b2J';

it('prints a field of a record without escape sequences, and keeps its text (A1)', () => {
  expect(recordText({ name: poison }, 'name')).toBe('benign\n');
  expect(recordText({ inner: { name: poison } }, 'inner.name')).toBe('benign\n');
});

it.each([undefined, 100])('passes none on to a terminal or a pipe: columns %s (A1)', async columns => {
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

it('adds the number of rewards of a mean for programs, after the columns for people', async () => {
  const runs = [
    { eval_run_id: 'evr_1', status: 'cancelled', reward_mean: 0.5, reward_count: 888, total_rollouts: 1792 },
    { eval_run_id: 'evr_2', status: 'completed', reward_mean: 0.25 },
    { eval_run_id: 'evr_3', status: 'running', reward_mean: null, reward_count: null, total_rollouts: 1792 },
  ];
  const benchmarks = { items: [{ bench_id: 'b' }], has_more: false };
  const { url } = await hostileServer((response, request) =>
    json(request.url.includes('/eval/') ? runs : benchmarks)(response, request),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  const { out } = await cli('list', ['runs']);
  expect(out.split('\n')).toEqual([
    'RUN\tID\tSTATUS\tMEAN\tSEEN\tBENCHMARK\tMODEL\tCHECKPOINT\tSTARTED\tSTEP\tN\tTOTAL\tFAILED\tTOOK\t95% CI\tVS BASE\tVS BASE 95% CI',
    'evr_1\tevr_1\tcancelled\t0.5\t\t\t\t\t\t\t888\t1792\t\t\t\t\t',
    'evr_2\tevr_2\tcompleted\t0.25\t\t\t\t\t\t\t\t\t\t\t\t\t',
    'evr_3\tevr_3\trunning\t\t\t\t\t\t\t\t0\t1792\t\t\t\t\t',
    '',
  ]);
  const csv = await cli('list', ['runs', '--format', 'csv']);
  expect(csv.out.split('\r\n')[0]).toBe(
    'run,id,status,mean,seen,benchmark,model,checkpoint,started,step,n,total,failed,took,95% ci,vs base,vs base 95% ci',
  );
  const sorted = await cli('list', ['runs', '--sort', 'n', '--columns', 'name,mean,n']);
  expect(sorted.out.split('\n')[1]).toBe('evr_1\t0.5\t888');
  const terminal = (await cli('list', ['runs'], { columns: 80 })).out;
  expect(terminal).toMatch(/0\.500 n=888.*\n.*0\.250 n=\?/);
  expect(terminal).toMatch(/N +TOTAL\n.* 888 +1792\n/);
});

it('keeps long names and ids apart in a table on a terminal, and never cuts a status in the middle', () => {
  const rows = ['seed 1', 'seed 2'].map((seed, index) => ({
    eval_run_id: `evr_${'0'.repeat(60)}${index}`,
    display_name: `nightly run of the tutor on the words, ${seed}, with the held-out split of the second week`,
    status: 'waiting_for_the_other_runs',
    bench_id: 'b1',
  }));
  const named = runColumns
    .filter(({ id }) => ['name', 'id', 'status'].includes(id))
    .map(each => ({ ...each, wide: false }));
  const [, one = '', other] = tableText(rows, named, { environment: {}, columns: 80 }).split('\n');
  expect(one).not.toBe(other);
  expect(one).toMatch(/d 1, with/);
  expect(one).toMatch(/ waiting.for… {2}evr_0+…0+$/);
  expect(other).toMatch(/ waiting.for… {2}evr_0+…0+1$/);
});

it('never cuts a number in a table on a terminal', () => {
  const run = { eval_run_id: 'evr_1', display_name: 'first', status: 'cancelled', bench_id: 'b1' };
  const rows = [{ ...run, reward_mean: 0.1726, reward_count: 888, total_rollouts: 1792 }];
  expect(tableText(rows, runColumns, { environment: {}, columns: 80 })).toContain(' 0.173 n=888');
});

it('shows no negative count, except in the raw record (C18)', async () => {
  const run = { training_run_id: 'trn_1', bench_id: 'b1', status: 'running', completed_steps: -3, total_steps: 10 };
  const benchmarks = { items: [{ bench_id: 'b1', label: 'words', eval_run_count: -1 }], has_more: false };
  const { url } = await hostileServer((response, request) => {
    const path = new URL(request.url, url).pathname;
    if (path === '/api/v1/benchmarks') return json(benchmarks)(response, request);
    if (path === '/api/v1/train/b1/runs') return json([run])(response, request);
    const isRun = ['/api/v1/train/trn_1', '/api/v1/train/trn_1/progress'].includes(path);
    return isRun ? json(run)(response, request) : refusal(404, 'not_found_error', 'gone')(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  const outOf = async (command: 'get' | 'list', ...args: string[]) => (await cli(command, args)).out;
  const lists = [
    await outOf('get', 'trn_1'),
    await outOf('list', 'training'),
    await outOf('list', 'training', '--format', 'csv'),
    await outOf('list', 'benchmarks', '--format', 'csv'),
  ];
  expect(lists.join('')).toContain('trn_1');
  expect(lists.join('')).not.toMatch(/-\d\b|progress/);
  expect(JSON.parse(await outOf('list', 'training', '--json'))[0]).toMatchObject({ completed_steps: -3 });
});
