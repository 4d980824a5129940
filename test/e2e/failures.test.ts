/**
 * Errors thrown outside of any view, in the built program: they cost a line on the screen, or end the program cleanly.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshHome, openSession } from './session.ts';

let home: ReturnType<typeof freshHome>;
beforeAll(() => {
  home = freshHome();
});
afterAll(() => home.remove());

/** Fails on a signal, as a timer or a listener of the program would. */
async function failingOnSignal(failure: string) {
  const code = `process.on('SIGUSR1',()=>{${failure}})`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(code)}`;
  const session = openSession({ ...home.env, NODE_OPTIONS }, { columns: 200 });
  await session.waitFor('▸ t-words');
  session.signal('SIGUSR1');
  return session;
}

function lastReport(): string {
  const folder = join(home.home, '.local/state/benchtop');
  const [name = ''] = readdirSync(folder)
    .filter(file => file.startsWith('crash-'))
    .sort()
    .reverse();
  return readFileSync(join(folder, name), 'utf8');
}

describe('the program keeps running', () => {
  it.each([
    ['an uncaught error', "setTimeout(()=>{throw new Error('thrown with sk-abcdefgh123')},1)", 'thrown with'],
    ['a promise that is rejected', "void Promise.reject(new Error('rejected with sk-abcdefgh123'))", 'rejected with'],
  ])('after %s', async (_, failure, words) => {
    const session = await failingOnSignal(failure);
    await session.waitFor(`Failed: ${words} [redacted].`);
    expect(session.text()).toMatch(/Report: \S*crash-\w+\.txt/);
    expect(session.text()).not.toContain('new Error');
    expect(lastReport()).toContain(`Error: ${words} [redacted]`);
    // It still has the keys, and the terminal.
    session.press('j');
    await session.waitFor('▸ letter-words');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });
});

describe('the program exits, and restores the terminal', () => {
  it('after a failure in what draws the screen', async () => {
    const session = await failingOnSignal(
      'const again=()=>{setImmediate(again);({}).frobnicate()};setImmediate(again)',
    );
    expect((await session.ended).exitCode).toBe(1);
    expect(session.leftOn()).toEqual([]);
    await session.waitFor('benchtop failed: internal error (TypeError)');
    expect(session.mainScreen()).toMatch(/The report is in \S+crash-\w+\.txt/);
    expect(session.mainScreen()).not.toContain('frobnicate');
    expect(lastReport()).toContain('TypeError');
  });
});
