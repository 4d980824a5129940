/** A share of `npm run simulate`: sessions that once failed, and a bug on purpose for each law. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';

const tool = fileURLToPath(new URL('../tools/simulate.ts', import.meta.url));
const run = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, [tool, ...args])).stdout;

/** Each with what it found. */
const seeds = [
  ['1-3', 'a service that could not write who has its folder kept it locked'],
  ['1-4:15', 'nothing yet, at the screen'],
] as const;

it('keeps its laws in sessions that once failed', async () => {
  const said = await run('--only', seeds.map(([seed]) => seed).join(','));
  expect(said).toMatch(/, 0 sessions failed\n$/);
  expect(said).toMatch(/^runs compared +[1-9]/m);
  expect(said).toMatch(/^crash +[1-9]/m);
  expect(said).toMatch(/^screens judged +[1-9]/m);
  expect(said).toMatch(/^counts compared +4$/m);
});

describe('a law is watched:', () => {
  let said = '';
  beforeAll(async () => {
    said = await run('--bugs');
  });

  it.each([
    ['a row is lost', /are listed without/],
    ['a row is made up', /are listed with sec_nowhere/],
    ['a write is sent twice', /sent twice: POST/],
    ['two numbers disagree', /has the mean \S+; that of its \d+ rewards is/],
    ['an end is taken back', /was completed, and is pending/],
    ['read-only writes', /read-only, and yet POST/],
    ['a crash loses what was acknowledged', /was acknowledged, and is gone/],
    ['an error denies what happened', /is there, and was not made or is removed/],
    ['the terminal is left changed', /the terminal is left with hidden cursor/],
    ['a border is broken', /the bottom border is broken/],
    ['a call hangs', /actions hang/],
    ['an error is nowhere handled', /unhandled: Error: nobody hears this/],
  ])('%s', (bug, failure) => {
    expect(said.split('\n').find(line => line.startsWith(`${bug}: `))).toMatch(failure);
  });
});
