/** The terminal while another program or the shell has it, or nothing reads it: the program runs on, and exits on a signal. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findService } from '../../src/local/daemon/client.ts';
import { eventually } from '../eventually.ts';
import { callerOf } from '../populate.ts';
import { freshHome, openInShell, openSession, prompt, run, type Session, stoppedInShell } from './session.ts';

let home: ReturnType<typeof freshHome>;
let pager: string;
beforeAll(() => {
  home = freshHome();
  pager = join(home.home, 'pager');
  // Reads a line and ends; otherwise reports how it was ended.
  writeFileSync(
    pager,
    '#!/bin/sh\ntrap \'echo PAGER ENDED; exit 0\' TERM\necho "PAGER SHOWS $(grep -c . "$1")"\nread line\necho "GOT $line"\n',
  );
  chmodSync(pager, 0o755);
});
afterAll(() => home.remove());

async function opened(env: Record<string, string> = {}, args: readonly string[] = [], size = {}): Promise<Session> {
  // A training run that has ended would make Watch the home.
  const session = openSession(
    { ...home.env, PAGER: pager, ...env },
    {
      ...size,
      args: ['open', 'benchmarks', ...args],
    },
  );
  await session.waitFor('▸ t-words');
  return session;
}

/** Starts a training run that continues until the result is called. */
async function train(): Promise<() => Promise<unknown>> {
  const service = await findService(join(home.home, '.local/share/benchtop'));
  if (!service) throw new Error('the local service does not run');
  const { call, until } = callerOf(service);
  const { items } = await until('benchmarks', ({ items: all }) => all?.length > 0);
  const bench_id = items.find(({ label }: { label: string }) => label === 't-words').bench_id;
  const options = { num_steps: 900, train_batch_size: 16, samples_per_instance: 12 };
  const run = { bench_id, base_model_slug: 'benchtop/tutor-base', display_name: 'endless', options };
  const { training_run_id } = await call('POST', 'train', run);
  expect(training_run_id).toMatch(/^trn_/);
  return () => call('POST', `train/${training_run_id}/cancel`);
}

/** The last child of a program: of a shell its program, of a program its pager. */
const childOf = ({ pid }: Session): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').at(-1));

const inShell = (): Promise<Session> => openInShell({ ...home.env, PAGER: pager });

