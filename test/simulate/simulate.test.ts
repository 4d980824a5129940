/** A share of `npm run simulate`: faults that were found, a session of each kind, and a bug on purpose for each law. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { found } from './found.ts';

const tool = fileURLToPath(new URL('../../tools/simulate.ts', import.meta.url));
const run = async (...args: string[]): Promise<string> => {
  const done = promisify(execFile)(process.execPath, [tool, ...args]);
  return (await done.catch((error: { stdout: string }) => error)).stdout;
};

it('keeps its laws where faults were found', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-plans-'));
  const plans = join(folder, 'plans.json');
  writeFileSync(plans, JSON.stringify(found));
  const said = await run('--plans', plans, '--development');
  rmSync(folder, { recursive: true });
  expect(said).toMatch(/, 0 sessions failed\n$/);
  expect(said).toMatch(/^screens judged +[1-9]/m);
  expect(said).toMatch(/^counts compared +[1-9]/m);
  expect(said).toMatch(/^views compared +4$/m);
});

it('keeps its laws where programs use the service', async () => {
  const said = await run('--without-screen', '--hours', '8');
  expect(said).toMatch(/, 0 sessions failed\n$/);
  expect(said).toMatch(/^runs compared +[1-9]/m);
  expect(said).toMatch(/^crash +[1-9]/m);
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
    ['a call hangs', /actions hang/],
    ['an error is nowhere handled', /unhandled: Error: nobody hears this/],
    ['a credential is sent', /a credential is in the body of POST/],
    ['a credential is kept', /a credential is in \S+benchtop.db/],
    ['a redirect is followed', /a redirect was followed: GET/],
    ['a warning of React', /console: each child has to have a key/],
    ['the terminal is left changed', /the terminal is left with hidden cursor/],
    ['a border is broken', /the bottom border is broken/],
    ['a sequence is let through', /written: CSI "6n"/],
    ['a credential is on the screen', /written: a credential/],
    ['the screen says undefined', /the screen says undefined/],
    ['a view fails', /the screen survives/],
    ['a key is not answered', /esc and \? do not show the help/],
    ['a key takes long', /\d+ ms of work for .*"j"/],
    ['the screen writes read-only', /read-only, and yet POST/],
    ['a list leaves a row out', /0 of 1 secrets are shown/],
    ['benchmarks: a row is left out', /benchmarks: 4 shown, 0 unreadable and 0 repeated rows are not the 5 sent/],
    ['runs: a mean is changed', /runs: MEAN says \S+, which was not sent/],
    ['trajectories: a reward is changed', /trajectories: REWARD says 77.0, which was not sent/],
    ['run: a mean is changed', /run: mean 9.00 is neither \S+ by the rewards/],
    ['training run: a step is too many', /training run: step \d+ is not/],
    ['a poll comes too often', /was asked for \d+ times in \d+ s, \d+ are due/],
    ['memory grows', /memory grows: \d+ MB, then \d+ MB/],
    ['memory is left behind', /\d+ MB are left behind/],
    ['sockets are left', /there are \d+ sockets, then \d+/],
  ])('%s', (bug, failure) => {
    expect(said.split('\n').find(line => line.startsWith(`${bug}: `))).toMatch(failure);
  });
});
