/** Notes on the command line, even if they cannot be saved, and notes of an older version. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { notFound, pageOf } from '../queries/scripted-service.ts';
import { hostileServer } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

/** Commands where the folder of the history cannot be made. */
function cliWithoutStore() {
  const home = testFolder();
  mkdirSync(join(home, '.local'));
  writeFileSync(join(home, '.local/state'), '');
  return { home, cli: cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home }) };
}

it('say that they cannot be saved or read if nothing can be stored', async () => {
  const { home, cli } = cliWithoutStore();
  const file = join(home, 'notes.jsonl');
  writeFileSync(file, JSON.stringify({ kind: 'run', id: 'evr_1', author: 'bob', flag: 'bad', at: 1_000 }));
  const failed = { code: 1, out: '', notes: expect.stringContaining('Notes can neither be read nor saved.') };
  for (const [command, args] of [
    ['notes set', ['evr_1', '--flag', 'bad']],
    ['notes import', [file]],
    ['notes list', []],
    ['notes export', []],
    ['export', ['--flagged']],
    ['report', ['--flagged']],
  ] as const)
    expect([command, await cli(command, args)]).toEqual([command, expect.objectContaining(failed)]);
});

it('are saved, but cannot all be read until a damaged file is moved away', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home });
  await cli('notes set', ['evr_1', '--note', 'a week of work']);
  const folder = join(home, '.local/state/benchtop');
  writeFileSync(join(folder, 'remembered.db'), 'no database any more, and long enough to be looked at as one');
  const failed = { code: 1, notes: expect.stringContaining('broken-') };
  expect(await cli('notes export', [])).toMatchObject({ ...failed, out: '' });
  expect(await cli('notes set', ['evr_1', '--flag', 'bad'])).toMatchObject({ ...failed, code: 0 });
  expect(await cli('notes list', [])).toMatchObject({ ...failed, out: expect.stringContaining('bad') });
  expect(await cli('doctor', [])).toMatchObject({ out: expect.stringMatching(/^warn +memory +.*broken-/m) });
  for (const name of readdirSync(folder)) if (name.includes('broken-')) rmSync(join(folder, name));
  expect(await cli('notes list', [])).toMatchObject({ code: 0, notes: '' });
});

it('are refused if import would refuse them, and exported if it would take them', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home });
  expect(await cli('notes set', ['evr_1', '--note', 'a'.repeat(12_000)])).toMatchObject({
    code: 2,
    notes: expect.stringContaining('a note has at most 10000 characters; this one has 12000'),
  });
  const id = 'traj_'.padEnd(250, 'x');
  await cli('notes set', [id, '--flag', 'bad']);
  const file = join(home, 'notes.jsonl');
  writeFileSync(file, (await cli('notes export', [])).out);
  const elsewhere = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '' });
  expect(await elsewhere('notes import', [file])).toMatchObject({ code: 0, notes: '1 new, 0 newer, 0 unchanged' });
});

it('are refused with their line on what takes none, and replace nothing (B7)', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home });
  await cli('notes set', ['traj_1', '--flag', 'gamed']);
  const { notes } = JSON.parse((await cli('notes list', ['--json'])).out);
  const file = join(home, 'notes.jsonl');
  writeFileSync(file, `\n${JSON.stringify({ ...notes[0], kind: 'deployment', at: Date.now() + 1_000 })}\n`);
  expect(await cli('notes import', [file])).toMatchObject({
    code: 2,
    notes: expect.stringMatching(
      /, line 2: notes are only for trajectories and evaluation runs, not for a deployment\. Nothing/,
    ),
  });
  expect(JSON.parse((await cli('notes list', ['--json'])).out)).toEqual({ notes });
});

it('of two people with the same name are both kept, with their names (A9)', async () => {
  const [home, other] = [testFolder(), testFolder()];
  const [cli, elsewhere] = [home, other].map(each => cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home: each }));
  const file = join(home, 'notes.jsonl');
  await cli?.('notes set', ['traj_a1', '--flag', 'good', '--note', 'line one']);
  const { at } = JSON.parse((await cli?.('notes export', []))?.out ?? '');
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(at));
  await elsewhere?.('notes set', ['traj_a1', '--flag', 'gamed', '--note', 'B says gamed']);
  writeFileSync(file, (await elsewhere?.('notes export', []))?.out ?? '');
  // By default, notes name the machine too.
  const { author } = JSON.parse(readFileSync(file, 'utf8'));
  expect(author).toMatch(/^.+@.+$/);
  expect((await cli?.('notes import', [file]))?.notes.split('\n')).toEqual([
    '1 new, 0 newer, 0 unchanged',
    `Two notes by one name: traj_a1 (traj_a1): the imported one is by ${author} (2) here`,
    `Flagged differently: traj_a1 (traj_a1): ${author} (2) says gamed, ${author} says good`,
  ]);
  expect((await cli?.('notes list', []))?.out).toMatch(/B says gamed(.*\n)*.*line one/);
});

