/** Files that `benchtop read` opens on screen, served by the same process. */
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { constants, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import type { CommandIo } from '../../src/commands/io.ts';
import { serveFile } from '../../src/commands/read.ts';
import { databasePath } from '../../src/local/store/database-path.ts';
import { answering } from '../answering.ts';
import { eventually } from '../eventually.ts';
import { apiKey, hostileServer } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

const saying = (content: string) => ({ messages: [{ role: 'user', content }] });

const textOf = (lines: readonly (object | string)[]): string =>
  lines.map(line => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

const rollout = (task_id: string) => ({ task_id, ...saying('hi') });

interface Row {
  readonly task_id: string;
  readonly trajectory_id: string;
  readonly trace_id: string;
  readonly created_at: string;
}

/** A file on screen. */
async function opened(lines: readonly (object | string)[]) {
  const path = join(testFolder(), 'file.jsonl');
  writeFileSync(path, textOf(lines));
  const notes: string[] = [];
  const io = { note: (words: string) => notes.push(words), signal: new AbortController().signal };
  const served = await serveFile(path, 'file.jsonl', io as unknown as CommandIo);
  onTestFinished(() => served.stop());
  const url = `${served.baseUrl}/api/v1/trajectories?limit=100&sort=created_at&order=asc`;
  const rows = async (): Promise<readonly Row[]> =>
    ((await (await fetch(url, { headers: { 'X-API-Key': served.apiKey } })).json()) as { items: [] }).items;
  const tasks = async () => (await rows()).map(({ task_id }) => task_id);
  return { path, rows, tasks, file: served.file, folder: served.folder, notes };
}

/** The tasks in the order of the screen, and the note on the others. */
async function readOf(lines: readonly (object | string)[]) {
  const { tasks, file, notes } = await opened(lines);
  return { tasks: await tasks(), title: file.title, notes };
}

it('stores the file without a request, and never twice in memory', async () => {
  let requests = 0;
  const count = (): void => {
    requests += 1;
  };
  subscribe('http.server.request.start', count);
  onTestFinished(() => void unsubscribe('http.server.request.start', count));
  await readOf([{ task_id: 'one', ...saying('hi') }]);
  // That of the list.
  expect(requests).toBe(1);
});

it('reads what a service would refuse, and says what is missing', async () => {
  const broken = `{"task_id": "broken", "reward": NaN, ${JSON.stringify(saying('hi')).slice(1)}`;
  const refused = { task_id: 'refused', messages: [{ content: 'from nobody' }] };
  expect(
    await readOf([
      broken,
      'no JSON',
      refused,
      { task_id: 'equal', ...saying('a') },
      { task_id: 'equal', ...saying('a') },
    ]),
  ).toEqual({
    tasks: ['broken', 'equal', 'equal'],
    title: 'file.jsonl, 3 not read in full',
    notes: [
      expect.stringContaining('line 2: It is not JSON'),
      expect.stringMatching(/^line 3: Unreadable messages/),
      'Not counted: 1 reward that is not a number, beyond 2^53, or without a name.',
      'Missing: 1 number that is NaN or infinite, which JSON cannot represent.',
    ],
  });
});

it('refuses a file without anything readable, and leaves nothing behind', async () => {
  await expect(readOf(['no JSON'])).rejects.toMatchObject({
    exitCode: exitCodes.failed,
    message: expect.stringContaining('It is not JSON'),
  });
  await expect(readOf([])).rejects.toMatchObject({
    exitCode: exitCodes.usage,
    message: 'The file holds no trajectories.',
  });
});

it('shows trajectories in the order of the file', async () => {
  const tasks = Array.from({ length: 60 }, (_, index) => `task ${index}`);
  const { rows, file, notes } = await opened(tasks.map(rollout));
  const shown = await rows();
  expect({ tasks: shown.map(({ task_id }) => task_id), title: file.title, notes }).toEqual({
    tasks,
    title: 'file.jsonl',
    notes: [],
  });
  // The screen sorts a short list by these times.
  expect(new Set(shown.map(({ created_at }) => created_at)).size).toBe(tasks.length);
});

it('shows a trajectory too large for a service', async () => {
  const large = 'a line of a log\n'.repeat((33 * 1024 * 1024) / 16);
  expect(await readOf([{ task_id: 'large', ...saying(large) }])).toEqual({
    tasks: ['large'],
    title: 'file.jsonl',
    notes: [],
  });
});

it('shows all trajectories, even those of one trace', async () => {
  const first = { task_id: 'first', trace_id: 'a', ...saying('one') };
  expect(await readOf([first, { ...first, ...saying('two') }, first, { task_id: 'last', ...saying('hi') }])).toEqual({
    tasks: ['first', 'first', 'first', 'last'],
    title: 'file.jsonl',
    notes: [],
  });
});

it('follows a growing file, and keeps what it shows', async () => {
  const { path, tasks, rows, notes } = await opened([rollout('one'), '{"task_id": "two", "messa']);
  const [first] = await rows();
  const noted = [...notes];
  writeFileSync(path, textOf(['one', 'two', 'two'].map(rollout)));
  await eventually(async () => expect(await tasks()).toEqual(['one', 'two', 'two']));
  expect((await rows())[0]?.trajectory_id).toBe(first?.trajectory_id);
  const before = await rows();
  appendFileSync(path, textOf([rollout('last')]));
  await eventually(async () => expect(await tasks()).toEqual(['one', 'two', 'two', 'last']));
  expect((await rows()).slice(0, 3)).toEqual(before);
  expect(notes).toEqual(noted);
});

it('always says how much of the file is unread, and why', async () => {
  const { path, tasks, file } = await opened([rollout('one'), 'no JSON', rollout('two'), '{"task_id": "three"']);
  const half = { title: 'file.jsonl, 2 not read in full', problem: expect.stringMatching(/^line 2: .* 1 more cannot/) };
  expect(file).toMatchObject(half);
  writeFileSync(path, textOf([rollout('one'), 'no JSON', rollout('two'), rollout('three')]));
  await eventually(() => expect(file.title).toBe('file.jsonl, 1 not read in full'));
  appendFileSync(path, textOf(['no JSON', { messages: 'broken' }, rollout('four')]));
  await eventually(() => expect(file.title).toBe('file.jsonl, 3 not read in full'));
  expect(file.notes).toEqual(['3 trajectories in the file could not be read in full.']);
  expect(file.problem).toMatch(/^line 5: It is not JSON: .* 1 more cannot be read\.$/);
  expect(file.problem).not.toContain('line 1 column');
  expect(await tasks()).toEqual(['one', 'two', 'three', 'four']);
  writeFileSync(path, '');
  await eventually(() => expect(file.problem).toBe('The file holds no trajectories.'));
  expect({ title: file.title, tasks: await tasks() }).toEqual({ title: 'file.jsonl', tasks: [] });
});

it('names an unreadable line once, even the last one', async () => {
  const { path, file } = await opened([rollout('one'), 'no JSON']);
  expect(file.problem).toMatch(/^line 2: It is not JSON: /);
  appendFileSync(path, textOf(['nor this']));
  await eventually(() => expect(file.title).toBe('file.jsonl, 2 not read in full'));
  expect(file.problem).toMatch(/^line 3: (?!.*more cannot)/);
  appendFileSync(path, textOf([rollout('two'), 'nor that']));
  await eventually(() => expect(file.title).toBe('file.jsonl, 3 not read in full'));
  expect(file.problem).toMatch(/^line 5: (?!.*more cannot)/);
});

it('names a last line without a newline only if it does not change (B21)', async () => {
  const { path, tasks, file } = await opened([rollout('one'), 'no JSON']);
  const problems = new Set<string | undefined>();
  file.subscribe(() => problems.add(file.problem));
  const line = textOf([rollout('three')]);
  const [half, rest] = [line.slice(0, 20), line.slice(20)];
  appendFileSync(path, textOf([rollout('two')]) + half);
  await eventually(async () => expect(await tasks()).toEqual(['one', 'two']));
  appendFileSync(path, rest);
  await eventually(async () => expect(await tasks()).toEqual(['one', 'two', 'three']));
  // One read may take both changes, and listeners hear of it a moment after the rows can be seen.
  await eventually(() => expect([file.title, ...problems]).toEqual(['file.jsonl, 1 not read in full', undefined]));
  appendFileSync(path, half);
  await eventually(() => expect(file.problem).toMatch(/^line 5: It is not JSON/));
  expect(file.title).toBe('file.jsonl, 2 not read in full');
});

it('shows nothing from before the file was rewritten', async () => {
  const { path, tasks, rows } = await opened(['one', 'two', 'last'].map(rollout));
  const [, two, last] = await rows();
  writeFileSync(path, textOf(['other', 'two', 'last'].map(rollout)));
  await eventually(async () => expect(await tasks()).toEqual(['other', 'two', 'last']));
  // Marks stay.
  expect((await rows()).slice(1).map(({ trajectory_id }) => trajectory_id)).toEqual(
    [two, last].map(row => row?.trajectory_id),
  );
  writeFileSync(path, textOf([rollout('other')]));
  await eventually(async () => expect(await tasks()).toEqual(['other']));
});

it('never reuses the id of the file for other content, as a screen reads an ended trajectory once', async () => {
  const row = (task_id: string) => ({ trajectory_id: 'a', trace_id: 'k', ...rollout(task_id) });
  const { path, tasks, rows } = await opened([row('one')]);
  const written = async (...lines: readonly object[]) => {
    writeFileSync(path, textOf(lines));
    await eventually(async () => expect(await tasks()).toEqual(lines.map(line => 'task_id' in line && line.task_id)));
    return (await rows()).map(({ trajectory_id, trace_id }) => [trajectory_id, trace_id]);
  };
  expect(await written(row('two'))).toEqual([['line 1', 'k']]);
  await written();
  expect(await written(row('three'))).toEqual([['line 1 (2)', 'k']]);
  expect(await written(row('one'))).toEqual([['a', 'k']]);
});

it('reads a trajectory whose trace has a name that the program could make up for another', async () => {
  const named = [
    { trace_id: 'trace_x', ...rollout('one') },
    { trajectory_id: 'd', trace_id: 'k', ...rollout('two') },
    { trajectory_id: 'x', trace_id: 'k', ...rollout('three') },
  ];
  expect(await readOf(named)).toMatchObject({ tasks: ['one', 'two', 'three'] });
});

it('keeps what it shows if a change cannot be stored, and says so', async () => {
  const { path, tasks, file, folder } = await opened(['one', 'two'].map(rollout));
  const database = new DatabaseSync(databasePath(join(folder, 'data')));
  onTestFinished(() => database.close());
  database.exec(`create trigger full before insert on trajectories when new.task_id = 'four'
    begin select raise(abort, 'disk is full'); end`);
  writeFileSync(path, textOf(['three', 'four'].map(rollout)));
  await eventually(() => expect(file.title).toBe('file.jsonl, last change not read'));
  expect(file.problem).toContain('disk is full');
  expect(await tasks()).toEqual(['one', 'two', 'three']);
  database.exec('drop trigger full');
  appendFileSync(path, textOf([rollout('five')]));
  await eventually(async () => expect(await tasks()).toEqual(['three', 'four', 'five']));
  // Said after the rows are stored.
  await eventually(() => expect([file.title, file.problem]).toEqual(['file.jsonl', undefined]));
});

it('uses the id in the file for a trajectory, but not that of a conversation (attack36 C)', async () => {
  const { rows } = await opened([
    { trajectory_id: 'traj_own', trace_id: 'a', ...rollout('one') },
    { trace_id: 'a', ...rollout('two') },
    { trace_id: 'a', ...rollout('three') },
    { trace_id: 'no/address', ...rollout('four') },
    { id: 'sample-5', ...rollout('five') },
    { conversation_id: 'talk-6', ...rollout('six') },
    { id: 'sample-5', ...rollout('seven') },
  ]);
  expect((await rows()).map(({ trajectory_id }) => trajectory_id)).toEqual([
    'traj_own',
    'a',
    'line 3',
    'line 4',
    'sample-5',
    'line 6',
    'line 7',
  ]);
});

it('prints a few of many errors of one kind, and counts the rest', async () => {
  const { title, notes } = await readOf([rollout('one'), ...Array.from({ length: 1_500 }, () => 'no JSON')]);
  expect({ title, notes }).toEqual({
    title: 'file.jsonl, 1500 not read in full',
    notes: [
      ...[2, 3, 4].map(line => expect.stringContaining(`line ${line}: It is not JSON: `)),
      'and 1497 more: It is not JSON.',
    ],
  });
});

it('names a field that a service would refuse', async () => {
  const refused = Array.from({ length: 4 }, () => ({ steps: [saying('hi')], reward: '0.5' }));
  const nameless = Array.from({ length: 4 }, (_, at) => ({
    steps: [...Array(at).fill(saying('hi')), { messages: [{}] }],
  }));
  const lines = [rollout('one'), ...refused, ...nameless, { task_id: 'empty' }];
  const words = (line: number, field: string) => expect.stringMatching(`^line ${line}: Unreadable ${field}`);
  const expected = [
    ...[2, 3, 4].map(line => words(line, 'reward: Invalid input: expected number')),
    'and 1 more: Unreadable reward.',
    ...[6, 7, 8].map(line => words(line, `steps\\[${line - 6}\\]\\.messages`)),
    'and 1 more: Unreadable steps.messages.role.',
    words(10, 'steps: there are neither steps nor messages'),
  ];
  expect((await readOf(lines)).notes).toEqual(expected);
  const { code, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', ['-'], {
    input: textOf(lines),
  });
  expect(code).toBe(exitCodes.failed);
  expect(notes).toMatch(/^line 2: Unreadable reward: /);
});

it('says what a prompt and a completion without a number lack (B14)', async () => {
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' });
  const problem = 'A prompt and a completion are read as a rollout only with a number as their score or reward';
  for (const pair of [
    { prompt: 'a', completion: 'b' },
    { input: 'a', output: 'b', score: 'good', task_id: 't' },
  ]) {
    const { code, notes } = await cli('read', ['-'], { input: textOf([{ ...pair, score: 1 }, pair]) });
    expect([code, notes.split('\n')[0]]).toEqual([exitCodes.failed, expect.stringContaining(`line 2: ${problem}.`)]);
    const path = join(testFolder(), 'dump.jsonl');
    writeFileSync(path, textOf([pair]));
    expect((await cli('upload', [path, '--dataset', 'd', '--dry-run'])).notes).toContain(problem);
  }
});

it('names elements of an array by number, not by line (out24 C24)', async () => {
  const path = join(testFolder(), 'dump.json');
  writeFileSync(path, JSON.stringify([rollout('one'), 3, rollout('three')]));
  const { out, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey })('read', [path]);
  expect(out).toMatch(/^place\s+element 1$[\s\S]*^place\s+element 3$/m);
  expect(notes).toContain('element 2: It is not an object.');
});

