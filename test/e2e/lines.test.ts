/** Line mode as a screen reader user works with it. */
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshHome, program, run } from './session.ts';

let home: ReturnType<typeof freshHome>;
beforeAll(() => {
  home = freshHome();
});
afterAll(() => home.remove());

/** Long enough for a busy machine. */
const limitMs = 240_000;

/** Types one line after another, each once the previous one has been answered. */
async function talk(says: readonly (readonly [line: string, until: RegExp])[]): Promise<string> {
  const child = spawn(process.execPath, [program, '--lines'], { env: home.env, stdio: ['pipe', 'pipe', 'inherit'] });
  let heard = '';
  const listeners = new Set<() => void>();
  child.stdout.on('data', part => {
    heard += String(part);
    for (const listener of listeners) listener();
  });
  const hear = (wanted: RegExp, from: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`timed out waiting for ${wanted}; heard:\n${heard}`)), limitMs);
      const look = (): void => {
        if (!wanted.test(heard.slice(from))) return;
        clearTimeout(timer);
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });
  await hear(/> $/, 0);
  for (const [line, until] of says) {
    const from = heard.length;
    child.stdin.write(`${line}\n`);
    await hear(until, from);
  }
  child.stdin.end('quit\n');
  await new Promise(resolve => child.on('close', resolve));
  return heard;
}

describe('line mode', () => {
  it('lists, shows, evaluates, follows and chats, without escape sequences', async () => {
    const heard = await talk([
      ['benchmarks', /7\. what-is-it.*\n> $/s],
      ['find sums', /1 benchmark\n1\. small-sums/],
      ['1', /family: math/],
      ['evaluate 1', /Model: $/],
      ['benchtop/tutor-base', /Name \(enter for one made of benchmark and model\): $/],
      ['', /^evr_\w+\n> $/],
      ['runs', /1\. small-sums tutor-base/],
      ['follow 1', /completed, 21 of 21, mean 0\.\d+/],
      ['evaluate 1', /evaluate is not for runs/],
      ['nonsense', /Unknown command 'nonsense'/],
      ['99', /There is no number 99/],
      ['chat benchtop/tutor-base', /you: $/],
      ['opposite: hot?', /^\S.*\n(.*\n)*you: $/],
      ['', /> $/],
      ['chat nobody', /you: $/],
      ['hello', /This did not work: .*nobody/],
      ['', /> $/],
      ['compare 1 1', /\n> $/],
    ]);
    expect(heard).toContain('the local service');
    expect(heard).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  });

  it('is described in --help', async () => {
    expect((await run(['--help'], home.env)).output).toContain('--lines');
  });
});