it('survive the removal of their profile, which says so, and return under another name (B4)', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: '', apiKey: '', home });
  const add = (name: string) => cli('profile add', [name, '--base-url', 'http://127.0.0.1:9', '--unchecked']);
  await add('prod');
  await add('empty');
  await cli('notes set', ['traj_1', '--flag', 'gamed', '--profile', 'prod']);
  await add('production');
  const list = await cli('notes list', ['--json', '--profile', 'production']);
  expect(JSON.parse(list.out)).toMatchObject({ notes: [{ id: 'traj_1', flag: 'gamed' }] });
  const words = ' Kept on this machine: 1 note. Any profile with the address http://127.0.0.1:9 has them.';
  expect((await cli('profile remove', ['prod', '--yes'])).notes).toMatch(
    new RegExp(`^Removed prod from .*\\.${words}$`),
  );
  expect(JSON.parse((await cli('profile remove', ['production', '--yes', '--json'])).out)).toMatchObject({
    kept: { address: 'http://127.0.0.1:9', notes: 1, conversations: 0, pins: 0 },
  });
});

it('with an invalid time are listed and exported without a time, imported elsewhere, and replaced', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home });
  const file = join(home, 'notes.jsonl');
  const since = new Date(1_000).toISOString();
  const said = { kind: 'trajectory', id: 'traj_1', author: 'bob', flag: 'hack', at: 1_000, since };
  writeFileSync(file, JSON.stringify(said));
  expect(await cli('notes import', [file])).toMatchObject({ code: 0, notes: '1 new, 0 newer, 0 unchanged' });
  const database = new DatabaseSync(join(home, '.local/state/benchtop/remembered.db'));
  database.prepare('update notes set at = ?').run(Number.MAX_SAFE_INTEGER);
  database.close();

  expect(await cli('notes list', [])).toMatchObject({ code: 0, out: expect.stringContaining('bob\t\ttraj_1') });
  const { code, out } = await cli('notes export', []);
  expect([code, JSON.parse(out)]).toMatchObject([0, { ...said, at: null }]);
  writeFileSync(file, out);
  const elsewhere = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '' });
  expect(await elsewhere('notes import', [file])).toMatchObject({ code: 0, notes: '1 new, 0 newer, 0 unchanged' });
  // A later version of its author replaces it.
  writeFileSync(file, JSON.stringify({ ...said, flag: '', at: 2_000 }));
  expect(await cli('notes import', [file])).toMatchObject({ code: 0, notes: '0 new, 1 newer, 0 unchanged' });
  expect(await cli('notes list', ['--json'])).toMatchObject({ out: expect.stringContaining('"notes": []') });
});

it('are saved for an existing id or name only (out30 A1)', async () => {
  const run = { eval_run_id: 'evr_1', display_name: 'nn-after', status: 'completed' };
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
      listEvalRuns: () => pageOf([run]),
      getEvalRun: ({ eval_run_id }) => {
        if (eval_run_id !== 'evr_1') throw new Error('unknown');
        return run;
      },
      listTrajectories: () => pageOf([{ trajectory_id: 'traj_1', task_id: 'one', status: 'completed' }]),
    }),
  );
  const home = testFolder();
  const cli = cliOn({ baseUrl: url, apiKey: 'key', home });
  expect(await cli('notes set', ['nn-after', '--flag', 'gamed'])).toMatchObject({ code: 0 });
  for (const word of ['totally-wrong-name', 'traj_doesnotexist', 'evr_2'])
    expect([word, await cli('notes set', ['nn-after', word, '--flag', 'bad'])]).toMatchObject([word, { code: 5 }]);
  const { out } = await cli('notes list', ['--json']);
  expect(JSON.parse(out).notes).toMatchObject([{ kind: 'run', id: 'evr_1', label: 'nn-after', flag: 'gamed' }]);
  // A service that cannot be asked keeps nobody from a note on an id, only from one on a name.
  const offline = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', home });
  expect(await offline('notes set', ['evr_3', '--flag', 'bad'])).toMatchObject({
    code: 0,
    notes: expect.stringMatching(/^It is not known whether there is a run evr_3: /),
  });
  expect(await offline('notes set', ['other', '--flag', 'bad'])).toMatchObject({ code: 3 });
});