it('is suggested by a command that takes no file', async () => {
  const none = () => ({ items: [], has_more: false });
  const { url } = await hostileServer(answering({ listDatasets: none, listBenchmarks: none }));
  const path = join(testFolder(), 'dump.jsonl');
  writeFileSync(path, textOf([rollout('one')]));
  const cli = cliOn({ baseUrl: url, apiKey });
  const { code, notes } = await cli('export', [path]);
  expect([code, notes]).toEqual([exitCodes.notFound, expect.stringContaining(`benchtop read ${path} opens it`)]);
  expect((await cli('export', [`${path}.gone`])).notes).not.toContain('benchtop read');
});

it('reads a request that failed before its first message', async () => {
  const lines = [
    rollout('one'),
    { custom_id: 'two', result: { type: 'errored', error: { message: 'no model' } } },
    { task_id: 'three', error: 'no room' },
    { task_id: 'four', error: 'no room', steps: [] },
  ];
  expect(await readOf(lines)).toMatchObject({ tasks: ['one', 'two', 'three', 'four'], title: 'file.jsonl' });
  const { code, out } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', ['-'], {
    input: textOf(lines),
  });
  expect(code).toBe(exitCodes.done);
  expect(out).toContain('Failed: no model\n');
  expect(out).not.toContain('system');
});

