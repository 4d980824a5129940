/** How the program leaves the terminal, in every possible way. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshHome, openInShell, openSession, prompt, run, stoppedInShell } from './session.ts';

let home: ReturnType<typeof freshHome>;
beforeAll(() => {
  home = freshHome();
});
afterAll(() => home.remove());

async function opened(options = {}) {
  const session = openSession(home.env, options);
  await session.waitFor('▸ t-words');
  return session;
}

describe('the terminal', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGUSR2', 140],
    ['SIGALRM', 142],
    ['SIGXCPU', 152],
    ['SIGVTALRM', 154],
    ['SIGPROF', 155],
    ['SIGPWR', 158],
    ['SIGTRAP', 133],
    ['SIGABRT', 134],
  ])('is restored after %s (X9)', async (signal, code) => {
    const session = await opened();
    session.signal(signal);
    expect((await session.ended).exitCode).toBe(code);
    expect(session.leftOn()).toEqual([]);
  });

  it('is restored if Node reports a signal under its other name', async () => {
    const hook = join(home.home, 'renamed.cjs');
    const renamed = "name === 'SIGABRT' ? 'SIGIOT' : name";
    writeFileSync(
      hook,
      `const { emit } = process; process.emit = (name, ...all) => emit.call(process, ${renamed}, ...all);`,
    );
    const session = openSession({ ...home.env, NODE_OPTIONS: `--require=${hook}` });
    await session.waitFor('▸ t-words');
    session.signal('SIGABRT');
    expect((await session.ended).exitCode).toBe(134);
    expect(session.leftOn()).toEqual([]);
  });

  it('stays with the program while its CPU is profiled', async () => {
    const profiles = join(home.home, 'profiles');
    const NODE_OPTIONS = `--cpu-prof --cpu-prof-dir=${profiles}`;
    const session = openSession({ ...home.env, NODE_OPTIONS });
    await session.waitFor('▸ t-words');
    session.signal('SIGTERM');
    expect((await session.ended).exitCode).toBe(143);
    expect(session.leftOn()).toEqual([]);
    expect(readdirSync(profiles)).not.toEqual([]);
  });

  it('answers keys while a filter would take forever (X1b)', async () => {
    // In a list without texts to search, an expression filters the rows as it is typed.
    const session = openSession(home.env, { args: ['open', 'models'] });
    await session.waitFor('▸ benchtop/');
    session.press('/');
    session.type(`/${'a?'.repeat(60)}${'a'.repeat(60)}`);
    await session.waitFor('aaaa');
    session.press('\u0003');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });

  it('stays with the program after SIGUSR1, which opens no debugger (X9)', async () => {
    const session = await opened();
    session.signal('SIGUSR1');
    // A key that is answered comes after the signal.
    session.press('?');
    await session.waitFor('keys');
    expect(session.text()).not.toContain('Debugger');
    session.signal('SIGTERM');
    expect((await session.ended).exitCode).toBe(143);
    expect(session.leftOn()).toEqual([]);
  });

  it('is redrawn completely when its size changes, down to the smallest and back', async () => {
    const session = await opened();
    for (const [columns, rows] of [
      [200, 60],
      [80, 24],
      [60, 15],
    ] as const) {
      session.resize(columns, rows);
      await session.waitFor(new RegExp(`^┌.{${columns - 2}}┐`));
      await session.waitFor('▸ t-words');
    }
    session.resize(40, 10);
    await session.waitFor('60×15');
    session.resize(120, 40);
    await session.waitFor('▸ t-words');
    session.press('q');
    await session.ended;
  });

  it('is redrawn completely if its size changes and changes back before a frame', async () => {
    const session = await opened();
    for (let turn = 0; turn < 5; turn += 1) {
      session.resize(60, 15);
      session.resize(120, 40);
      await session.waitFor(/^┌.{118}┐\n.*▸ t-words.*└─{118}┘$/s);
    }
    session.press('q');
    await session.ended;
  });

  it('belongs to the shell while the program is suspended, and to the program after fg', async () => {
    const session = await openInShell(home.env);
    session.press('ctrl-z');
    await stoppedInShell(session);
    expect(session.leftOn()).toEqual([]);
    expect(session.text()).not.toContain('▸ t-words');
    // The shell has its terminal back: typed text is echoed, and runs.
    session.type('echo it is $((6 * 7))\r');
    await session.waitFor('it is 42');
    // Only the shell gets this.
    session.resize(90, 28);
    session.type('fg\r');
    await session.waitFor('▸ t-words');
    await session.waitFor(/^┌.{88}┐\n(.*\n){26}└─{88}┘$/);
    session.press('j');
    await session.waitFor('▸ letter-words');
    session.press('q');
    await session.waitFor(prompt);
    expect(session.leftOn()).toEqual([]);
    session.type('exit\r');
    await session.ended;
  });

  it('shows no warnings, which are printed at the end', async () => {
    const warn = 'setTimeout(()=>process.emitWarning("beware of this"),1)';
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(warn)}`;
    const session = openSession({ ...home.env, NODE_OPTIONS });
    await session.waitFor('▸ t-words');
    expect(session.text()).not.toContain('beware');
    session.press('q');
    await session.ended;
    await session.waitFor('Warning: beware of this');
    expect(session.leftOn()).toEqual([]);
  });

  it('handles a macro of a hundred keys in one write', async () => {
    const session = await opened();
    session.type(`${'j'.repeat(100)}${'k'.repeat(5)}`);
    await session.waitFor('▸ letter-words');
    session.press('q');
    await session.ended;
  });

  it.each(['dumb', 'unknown'])('of type %s, which cannot move its cursor, gets a message', async type => {
    const session = openSession({ ...home.env, TERM: type });
    expect((await session.ended).exitCode).toBe(2);
    await session.waitFor(`TERM is ${type}`);
    await session.waitFor('`benchtop --lines` works in it.');
    expect(session.sent()).not.toContain('\u001b');
  });

  it('with its own font and colours, like the Linux console, gets no others', async () => {
    const session = openSession({ ...home.env, TERM: 'linux' }, { args: ['--theme', 'dark'] });
    await session.waitFor('> t-words');
    await session.waitFor('ready to launch');
    for (const keys of [':', 'runs\r', '?']) {
      const before = session.text();
      session.type(keys);
      await session.changed(before);
    }
    await session.waitFor('Everywhere');
    session.press('esc');
    expect(session.sent().match(/[^\u0000-\u007f]/g) ?? []).toEqual([]);
    expect(session.sent()).toContain('\u001b[36m');
    expect(session.sent()).not.toMatch(/[[;][34]8;[25];/);
    session.signal('SIGTERM');
    await session.ended;
  });

  it('with a locale other than UTF-8 gets ASCII from the command line too', async () => {
    const beyondAscii = async (env: Record<string, string>): Promise<string[]> => {
      const session = openSession({ ...home.env, ...env }, { columns: 40, args: ['list', 'benchmarks', '--wide'] });
      await session.ended;
      await session.waitFor('t-words');
      return session.sent().match(/[^\u0000-\u007f]/g) ?? [];
    };
    expect(await beyondAscii({})).toContain('…');
    expect(await beyondAscii({ LC_ALL: 'C' })).toEqual([]);
  });

  it('gets no escape sequences if there is none', async () => {
    const { code, output } = await run([], home.env);
    expect(code).toBe(2);
    expect(output).toContain('needs a terminal');
    expect(output).not.toContain('\u001b');
  });

  it('gets a one-line error for a wrong flag or setting', async () => {
    expect(await run(['--no-such-flag'], home.env)).toMatchObject({ code: 2 });
    expect(await run(['serve', '--port', '99999'], home.env)).toMatchObject({
      output: expect.stringContaining('--port takes'),
    });
  });
});
