/** Files of trajectories in the format of the contract. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import type { CommandIo } from '../../src/commands/io.ts';
import { FileProblems, withOpenFile } from '../../src/commands/trajectory-files.ts';
import { cliOn } from './cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'own-form-'));

const line = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] });

it('of another program with an invalid reward are not read without a warning of the loss', async () => {
  const text = JSON.stringify({ prompt: 'hi', completion: 'ho', reward: 'good' });
  const cli = cliOn({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' });
  for (const [command, args, expected] of [
    ['read', [], exitCodes.failed],
    ['upload', ['--dataset', 'd', '--dry-run'], exitCodes.usage],
  ] as const) {
    const { code, notes } = await cli(command, ['-', ...args], { input: text });
    expect(code).toBe(expected);
    expect(notes).toContain('1 reward is not a number, and kept only in the metadata');
  }
});

it('name the temporary folder if it has no room for their copies', async () => {
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

it('keep most unreadable lines out of memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const usedMegabytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const unread = new FileProblems();
  const before = usedMegabytes();
  for (let index = 1; index <= 60_000; index += 1)
    unread.add(`line ${index}`, `It is not JSON: ${index} ${'x'.repeat(200)}`);
  const notes: string[] = [];
  unread.note({ note: (words: string) => void notes.push(words) } as unknown as CommandIo);
  expect(notes[3]).toBe('and 59997 more: It is not JSON.');
  // All errors have 12 megabytes.
  expect(usedMegabytes() - before).toBeLessThan(5);
});
