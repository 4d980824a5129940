/** Files for the user: their names, and their state on disk after a failed write. */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NewFileError, newFileProblem, safeFileName, writeNewFile } from '../../src/base/new-file.ts';

function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-new-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it.each([
  ['trj_1.txt', 'trj_1.txt'],
  ['../escaped.txt', 'escaped.txt'],
  ['/etc/cron.d/job.json', 'etc-cron.d-job.json'],
  ['..\\..\\windows.txt', 'windows.txt'],
  ['..', 'benchtop'],
  ['', 'benchtop'],
  ['a.txt/../../b', 'a.txt-..-..-b'],
  ['\u001b[31mred\u202e.txt', '31mred.txt'],
  ['.bashrc', 'bashrc'],
])('turns the name %j into %j', (name, safe) => {
  expect(safeFileName(name)).toBe(safe);
});

it('keeps the extension of a long name', () => {
  const name = safeFileName(`${'x'.repeat(500)}.json`);
  expect([name.length, name.endsWith('x.json')]).toEqual([120, true]);
});

it('writes text and bytes in order, readable by the user only', async () => {
  const path = join(testFolder(), 'new.txt');
  const long = 'line\n'.repeat(100_000);
  expect(await writeNewFile(path, ['one ', Buffer.from('two '), 'three ', long, 'end'])).toBe(path);
  expect(readFileSync(path, 'utf8')).toBe(`one two three ${long}end`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('writes many small texts at once', async () => {
  const folder = testFolder();
  const written = () => readdirSync(folder).map(name => statSync(join(folder, name)).size);
  const quarter = 'x'.repeat(64 * 1024);
  const sizes: number[][] = [];
  async function* parts(): AsyncGenerator<string> {
    for (let index = 0; index < 5; index += 1) {
      sizes.push(written());
      yield quarter;
    }
  }
  await writeNewFile(join(folder, 'many.jsonl'), parts());
  expect(sizes).toEqual([[0], [0], [0], [0], [4 * quarter.length]]);
  expect(written()).toEqual([5 * quarter.length]);
});

it('leaves an existing file alone', async () => {
  const path = join(testFolder(), 'mine.txt');
  writeFileSync(path, 'mine');
  await expect(writeNewFile(path, ['other'])).rejects.toThrow(new NewFileError(`${path} already exists`));
  expect(readFileSync(path, 'utf8')).toBe('mine');
});

it('takes a path that ends in a slash, or is a folder, as a folder (attack24 B10)', async () => {
  const folder = testFolder();
  for (const name of [folder, `${folder}/`, `${folder}/new/`]) {
    expect(newFileProblem(name)).toBe(`${name} is a folder`);
    const error = new NewFileError(`${resolve(name)} is a folder`);
    await expect(writeNewFile(name, ['text'])).rejects.toThrow(error);
  }
  expect(readdirSync(folder)).toEqual([]);
});

it('counts a dangling link as existing, and says so before it reads anything', async () => {
  const path = join(testFolder(), 'link.txt');
  symlinkSync('nowhere.txt', path);
  let isRead = false;
  async function* parts(): AsyncGenerator<string> {
    isRead = true;
    yield 'x';
  }
  await expect(writeNewFile(path, parts())).rejects.toThrow(new NewFileError(`${path} already exists`));
  expect(isRead).toBe(false);
});

it('leaves no partial file', async () => {
  const folder = testFolder();
  async function* parts(): AsyncGenerator<string> {
    yield 'x'.repeat(1024 * 1024);
    throw new Error('the second page failed');
  }
  await expect(writeNewFile(join(folder, 'half.jsonl'), parts())).rejects.toThrow('the second page failed');
  expect(readdirSync(folder)).toEqual([]);
});

it('takes its name once it is complete, and replaces no file created meanwhile', async () => {
  const folder = testFolder();
  const path = join(folder, 'whole.jsonl');
  async function* parts(): AsyncGenerator<string> {
    yield 'x'.repeat(1024 * 1024);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, 'mine');
    yield 'end';
  }
  await expect(writeNewFile(path, parts())).rejects.toThrow(`${path} already exists`);
  expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['whole.jsonl'], 'mine']);
});

it('leaves nothing if the program ends in the middle', () => {
  const folder = testFolder();
  const module = new URL('../../src/base/new-file.ts', import.meta.url).href;
  const program = `
    import { writeNewFile } from ${JSON.stringify(module)};
    function* parts() {
      yield 'x'.repeat(1024 * 1024);
      setImmediate(() => process.exit(7));
      for (;;) yield 'x'.repeat(1024 * 1024);
    }
    await writeNewFile('cut.jsonl', parts());
  `;
  const args = ['--experimental-strip-types', '--input-type=module', '--eval', program];
  const { status } = spawnSync(process.execPath, args, { cwd: folder });
  expect([status, readdirSync(folder)]).toEqual([7, []]);
});

it('removes an unfinished file when the process exits, but not a finished one', async () => {
  const folder = testFolder();
  const before = process.listeners('exit');
  const left: string[][] = [];
  function* parts(): Generator<string> {
    left.push(readdirSync(folder));
    for (const listener of process.listeners('exit')) if (!before.includes(listener)) listener.call(process, 0);
    left.push(readdirSync(folder));
    yield 'x';
  }
  // The file that it would rename is gone.
  await expect(writeNewFile(join(folder, 'new.txt'), parts())).rejects.toThrow('the folder does not exist');
  expect(left).toEqual([[expect.stringMatching(/\.part$/)], []]);
  expect(process.listeners('exit')).toEqual(before);
});

it('names a missing folder, with the reason', async () => {
  const path = join(testFolder(), 'nowhere', 'new.txt');
  await expect(writeNewFile(path, ['x'])).rejects.toThrow(`${path} cannot be written: the folder does not exist`);
  expect(existsSync(path)).toBe(false);
  const [long, nul] = ['a'.repeat(300), 'a\0b'].map(each => newFileProblem(join(testFolder(), each)));
  expect(long).toMatch(/the name is too long$/);
  expect(nul).toMatch(/the path contains an invalid character$/);
});
