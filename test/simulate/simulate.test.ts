/** A share of `npm run simulate`: bugs found before, a session of each kind, and a deliberate bug for each law. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { found } from './found.ts';

const tool = fileURLToPath(new URL('../../tools/simulate.ts', import.meta.url));

/** A simulator, by its output. Each test waits for its own line only: on a busy machine all of them take long. */
class Simulator {
  readonly ended: Promise<void>;
  readonly #lines: string[] = [];
  #more = Promise.withResolvers<void>();
  #isOver = false;

  constructor(...args: readonly string[]) {
    const child = spawn(process.execPath, [tool, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const note = (): void => {
      this.#more.resolve();
      this.#more = Promise.withResolvers();
    };
    const lines = createInterface({ input: child.stdout }).on('line', line => {
      this.#lines.push(line);
      note();
    });
    this.ended = new Promise(resolve => {
      lines.on('close', () => {
        this.#isOver = true;
        note();
        resolve();
      });
    });
  }

  /** The rest of the line that begins with this. */
  async line(begin: string): Promise<string | undefined> {
    for (;;) {
      const line = this.#lines.find(each => each.startsWith(begin));
      if (line !== undefined || this.#isOver) return line?.slice(begin.length);
      await this.#more.promise;
    }
  }

  async text(): Promise<string> {
    await this.ended;
    return this.#lines.join('\n');
  }
}

describe('the simulator keeps its laws', () => {
  // Random keys on wrong answers; a session in which secrets are typed; a read-only one in which the keys try to write.
  const seeds = [1, 14, 15];
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-plans-'));
  const plans = join(folder, 'plans.json');
  writeFileSync(plans, JSON.stringify(found));
  let simulator: Simulator;
  beforeAll(() => {
    // One after the other in one process: to bundle the program and to fill a service takes seconds.
    simulator = new Simulator('--plans', plans, '--only', seeds.join(), '--steps', '12', '--development');
  });
  afterAll(async () => {
    await simulator.ended;
    rmSync(folder, { recursive: true });
  });

  it.each(Object.keys(found))('in the case found before: %s', async was => {
    expect(await simulator.line(`${was}: `)).toBe('ok');
  });

  it.each(seeds)('in the random session %i', async seed => {
    expect(await simulator.line(`seed ${seed}: `)).toBe('ok');
  });

  it('in whole sessions', async () => {
    const said = await simulator.text();
    const count = (what: string): number => Number(new RegExp(`^${what} +(\\d+)$`, 'm').exec(said)?.[1] ?? 0);
    for (const what of ['screens judged', 'counts compared', 'secrets typed'])
      expect(count(what), what).toBeGreaterThan(0);
    // Four by plans, and five in the random sessions; of faults and input, these have two thirds and more.
    expect(count('views compared')).toBe(9);
    for (const what of ['faults', 'input']) expect(count(what), what).toBeGreaterThan(80);
  });
});

describe('without the screen at first', () => {
  let simulator: Simulator;
  beforeAll(() => {
    simulator = new Simulator('--without-screen', '--hours', '3', '--bugs');
  });
  afterAll(() => simulator.ended);

  it('the simulator keeps its laws with command line programs on the service', async () => {
    for (const what of ['runs compared', 'crash']) expect(await simulator.line(what), what).toMatch(/^ +[1-9]/);
    expect(await simulator.line('3.')).toMatch(/ hours in .*, 0 sessions failed$/);
  });

  const watch = 'a poll comes too often, sockets are left, memory grows';
  it.each([
    ['a row is lost', /are listed without/],
    ['a row is made up', /are listed with sec_nowhere/],
    ['a write is sent twice', /sent twice: POST/],
    ['two numbers disagree', /has the mean \S+; that of its \d+ rewards is/],
    ['an end is taken back', /was completed, and is pending/],
    ['read-only writes', /read-only, but sent POST/],
    ['a crash loses what was acknowledged', /was acknowledged, but is missing/],
    ['an error denies what happened', /exists, but was not created or was removed/],
    ['a call hangs', /actions hang/],
    ['an error is unhandled', /unhandled: Error: nobody catches this/],
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
    ['the screen writes read-only', /read-only, but sent POST/],
    ['a list leaves a row out', /0 of 1 secrets are shown/],
    ['benchmarks: a row is left out', /benchmarks: 6 shown, 0 unreadable and 0 repeated rows are not the 7 sent/],
    ['runs: a mean is changed', /runs: MEAN says \S+, which was not sent/],
    ['trajectories: a reward is changed', /trajectories: REWARD says 77.0, which was not sent/],
    ['run: a mean is changed', /run: mean 9.00 is neither \S+ by the rewards/],
    ['training run: a step is too many', /training run: step \d+ is not/],
    [watch, /was asked for \d+ times in \d+ s, \d+ are due/],
    [watch, /memory grows: \d+ MB, then \d+ MB/],
    [watch, /there are \d+ sockets, then \d+/],
    ['memory is left behind', /\d+ MB are left behind/],
  ])('a law is checked: %s: %s', async (bug, failure) => {
    expect(await simulator.line(`${bug}: `)).toMatch(failure);
  });
});