it('filter trajectories by flag, as on screen (B7)', async () => {
  const items = ['one', 'two'].map(task_id => ({ trajectory_id: `traj_${task_id}`, task_id, status: 'completed' }));
  const { url } = await hostileServer(
    answering({ listTrajectories: () => pageOf(items), getTrajectory: () => items[1] }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key', home: testFolder() });
  await cli('notes set', ['traj_two', '--flag', 'gamed']);
  const list = (...flags: string[]) => cli('list', ['trajectories', ...flags]);
  expect(await list('--filter', 'flag:gamed', '--ids')).toMatchObject({ code: 0, out: 'traj_two\n' });
  expect(await list('--columns', 'task,flag')).toMatchObject({ out: 'TASK\tFLAG\none\t\ntwo\tgamed\n' });
  expect((await list()).out).not.toContain('FLAG');
  const onScreen = await cli('list', ['trajectories'], { columns: 120 });
  expect(onScreen.out).toMatch(/TASK +ID +FLAG /);
});

it('filter, sort and export runs, as on screen (out31 B9)', async () => {
  const items = ['one', 'two'].map(display_name => ({
    ...{ eval_run_id: `evr_${display_name}`, display_name, bench_id: 'bench_1', status: 'completed' },
  }));
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
      listEvalRuns: () => pageOf(items),
      getEvalRun: ({ eval_run_id }) => items.find(each => each.eval_run_id === eval_run_id),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key', home: testFolder() });
  await cli('notes set', ['evr_two', '--flag', 'gamed', '--note', 'it counts']);
  await cli('notes set', ['evr_one', '--note', 'fine']);
  const list = (...flags: string[]) => cli('list', ['runs', ...flags]);
  expect(await list('--filter', 'flag:', '--ids')).toMatchObject({ code: 0, out: 'evr_two\n' });
  expect(await list('-c', 'id,flag,note', '--format', 'csv', '--sort', 'flag')).toMatchObject({
    out: 'id,flag,note\r\nevr_two,gamed,it counts\r\nevr_one,,fine\r\n',
  });
  expect((await list()).out).not.toContain('FLAG');
  expect((await cli('list', ['runs'], { columns: 120 })).out).toMatch(/ FLAG (.*\n)*.*evr_one +note /);
});

it('are found by flag in any case, and say if training runs do not take them (out32 C4, C5)', async () => {
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
      listEvalRuns: () => pageOf([]),
      listTrajectories: () => pageOf([]),
      getEvalRun: ({ eval_run_id }) => (eval_run_id === 'evr_1' ? { eval_run_id } : notFound(String(eval_run_id))),
      listTrainingRuns: () => pageOf([{ training_run_id: 'trn_1', display_name: 'nn', status: 'completed' }]),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key', home: testFolder() });
  await cli('notes set', ['evr_1', '--flag', 'gamed']);
  expect((await cli('notes list', ['--flag', 'GAMED'])).out).toContain('\tgamed\t');
  expect((await cli('notes export', ['--flag', 'Gamed'])).notes).toBe('1 note');
  expect(await cli('notes list', ['--flag', 'bad'])).toMatchObject({ code: 0, out: '', notes: 'No notes match.' });
  const words = 'they are only for trajectories and evaluation runs';
  expect((await cli('notes set', ['nn', '--flag', 'bad'])).notes).toBe(
    `benchtop: training run nn (trn_1) takes no notes: ${words}.`,
  );
  expect((await cli('list', ['training', '--filter', 'flag:'])).notes).toContain(
    'There is no column flag here: trajectories and evaluation runs have it.',
  );
});

it('are refused on a message that does not exist (out31 B8)', async () => {
  const messages = ['user', 'assistant'].map(role => ({ role, content: `said by ${role}` }));
  const run = { eval_run_id: 'evr_1', display_name: 'first' };
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1' }]),
      getEvalRun: () => run,
      listEvalRuns: () => pageOf([run]),
      getTrajectory: () => ({ trajectory_id: 'traj_1', task_id: 'one', steps: [{ step_index: 0, messages }] }),
    }),
  );
  const home = testFolder();
  const cli = cliOn({ baseUrl: url, apiKey: 'key', home });
  const set = (id: string, message: string, flag = 'bad') =>
    cli('notes set', [id, '--message', message, '--flag', flag]);
  expect(await set('traj_1', '3')).toMatchObject({
    code: 2,
    notes: 'benchtop: one has 2 messages: there is no message 3.',
  });
  expect(await set('evr_1', '1')).toMatchObject({
    code: 2,
    notes: 'benchtop: first is a run: only trajectories have messages.',
  });
  expect((await cli('notes list', [])).out).not.toContain('bad');
  expect(await set('traj_1', '2')).toMatchObject({ code: 0 });
  // One that is there already can be removed.
  expect(await set('evr_1', '1', '')).toMatchObject({ code: 0 });
  const offline = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', home });
  expect(await offline('notes set', ['traj_1', '--message', '7', '--flag', 'bad'])).toMatchObject({
    code: 0,
    notes: expect.stringContaining('It is not known whether traj_1 has a message 7: '),
  });
});

