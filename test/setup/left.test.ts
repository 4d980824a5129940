import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { endIn, leftIn, processesIn } from './left.ts';

it.skipIf(process.platform !== 'linux').each(['HOME', 'argument', 'cwd'] as const)(
  'finds a process with the folder in its %s',
  async where => {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-left-'));
    const args = ['-e', 'process.stdin.resume(); console.log("up")', ...(where === 'argument' ? [folder] : [])];
    const child = spawn(process.execPath, args, {
      env: where === 'HOME' ? { HOME: folder } : {},
      ...(where === 'cwd' && { cwd: folder }),
    });
    onTestFinished(() => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    });
    await once(child.stdout, 'data');
    expect((await leftIn(folder, 0)).map(({ pid }) => pid)).toEqual([child.pid]);
    child.stdin.end();
    await once(child, 'exit');
    expect(processesIn(folder)).toEqual([]);
  },
);

it.skipIf(process.platform !== 'linux')('kills detached processes of the folder, and no others', async () => {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'benchtop-left-')));
  const [first, second] = folders.map(HOME =>
    spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log("up")'], { env: { HOME }, detached: true }),
  );
  onTestFinished(() => {
    for (const child of [first, second]) child?.kill('SIGKILL');
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  if (!first || !second) throw new Error('not started');
  await Promise.all([first, second].map(child => once(child.stdout, 'data')));
  const ended = once(first, 'exit');
  endIn(folders[0] ?? '');
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(second.exitCode ?? second.signalCode).toBeNull();
});