describe('a pager', () => {
  it('has the terminal until it ends, and then the screen is restored', async () => {
    const session = await opened();
    session.press('o');
    await session.waitFor('PAGER SHOWS');
    expect(session.leftOn()).toEqual([]);
    // Typed keys belong to the pager, not to the program.
    session.type('qqq\r');
    await session.waitFor('▸ t-words');
    session.press('j');
    await session.waitFor('▸ letter-words');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });

  it('blocks nothing: running runs are followed, and the bell rings when they end', async () => {
    const session = await opened({}, ['--notices', 'bell']);
    const cancel = await train();
    session.type(':training\r');
    await session.waitFor('▸ endless');
    session.press('enter');
    await session.waitFor('of 900');
    session.press('o');
    await session.waitFor('PAGER SHOWS');
    const since = session.sent().length;
    await cancel();
    await eventually(() => expect(session.sent().slice(since)).toContain('\u0007'));
    // The screen is not drawn over the pager.
    expect(session.text()).not.toContain('of 900');
    session.type('\r');
    await session.waitFor('‖ cancelled');
    session.press('q');
    await session.ended;
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('ends together with the program on %s', async (signal, code) => {
    const session = await opened();
    session.press('o');
    await session.waitFor('PAGER SHOWS');
    session.signal(signal);
    expect((await session.ended).exitCode).toBe(code);
    await session.waitFor('PAGER ENDED');
    expect(session.leftOn()).toEqual([]);
  });

  it.each([
    ['is killed while the program goes on', 'kill -9 $$', undefined],
    ['ends with the program', 'while :; do read x; done', 'SIGTERM'],
  ])('that enables the mouse and %s leaves it disabled', async (_, then, signal) => {
    const editor = join(home.home, 'with-mouse');
    writeFileSync(editor, `#!/bin/sh\nprintf '\\033[?1000hWITH MOUSE'\n${then}\n`);
    chmodSync(editor, 0o755);
    const session = await opened({ PAGER: editor });
    session.press('o');
    await eventually(() => expect(session.sent()).toContain('WITH MOUSE'));
    if (signal) session.signal(signal);
    else {
      await session.waitFor('▸ t-words');
      session.press('q');
    }
    await session.ended;
    expect(session.leftOn()).toEqual([]);
    rmSync(editor);
  });

  it('that ignores a request to end is killed, and the terminal is restored', async () => {
    const stubborn = join(home.home, 'stubborn');
    const on = String.raw`\033[?1049h\033[?25l\033[?1000h`;
    writeFileSync(stubborn, `#!/bin/sh\ntrap '' TERM\nprintf '${on}STUBBORN'\nstty raw\nwhile :; do read x; done\n`);
    chmodSync(stubborn, 0o755);
    const session = await opened({ PAGER: stubborn });
    session.press('o');
    await session.waitFor('STUBBORN');
    session.signal('SIGTERM');
    expect((await session.ended).exitCode).toBe(143);
    expect(session.leftOn()).toEqual([]);
    rmSync(stubborn);
  });

  it('gets ctrl-c for itself, even if the program learns of its end before the signal', async () => {
    const session = await opened();
    for (let round = 1; round <= 6; round += 1) {
      session.press('o');
      await eventually(() => expect(session.sent().split('PAGER SHOWS')).toHaveLength(round + 1));
      // Both wait for the program, which then gets them in any order.
      process.kill(session.pid, 'SIGSTOP');
      session.press('ctrl-c');
      const status = `/proc/${childOf(session)}/status`;
      await eventually(() => expect(readFileSync(status, 'utf8')).toContain('(zombie)'));
      process.kill(session.pid, 'SIGCONT');
      await session.waitFor('▸ t-words');
    }
    session.press('j');
    await session.waitFor('▸ letter-words');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
  });

  it('is stopped with the program by ctrl-z, and continued with it', async () => {
    const session = await inShell();
    session.press('o');
    await session.waitFor('PAGER SHOWS');
    session.press('ctrl-z');
    await stoppedInShell(session);
    const stopped = session.text();
    session.type('fg\r');
    await session.waitFor(/ready> fg\r?\n.*main\.js/);
    expect(session.text()).not.toBe(stopped);
    session.type('and on\r');
    await session.waitFor('▸ t-words');
    session.press('q');
    await session.waitFor(prompt);
    expect(session.leftOn()).toEqual([]);
    session.type('exit\r');
    await session.ended;
  });
});

describe('the shell', () => {
  it('gets the terminal once, however often ctrl-z is pressed', async () => {
    const session = await inShell();
    session.type('\u001a\u001a\u001a');
    await stoppedInShell(session);
    expect(session.leftOn()).toEqual([]);
    session.type('fg\r');
    await session.waitFor('▸ t-words');
    session.press('j');
    await session.waitFor('▸ letter-words');
    session.press('q');
    await session.waitFor(prompt);
    expect(session.leftOn()).toEqual([]);
    session.type('exit\r');
    await session.ended;
  });

  it.each(['SIGTSTP', 'SIGSTOP'] as const)(
    'gets its terminal after %s from elsewhere, and returns it',
    async signal => {
      const session = await inShell();
      process.kill(childOf(session), signal);
      await stoppedInShell(session);
      // SIGKILL cannot be handled: the shell resets the terminal's own mode, the rest stays.
      if (signal === 'SIGTSTP') expect(session.leftOn()).toEqual([]);
      session.type('echo it is $((6 * 7))\r');
      await session.waitFor('it is 42');
      session.type('fg\r');
      // A stopped screen is still there.
      await session.gone('it is 42');
      await session.waitFor('▸ t-words');
      session.press('j');
      await session.waitFor('▸ letter-words');
      session.press('q');
      await session.waitFor(prompt);
      expect(session.leftOn()).toEqual([]);
      session.type('exit\r');
      await session.ended;
    },
  );

  it('is not waited for if there is none: ctrl-z restores the screen', async () => {
    const session = await opened();
    session.press('ctrl-z');
    await eventually(() => expect(session.sent().split('\u001b[?1049h')).toHaveLength(3));
    session.press('j');
    await session.waitFor('▸ letter-words');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });
});

describe('a blocked terminal', () => {
  it('does not keep the program from exiting', async () => {
    const session = await opened({}, [], { columns: 200, rows: 60 });
    session.stall();
    // Each size is painted in full, until every buffer on the way is full.
    for (let round = 0; round < 200; round += 1) {
      session.resize(200 - (round % 2), 60);
      await new Promise(resolve => setTimeout(resolve, 5));
    }
    session.signal('SIGTERM');
    await eventually(() => expect(() => process.kill(session.pid, 0)).toThrow('ESRCH'));
  });
});

describe('the mouse', () => {
  it.each(['q', 'SIGTERM', 'SIGHUP'])('is released after %s', async how => {
    const session = await opened({}, ['--mouse']);
    expect(session.leftOn()).toEqual(expect.arrayContaining(['mouse mode 1000', 'mouse mode 1006']));
    if (how === 'q') session.press('q');
    else session.signal(how);
    await session.ended;
    expect(session.leftOn()).toEqual([]);
  });

  it('belongs to the pager while that has the terminal', async () => {
    const session = await opened({}, ['--mouse']);
    session.press('o');
    await session.waitFor('PAGER SHOWS');
    expect(session.leftOn()).toEqual([]);
    session.type('\r');
    await session.waitFor('▸ t-words');
    expect(session.leftOn()).toContain('mouse mode 1006');
    session.press('q');
    await session.ended;
    expect(session.leftOn()).toEqual([]);
  });
});

describe('a file of rollouts', () => {
  it('opens on screen for any service in the environment, and refuses flags, which are not saved (A3, B5, C4)', async () => {
    const file = join(home.home, 'rollouts.jsonl.gz');
    const rollout = { task_id: 'tea', messages: [{ role: 'user', content: 'hi' }] };
    writeFileSync(file, gzipSync(`${JSON.stringify(rollout)}\n`));
    const env = { ...home.env, BENCHTOP_BASE_URL: 'http://127.0.0.1:9', BENCHTOP_API_KEY: 'sk-of-another-service' };
    const session = openSession(env, { args: ['read', file] });
    await session.waitFor('▸ tea');
    // An upload would go into the folder that is deleted at exit.
    expect(session.text()).toContain('rollouts.jsonl.gz (read-only)');
    // Nothing about the service behind the file.
    expect(session.text()).not.toMatch(/Deployments|127\.0\.0\.1|traj_|local:\/\//);
    await session.waitFor(/Trajectories +1 *│/);
    session.type('1');
    await session.waitFor('Flags and notes on a file are not kept: benchtop upload sends the file');
    expect(session.text()).not.toContain('<1>');
    // In the window of a note, q would be a letter.
    session.type("'q");
    expect((await session.ended).exitCode).toBe(0);
  });

  it('without anything readable ends the program, on screen and in a pipe, and leaves no folder', async () => {
    const file = join(home.home, 'unreadable.jsonl');
    writeFileSync(file, '{"nope":1}\n');
    const TMPDIR = mkdtempSync(join(home.home, 'tmp-'));
    const env = { ...home.env, TMPDIR };
    const piped = await run(['read', file], env);
    expect(piped).toMatchObject({ code: 1, output: expect.stringContaining('The file holds no trajectories') });
    const session = openSession(env, { args: ['read', file] });
    await session.waitFor('The file holds no trajectories');
    expect((await session.ended).exitCode).toBe(1);
    expect(readdirSync(TMPDIR)).toEqual([]);
  });
});