it('are imported from standard input, even with a byte-order mark, unless no filter can find them (out31 C9)', async () => {
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '' });
  const note = { kind: 'run', id: 'evr_1', author: 'bob', flag: 'bad', at: 1_000 };
  const take = (more: object = {}) =>
    cli('notes import', ['-'], { input: `\uFEFF${JSON.stringify({ ...note, ...more })}\n` });
  expect(await take()).toMatchObject({ code: 0, notes: '1 new, 0 newer, 0 unchanged' });
  expect(await take({ author: 'b'.repeat(3_000) })).toMatchObject({
    code: 2,
    notes: expect.stringContaining('an author has at most 200 characters'),
  });
  expect(await take({ flag: 'b\u202Ead' })).toMatchObject({
    code: 2,
    notes: expect.stringContaining('a flag has no hidden or control characters'),
  });
});

it('of an older benchtop are in a file that was set aside, which is named', async () => {
  const home = testFolder();
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '', home });
  await cli('notes set', ['evr_1', '--note', 'a week of work']);
  const database = new DatabaseSync(join(home, '.local/state/benchtop/remembered.db'));
  database.exec('pragma user_version = 0');
  const words = expect.stringMatching(/^Notes may be missing\. The earlier history .*remembered\.db\.broken-/);
  expect(await cli('notes list', [])).toMatchObject({ code: 1, notes: words });
  database.close();
});

it('are printed below their message, and exported with the trajectory on request', async () => {
  const messages = ['user', 'assistant'].map((role, message_id) => ({ role, message_id, content: `said by ${role}` }));
  const row = { trajectory_id: 'traj_1', task_id: 'one', status: 'completed', num_steps: 1 };
  const { url } = await hostileServer(
    answering({
      getTrajectory: () => ({ ...row, steps: [{ step_index: 0, messages }] }),
      listTrajectories: () => pageOf([row]),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key', home: testFolder() });
  const noted = (...args: string[]) => cli('notes set', ['traj_1', ...args]);
  await noted('--flag', 'gamed');
  await noted('--message', '2', '--flag', 'bad', '--note', 'it is wrong\nfrom here');
  const { out } = await cli('get', ['trajectory', 'traj_1']);
  expect(out).toMatch(/user {2}· {2}#1\n {2}said by user\n\nassistant {2}· {2}#2\n/);
  expect(out).toMatch(/#2\n {2}\| note by \S+: bad - it is wrong\n {2}\| from here\n {2}said by assistant\n/);
  expect(out).toMatch(/\nNotes\n(.*\n)*says \S+ +gamed\n/);
  // Notes are private: an export has them only if that is wanted (A13).
  expect((await cli('export', ['--flagged'])).out).not.toContain('benchtop_notes');
  const exported = JSON.parse((await cli('export', ['--flagged', '--notes'])).out);
  expect(exported.benchtop_notes).toHaveLength(2);
  expect(exported.benchtop_notes).toEqual(
    expect.arrayContaining([
      { message: 0, author: expect.any(String), flag: 'gamed', text: '' },
      { message: 2, author: expect.any(String), flag: 'bad', text: 'it is wrong\nfrom here' },
    ]),
  );
});

it('says that a flag or note is removed (out33 C9)', async () => {
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: '' });
  const set = async (...flags: string[]) => (await cli('notes set', ['evr_1', ...flags])).notes.split('\n').at(-1);
  expect(await set('--flag', 'bad', '--note', 'why')).toMatch(/^1 note by \S+$/);
  expect(await set('--flag', '')).toMatch(/^1 flag by \S+ removed$/);
  expect(await set('--flag', '', '--note', 'other')).toMatch(/^1 note by \S+$/);
  expect(await set('--note', '')).toMatch(/^1 note by \S+ removed$/);
  expect(await set('--flag', '')).toMatch(/^There was no flag by \S+$/);
  expect((await cli('notes set', ['evr_2', '--note', ''])).notes).toMatch(/There was no note by \S+$/);
  // An exported note would replace one on another machine.
  expect((await cli('notes export', [])).out).not.toContain('evr_2');
});
