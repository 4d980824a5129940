/** Runs every command in README exactly as written, in order. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examples } from '../readme.ts';
import { type PopulatedHome, populatedHome } from './populated.ts';
import { openSession, programLine } from './session.ts';

let home: PopulatedHome;
let work: string;
/** Values that README cannot know. */
let knownValues: Readonly<Record<string, string>>;

/** Commands that the shell finds before others. */
function provide(name: string, lines: readonly string[]): void {
  const path = join(home.home, 'bin', name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}

beforeAll(async () => {
  home = await populatedHome();
  home.env['PATH'] = `${join(home.home, 'bin')}:${home.env['PATH']}`;
  provide('benchtop', [`exec ${programLine} "$@"`]);
  // test/e2e/clone.test.ts runs these.
  const npm = ['ci', 'start', 'test', 'pack', 'install --global ./benchtop-*.tgz', 'uninstall --global benchtop'];
  provide('npm', [`case "$*" in ${npm.map(words => `'${words}'`).join(' | ')}) ;; *) exit 2 ;; esac`]);
  work = join(home.home, 'readme');
  knownValues = {
    'https://service.example': home.baseUrl,
    'your-key': home.apiKey,
    // Any free port.
    '--port 8080': '--port 0',
  };
  for (const { path, text } of examples.filter(each => each.path && each.path !== 'config.json')) {
    mkdirSync(dirname(join(work, path)), { recursive: true });
    writeFileSync(join(work, path), text);
  }
});
afterAll(() => home.remove());

const blocks = examples.filter(({ language }) => language === 'sh');

function asRun(text: string): string {
  return Object.entries(knownValues).reduce((script, [written, here]) => script.replaceAll(written, here), text);
}

describe('README', () => {
  it('has commands', () => {
    expect(blocks.length).toBeGreaterThan(8);
  });

  it.each(blocks.map(({ line, text }) => [line, text] as const))('from line %i on', async (_line, text) => {
    const script = asRun(text);
    if (/^benchtop$/m.test(script)) {
      const session = openSession(home.env, { inShell: true, cwd: work });
      // Typed after the program has ended, because it reads everything until then.
      session.type(`${script.trim()}; exit\r`);
      await session.waitFor('▸ t-words');
      session.press('q');
      await session.ended;
      return;
    }
    if (script.startsWith('benchtop serve --port')) {
      const session = openSession(home.env, { inShell: true, cwd: work });
      session.type(`${script.trim()}\r`);
      await session.waitFor(/http:\/\/127\.0\.0\.1:\d+/);
      session.press('ctrl-c');
      session.type('echo ended with $?\r');
      await session.waitFor(/ended with \d/);
      session.type('exit\r');
      await session.ended;
      return;
    }
    const run = promisify(execFile)('bash', ['-euc', script], { cwd: work, env: home.env });
    run.child.stdin?.end();
    const { stdout } = await run;
    if (script.startsWith('benchtop')) expect(stdout).not.toBe('');
  });

  it('leaves nothing behind, as it says', () => {
    expect(() => readFileSync(join(home.home, '.local/share/benchtop/benchtop.db'))).toThrow('ENOENT');
  });
});