it.each([
  ['is binary', Buffer.from('\xff\x00\n'.repeat(9), 'latin1'), /: line 1: It is not UTF-8\. 8 more cannot be read\./],
  [
    'is UTF-16',
    Buffer.from(`\ufeff${textOf([rollout('one')])}`, 'utf16le'),
    /It is UTF-16\. Convert it to UTF-8: iconv /,
  ],
  [
    'is damaged gzip',
    gzipSync(textOf([rollout('one')])).subarray(0, 10),
    /file\.jsonl cannot be decompressed: unexpected end of file/,
  ],
])('says in one error that a file %s', async (_, content, words) => {
  const path = join(testFolder(), 'file.jsonl');
  writeFileSync(path, content);
  for (const args of [[path], [path, '--json']]) {
    const { out, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', args);
    expect({ out, notes: notes.trim().split('\n') }).toEqual({ out: '', notes: [expect.stringMatching(words)] });
  }
});

it('reads a gzip file', async () => {
  const path = join(testFolder(), 'file.jsonl.gz');
  writeFileSync(path, gzipSync(textOf([rollout('one'), rollout('two')])));
  const { out, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', [path, '--json']);
  expect(
    out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).toMatchObject([{ task_id: 'one' }, { task_id: 'two' }]);
  expect(notes).toBe('');
});

it('reports that a compressed file with a wrong checksum is damaged', async () => {
  const path = join(testFolder(), 'file.jsonl.gz');
  const packed = gzipSync(textOf(Array.from({ length: 2_000 }, (_, index) => rollout(`task ${index}`))));
  packed[packed.length - 6] = (packed.at(-6) ?? 0) ^ 1;
  writeFileSync(path, packed);
  const { code, out, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', [path, '--json']);
  expect(code).toBe(exitCodes.failed);
  expect(out.trim().split('\n')).toHaveLength(2_000);
  expect(notes).toContain(`${path} is damaged: incorrect data check.`);
});

it.each([1, 4_000])('reads a whole compressed file of %i rollouts if other bytes follow (attack31 C3)', async count => {
  const path = join(testFolder(), 'file.jsonl.gz');
  const noise = () => randomBytes(50).toString('hex');
  const text = textOf(Array.from({ length: count }, () => rollout(noise())));
  writeFileSync(path, Buffer.concat([gzipSync(text), Buffer.from('and so on')]));
  const { code, out, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', [path, '--json']);
  expect(out.trim().split('\n')).toHaveLength(count);
  expect(notes).toContain(`${path} is damaged: incorrect header check.`);
  expect(code).toBe(exitCodes.failed);
});

it('reads the complete part of a compressed file that is still being written, and says that it ends early', async () => {
  const path = join(testFolder(), 'file.jsonl.gz');
  writeFileSync(path, gzipSync(textOf([rollout('one'), rollout('two')]), { finishFlush: constants.Z_SYNC_FLUSH }));
  const early = `${path} ends early: unexpected end of file.`;
  const { code, out, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', [path, '--json']);
  expect({ code, rows: out.trim().split('\n').length, notes }).toEqual({
    code: exitCodes.failed,
    rows: 2,
    notes: JSON.stringify({ note: early }),
  });
  const shown = join(testFolder(), 'shown.jsonl');
  writeFileSync(shown, out);
  const io = { note: () => {}, signal: new AbortController().signal } as unknown as CommandIo;
  const { file, stop } = await serveFile(shown, 'file.jsonl.gz', io, { cut: early });
  onTestFinished(() => stop());
  expect(file).toMatchObject({ title: 'file.jsonl.gz, incomplete', problem: early });
});
