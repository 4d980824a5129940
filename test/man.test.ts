/** The man page is complete: every command and flag of the table, in valid roff. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { namedResources } from '../src/commands/help.ts';
import { commands } from '../src/commands/table/commands.ts';
import { type CommandSpec, longFlag } from '../src/commands/table/spec.ts';
import { manPage } from '../tools/man.ts';
import { temporaryFolder } from './config/folder.ts';

const page = manPage('1.2.3', await namedResources());
const plain = page.replaceAll('\\-', '-');

it('names every command and flag', () => {
  expect(plain).toContain('"benchtop 1.2.3"');
  for (const [name, { flags }] of Object.entries<CommandSpec>(commands)) {
    expect(plain).toMatch(new RegExp(`^\\.SS "benchtop ${name}\\b`, 'm'));
    for (const [key, flag] of Object.entries(flags)) if (!flag.hidden) expect(plain).toContain(longFlag(key));
  }
});

it('is plain ASCII, without Markdown', () => {
  expect(page).toMatch(/^[\n\u0020-\u007e]*$/);
  expect(page).not.toContain('`');
});

it('has the sections of a manual, and the names of the resources', () => {
  const sections = [...page.matchAll(/^\.SH "?([^"\n]+)/gm)].map(([, name]) => name);
  expect(sections).toEqual([
    'NAME',
    'SYNOPSIS',
    'DESCRIPTION',
    'OPTIONS',
    'COMMANDS',
    'EXAMPLES',
    'INSTALLATION',
    'EXIT STATUS',
    'ENVIRONMENT',
    'FILES',
    'SEE ALSO',
  ]);
  for (const name of ['training', 'deployments', 'checkpoints']) expect(page).toContain(`\\fB${name}\\fR`);
});

it.each([
  ['groff', ['-man', '-ww', '-Tutf8']],
  // Lines of examples may be long.
  ['mandoc', ['-Tlint', '-Wwarning']],
])('%s does not mention it', async (command, flags) => {
  const path = join(await temporaryFolder(), 'benchtop.1');
  writeFileSync(path, page);
  const { error, stdout, stderr } = spawnSync(command, [...flags, path], { encoding: 'utf8' });
  if (error) {
    console.warn(`${command} is not installed`);
    return;
  }
  // The same version makes the same page whenever it is built: it has no date.
  const warnings = `${command === 'mandoc' ? stdout : ''}${stderr}`.split('\n').filter(Boolean);
  expect(warnings.filter(warning => !warning.includes('missing date'))).toEqual([]);
});

it('renders without a warning if man is installed', async () => {
  const path = join(await temporaryFolder(), 'benchtop.1');
  writeFileSync(path, page);
  const { error, status, stdout, stderr } = spawnSync('man', ['--warnings', '-l', path], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], MANWIDTH: '80', LC_ALL: 'C.UTF-8', MANPAGER: 'cat' },
  });
  if (error) {
    console.warn('man is not installed: the page was not rendered');
    return;
  }
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/NAME\n +benchtop +\S +terminal +workbench/);
  expect(stdout).toMatch(/EXIT STATUS\n +0 +done/);
});
