/** Completions in real shells: the tab key, with the scripts that the program prints. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { RememberedStore } from '../../src/store/store.ts';
import { eventually } from '../eventually.ts';
import { freshHome, openSession, programLine } from './session.ts';

const home = freshHome();
/** The command on the path records its arguments here, except for completions. */
const called = join(home.home, 'called');

/** A name that runs commands, if a shell takes it as it is. */
const hostile = `pay$(touch own)\`touch own\`";touch own;"';touch own;'a!1\\b:c`;

beforeAll(() => {
  const bin = join(home.home, 'bin');
  mkdirSync(bin);
  const note = `printf '%s|' "$@" >> '${called}'; echo . >> '${called}'`;
  // The shells mostly ask for the same completions, and the program says the same each time.
  const ask = [
    `said='${home.home}/said-'$(printf '%s|' "$@" | cksum)`,
    `[ -e "$said" ] || ${programLine} "$@" > "$said"`,
    'exec cat "$said"',
  ];
  const lines = ['#!/bin/sh', `case "$1" in __complete|completion)`, ...ask, ';; esac', note];
  writeFileSync(join(bin, 'benchtop'), `${lines.join('\n')}\n`);
  chmodSync(join(bin, 'benchtop'), 0o755);
  home.env['PATH'] = `${bin}:${home.env['PATH']}`;
  const store = RememberedStore.open(
    join(home.home, '.local/state/benchtop/remembered.db'),
    `local ${join(home.home, '.local/share/benchtop')}`,
  );
  store.see([
    { kind: 'run', id: 'evr_1', label: 'my first run: 50% "best"' },
    { kind: 'run', id: 'evr_3', label: hostile },
    { kind: 'training', id: 'trn_1', label: 'trained' },
    { kind: 'run', id: 'evr_2', label: 'evil\u001b[31m\nrun' },
  ]);
  store.close();
  writeFileSync(join(home.home, 'rollouts.jsonl'), '');
  writeFileSync(join(home.home, 'lr=0.1.jsonl'), '');
  mkdirSync(join(home.home, 'dir one'));
  writeFileSync(join(home.home, 'dir one', 'file.jsonl'), '');
});
afterAll(() => home.remove());

const shells = {
  bash: { command: ['bash', '--norc', '--noprofile', '-i'], load: ['source <(benchtop completion bash)'] },
  zsh: {
    command: ['zsh', '-f', '-i'],
    load: ['autoload -Uz compinit; compinit -D', 'source <(benchtop completion zsh)'],
  },
  fish: { command: ['fish', '--no-config', '-i'], load: ['benchtop completion fish | source'] },
} as const;

it.each(Object.entries(shells))('%s completes commands, flags, names with spaces and files', async (shell, how) => {
  if (spawnSync(shell, ['-c', 'exit 0']).status !== 0) {
    console.warn(`${shell} is not installed: its completions were not tried`);
    return;
  }
  rmSync(called, { force: true });
  const [command, ...args] = how.command;
  const session = openSession(home.env, { inShell: [command, ...args], cwd: home.home });
  onTestFinished(async () => {
    session.signal('SIGKILL');
    await session.ended;
  });
  /** Types a line, and waits until the shell has executed it. */
  let count = 0;
  const type = async (line: string): Promise<void> => {
    count += 1;
    session.type(`${line}\r`);
    session.type(`printf 'done%s\\n' ${count}\r`);
    await session.waitFor(`done${count}\n`);
  };
  for (const line of how.load) await type(line);
  // The line after the tab key, and the resulting command.
  const lines = [
    ['benchtop promo\t', 'promote|'],
    ['benchtop secret s\t', 'secret|set|'],
    ['benchtop list runs --sort mean --rev\t', 'list|runs|--sort|mean|--reverse|'],
    ['benchtop train x -o num_st\t4', 'train|x|-o|num_steps=4|'],
    ['benchtop get run my\\ fi\t', 'get|run|my first run: 50% "best"|'],
    ['benchtop config set theme li\t', 'config|set|theme|light|'],
    ['benchtop list runs --format mark\t', 'list|runs|--format|markdown|'],
    ['benchtop get run my\t', 'get|run|my first run: 50% "best"|'],
    ['benchtop get run my\\ first\\ run:\\ 5\t', 'get|run|my first run: 50% "best"|'],
    ['benchtop get run my\\ first\\ run:\t', 'get|run|my first run: 50% "best"|'],
    ['benchtop deploy trained@la\t', 'deploy|trained@latest|'],
    ['benchtop list runs --format=mark\t', 'list|runs|--format=markdown|'],
    ['benchtop upload rollo\t', 'upload|rollouts.jsonl|'],
    ['benchtop get run "my fi\t', 'get|run|my first run: 50% "best"|'],
    ['benchtop get run pay\t', `get|run|${hostile}|`],
    ['benchtop get run "pay\t', `get|run|${hostile}|`],
    ["benchtop get run 'pay\t", `get|run|${hostile}|`],
    // Files, also beside names, in quotes, and with a = (out31 B3, C2, C3).
    ['benchtop tasks ./rol\t', 'tasks|./rollouts.jsonl|'],
    ['benchtop upload "dir one/fi\t', 'upload|dir one/file.jsonl|'],
    ['benchtop list --ca-file=rol\t', 'list|--ca-file=rollouts.jsonl|'],
    ['benchtop list runs --filter statu\tfailed', 'list|runs|--filter|status:failed|'],
    ...(shell === 'bash' ? [] : ([['benchtop upload lr=\t', 'upload|lr=0.1.jsonl|']] as const)),
  ] as const;
  for (const [typed] of lines) await type(typed);
  await eventually(() => expect(readFileSync(called, 'utf8').trim().split('.\n').length).toBe(lines.length));
  expect(readdirSync(home.home)).not.toContain('own');
  expect(readFileSync(called, 'utf8')).toBe(lines.map(([, words]) => `${words}.\n`).join(''));
});
