/** Commands that analyse the rollouts of a file, without the configured service. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { serviceDouble } from '../service/double.ts';
import { cliOn, testFolder } from './cli.ts';

const rollout = (index: number) => ({
  task_id: `task-${index >> 1}`,
  reward: index % 2,
  messages: [
    { role: 'user', content: 'one or two?' },
    { role: 'assistant', content: index % 2 === 0 ? 'two' : 'one' },
  ],
});

const lines = [0, 1, 2, 3].map(index => `${JSON.stringify(rollout(index))}\n`).join('');

async function fileOf(text = lines) {
  const file = join(testFolder(), 'results.jsonl');
  writeFileSync(file, text);
  const { url, requests } = await serviceDouble();
  return { file, requests, cli: cliOn({ baseUrl: url, apiKey: 'key-0123456789' }) };
}

const recordOf = ({ out }: { readonly out: string }): unknown => JSON.parse(out);

it('analyses a file without requests to the service (out24 B14)', async () => {
  const { file, requests, cli } = await fileOf();
  const temporary = testFolder();
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(recordOf(await cli('failures', [file, '--json']))).toMatchObject({
    rollouts: 4,
    classes: expect.arrayContaining([expect.objectContaining({ by: 'status', class: 'completed', mean: 0.5 })]),
  });
  expect(recordOf(await cli('tasks', [file, '--json']))).toMatchObject({
    tasks: expect.arrayContaining([expect.objectContaining({ task_id: 'task-1', rewards: [0, 1] })]),
  });
  expect(recordOf(await cli('search', ['two', '--role', 'assistant', '--in', file, '--json']))).toMatchObject({
    hits: [expect.objectContaining({ task_id: 'task-1' }), expect.objectContaining({ task_id: 'task-0' })],
    searched: 4,
  });
  expect(recordOf(await cli('regrade', [file, '--with', 'exact two', '--json']))).toMatchObject({
    graded: 4,
    passes_lost: 2,
    passes_gained: 2,
  });
  const { out, code } = await cli('report', [file, '--format', 'markdown']);
  expect(out).toMatch(/^# results\.jsonl\n/);
  expect(code).toBe(exitCodes.done);
  expect(requests).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
});

it('has no number of a line for a hit in the heading of a message', async () => {
  const messages = [{ role: 'user', name: 'alice', content: 'hello' }];
  const { file, cli } = await fileOf(`${JSON.stringify({ task_id: 'a', reward: 1, messages })}\n`);
  for (const [word, line] of [
    ['alice', null],
    ['hello', 1],
  ] as const) {
    expect(recordOf(await cli('search', [word, '--in', file, '--json']))).toMatchObject({ hits: [{ line }] });
  }
});

it('says that rollouts of several models are pooled, with the mean of each (out30 B5)', async () => {
  const of = (model: string | undefined, ...indexes: number[]) =>
    indexes.map(index => ({ ...rollout(index), model_id: model }));
  const rows = [...of('acme/small', 0, 1, 2, 3), ...of('acme/large', 1, 3), ...of(undefined, 0)];
  const { file, cli } = await fileOf(rows.map(row => `${JSON.stringify(row)}\n`).join(''));
  const words =
    'From 2 models together: acme/small (mean 0.500 over 4 rewards), acme/large (mean 1.00 over 2 rewards), 1 rollout without a model';
  expect((await cli('tasks', [file])).notes).toContain(`${words}.`);
  expect((await cli('failures', [file])).notes).toContain(`${words}.`);
  const task = { task_id: 'task-0', by_model: [] as unknown[] };
  task.by_model = [
    {
      ...{ model: 'acme/small', mean: 0.5, passed: 1, rewards: [0, 1] },
      ...{ pass_at_k: { 1: 0.5, 2: 1 }, pass_hat_k: { 1: 0.5, 2: 0 } },
    },
    { model: 'acme/large', mean: 1, passed: 1, rewards: [1], pass_at_k: { 1: 1 }, pass_hat_k: { 1: 1 } },
    { model: null, mean: 0, passed: 0, rewards: [0], pass_at_k: { 1: 0 }, pass_hat_k: { 1: 0 } },
  ];
  const pass = [{ k: 1, tasks: 2, pass_at_k: 1, pass_hat_k: 1 }];
  const record = recordOf(await cli('tasks', [file, '--json']));
  expect(record).toMatchObject({
    tasks: expect.arrayContaining([expect.objectContaining(task)]),
    models: expect.arrayContaining([{ model: 'acme/large', rewards: 2, mean: 1, pass }]),
  });
  // No curve of all models together (attack36 C).
  expect(record).not.toHaveProperty('pass');
  expect(record).not.toHaveProperty(['tasks', 0, 'pass_at_k']);
  const { out } = await cli('report', [file, '--format', 'markdown']);
  expect(out.split(words)).toHaveLength(2);
  expect((await cli('tasks', [(await fileOf()).file])).notes).not.toContain('together');
});

it('says in the report too how the file was read and what is missing (attack31 reports)', async () => {
  const { file, cli } = await fileOf(
    `${lines}no JSON\n${JSON.stringify(rollout(0)).replace('"reward":0', '"reward":NaN')}\n`,
  );
  for (const format of ['markdown', 'html']) {
    const { out, code } = await cli('report', [file, '--format', format]);
    expect(code).toBe(exitCodes.failed);
    expect(out).toContain('2 trajectories in the file could not be read in full.');
    expect(out).toContain('Missing: 1 number that is NaN or infinite');
  }
});

it('takes the chosen score as the reward of an Inspect log (attack31 A4)', async () => {
  const scores = { match: { value: 'I' }, other: { value: 'C' } };
  const sample = { id: 1, messages: [{ role: 'user', content: 'hi' }], scores };
  const { file, cli } = await fileOf(JSON.stringify({ eval: { task: 'adding' }, samples: [sample] }));
  const meanOf = async (...flags: string[]) => {
    const { out } = await cli('tasks', [file, '--json', ...flags]);
    return recordOf({ out });
  };
  expect(await meanOf()).toMatchObject({ tasks: [{ mean: 0 }] });
  expect(await meanOf('--score', 'other')).toMatchObject({ tasks: [{ mean: 1 }] });
  for (const [command, args] of [
    ['failures', [file]],
    ['search', ['hi', '--in', file]],
    ['regrade', [file, '--with', 'exact hi']],
    ['report', [file, '--format', 'markdown']],
    ['read', [file, '--text']],
    ['upload', [file, '--dataset', 'd', '--dry-run']],
  ] as const)
    expect((await cli(command, [...args, '--score', 'other'])).notes).toContain('The reward is the score other.');
  expect((await cli('failures', ['evr_1', '--score', 'other'])).code).toBe(exitCodes.usage);
});

it('names rollouts by their own ids or their places in the file only (attack31 B5)', async () => {
  const named = { ...rollout(3), trajectory_id: 'traj_own' };
  const { file, cli } = await fileOf(`no JSON\n${lines}${JSON.stringify(named)}\n`);
  for (const [command, args] of [
    ['failures', [file, '--json']],
    ['search', ['one', '--in', file, '--json']],
    ['search', ['one', '--in', file]],
    ['regrade', [file, '--with', 'exact two', '--json']],
    ['report', [file, '--format', 'markdown', '--worst', '9']],
  ] as const) {
    const { out } = await cli(command, args);
    expect(out).toContain('line 3');
    expect(out).not.toMatch(/\b(?:DATASET|CREATED)\b/);
    expect(out.replaceAll('\\_', '_')).toContain('traj_own');
    expect(out.replaceAll('\\_', '_')).not.toMatch(/(traj|ds|trace|org)_(?!own|id)\w{6}|local:\/\//);
  }
  const { out } = await cli('report', [file, '--format', 'markdown']);
  expect(out).not.toMatch(/\| (source|stored|created) \|/);
});

it('does not suggest to get a rollout of a file from the service (attack31 B5)', async () => {
  const messages = [{ role: 'assistant', content: `${'x'.repeat(99)} `.repeat(42_000) }];
  const { file, cli } = await fileOf(JSON.stringify({ messages, reward: 1 }));
  const { out } = await cli('report', [file, '--format', 'markdown']);
  expect(out).toMatch(/^… \d+ characters more: benchtop read --text prints them$/m);
});

it('reports progress while it reads a long file (attack27 C4)', async () => {
  const { file, cli } = await fileOf(lines.repeat(2_500));
  const { notes } = await cli('failures', [file, '--json']);
  expect(notes).toContain('10k rollouts read so far.');
});

it('reads standard input, and fails if part of it is unreadable', async () => {
  const { cli } = await fileOf();
  const { code, notes, out } = await cli('failures', ['-', '--json'], { input: `${lines}no JSON\n` });
  expect(recordOf({ out })).toMatchObject({ rollouts: 4 });
  expect(notes).toContain('line 5: It is not JSON');
  expect(code).toBe(exitCodes.failed);
});

it.each([
  ['of lines', `${lines}{"broken`, 'line 5: '],
  ['of a JSON array', `[${lines.trim().split('\n').join(',')},{"broken`, 'element 5: '],
])('notes that a file %s is cut off, and fails (attack27 A1)', async (_, text, words) => {
  const { cli, file } = await fileOf(text);
  for (const word of [file, '-']) {
    const { code, notes } = await cli('tasks', [word, '--json'], { input: text });
    expect(notes).toContain(words);
    expect(code).toBe(exitCodes.failed);
  }
});

it('notes that a word that may be a name is read as a file (attack27 B2)', async () => {
  const { file, cli } = await fileOf();
  expect((await cli('tasks', [file, '--json'])).notes).toContain(`Read from the file ${file}.`);
});

it('looks for a run first if the command takes no file (attack27 B2)', async () => {
  const { file, requests, cli } = await fileOf();
  for (const [command, args] of [
    ['compare', [file, 'evr_1']],
    ['report', [file, 'evr_1']],
    ['tasks', [file, '--base', 'evr_1']],
    ['search', ['two', '--in', file, '--in', 'evr_1']],
    ['regrade', [file, '--judge', 'm', '--rubric', 'r']],
  ] as const) {
    const before = requests.length;
    const { code, notes } = await cli(command, args);
    expect(requests.length).toBeGreaterThan(before);
    expect(notes).toContain(`It is a file: benchtop read ${file} opens it.`);
    expect(code).toBe(exitCodes.notFound);
  }
});

it('reads a pipe (attack27 B3)', async () => {
  const { cli, requests } = await fileOf();
  const pipe = join(testFolder(), 'rollouts.pipe');
  execFileSync('mkfifo', [pipe]);
  const [{ out, code }] = await Promise.all([cli('failures', [pipe, '--json']), writeFile(pipe, lines)]);
  expect(recordOf({ out })).toMatchObject({ rollouts: 4 });
  expect([code, requests]).toEqual([exitCodes.done, []]);
  expect((await cli('failures', ['--help'])).out).toContain('a pipe such as /dev/stdin');
});

it('reports that a path is a folder', async () => {
  const { cli } = await fileOf();
  const folder = join(testFolder(), 'of.rollouts');
  mkdirSync(folder);
  for (const [command, args] of [
    ['tasks', [folder]],
    ['failures', [folder]],
    ['report', [folder]],
    ['search', ['text', '--in', folder]],
  ] as const) {
    const { code, notes } = await cli(command, args);
    expect(code).toBe(exitCodes.notFound);
    expect(notes).toContain('It is a folder: name a file in it.');
  }
});

it('reports a missing file (attack27 B3)', async () => {
  const { cli } = await fileOf();
  const missing = 'There is no such file either.';
  expect((await cli('failures', ['missing.jsonl'])).notes).toContain(missing);
  for (const [command, args] of [
    ['failures', ['missing']],
    ['get', ['missing.jsonl']],
  ] as const)
    expect((await cli(command, args)).notes).not.toContain(missing);
});

it('takes a folder, and a word without a folder or an extension, as a name', async () => {
  const { cli, requests } = await fileOf();
  const folder = join(testFolder(), 'a.folder');
  mkdirSync(folder);
  for (const word of [folder, 'LICENSE']) await cli('failures', [word]);
  expect(requests).not.toEqual([]);
});
