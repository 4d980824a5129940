/** Files of trajectories in the contract's form. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import type { CommandIo } from '../../src/commands/io.ts';
import { inOwnForm, withOpenFile } from '../../src/commands/trajectory-files.ts';
import { cliOn } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'own-form-'));

async function ownFormOf(text: string) {
  const path = join(folder, 'file.jsonl');
  writeFileSync(path, text);
  const notes: string[] = [];
  const io = { note: (words: string) => notes.push(words), signal: new AbortController().signal };
  const own = await inOwnForm(path, folder, io as unknown as CommandIo);
  return { ...own, isSame: own.path === path, text: readFileSync(own.path, 'utf8'), notes };
}

const messages = [{ role: 'user', content: 'hi' }];
const line = JSON.stringify({ messages });

it('are sent as they are', async () => {
  const text = `${line}\n${line.replace('}]', '}], "reward": NaN')}\nno JSON\n`;
  expect(await ownFormOf(text)).toMatchObject({ isSame: true, unreadable: 0, text, notes: [] });
});

it('of another program with a reward that is no number are not read without a loss', async () => {
  const text = JSON.stringify({ prompt: 'hi', completion: 'ho', reward: 'good' });
  expect(await ownFormOf(text)).toMatchObject({ isSame: false, unreadable: 1 });
  const { code, notes } = await cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' })('read', ['-'], { input: text });
  expect(code).toBe(exitCodes.failed);
  expect(notes).toContain('1 reward is not a number, and kept only in the metadata');
});

it('that find no room for their copies name the temporary folder', async () => {
  const path = join(folder, 'whole.jsonl');
  writeFileSync(path, line);
  const full = async () => {
    throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
  };
  const io = { signal: new AbortController().signal } as unknown as CommandIo;
  await expect(withOpenFile(path, io, full)).rejects.toMatchObject({
    message: `The temporary folder ${tmpdir()} has no room. Set TMPDIR to another one.`,
    exitCode: exitCodes.failed,
  });
});

it('keep nothing in memory of most lines that cannot be read', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const usedMegabytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const path = join(folder, 'log.jsonl');
  writeFileSync(path, `${JSON.stringify({ prompt: 'hi', completion: 'ho', reward: 1 })}\n${'no\n'.repeat(60_000)}`);
  const before = usedMegabytes();
  const used: number[] = [];
  const notes: string[] = [];
  const note = (words: string): void => {
    used.push(usedMegabytes() - before);
    notes.push(words);
  };
  const io = { note, signal: new AbortController().signal } as unknown as CommandIo;
  expect(await inOwnForm(path, folder, io)).toMatchObject({ unreadable: 60_000 });
  expect(notes[3]).toBe('and 59997 more: It is not JSON.');
  // All errors have 12 megabytes.
  expect(used[0]).toBeLessThan(5);
});
