import { spawnSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { thisProgram } from '../../src/base/this-program.ts';

it('restarts itself so that SIGUSR1 opens no debugger before the program handles it', () => {
  const { execArgv } = process;
  onTestFinished(() => {
    process.execArgv = execArgv;
  });
  process.execArgv = [];
  const { command, args } = thisProgram();
  expect(args.slice(0, -1)).toEqual(['--disable-sigusr1']);
  // The first thing that it does, so that nothing listens yet.
  const script = `process.kill(process.pid, 'SIGUSR1')`;
  const { status, stderr } = spawnSync(command, [...args.slice(0, -1), '--eval', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  process.execArgv = ['--disable-sigusr1', '--trace-uncaught'];
  expect(thisProgram().args.slice(0, -1)).toEqual(process.execArgv);
});
