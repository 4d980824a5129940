/** Files of trajectories in the contract's form. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
