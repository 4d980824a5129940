/**
 * `npm run readme`: writes the generated parts of README, between `<!-- begin NAME -->` and `<!-- end NAME -->`. With
 * `--check`, as in `npm run lint`, it only reports whether they are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { own } from '../src/base/own-property.ts';
import { commands } from '../src/commands/table/commands.ts';
import { serviceFlags } from '../src/commands/table/flags.ts';
import { exitCodeMeanings } from '../src/commands/table/help-text.ts';
import { argumentTerm, type CommandSpec, type FlagSpec, flagTerm } from '../src/commands/table/spec.ts';
import { assumptionReference, profileReference, settingsReference, variables } from '../src/config/reference.ts';
import { defaultAssumptions } from '../src/contract/assumptions.ts';
import { installWays, workflowSteps } from './published.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(...head), row(...head.map(() => '---')), ...rows.map(each => row(...each))].join('\n');

function settingsTable(words: Readonly<Record<string, string | Readonly<Record<string, string>>>>): string {
  const rows = Object.entries(words).flatMap(([name, about]) =>
    typeof about === 'string'
      ? [[`\`${name}\``, about]]
      : Object.entries(about).map(([inner, text]) => [`\`${name}.${inner}\``, text]),
  );
  return table(['setting', 'meaning'], rows);
}

function assumptionTable(): string {
  const rows = Object.entries(assumptionReference).map(([name, words]) => {
    const value: string | undefined = own(defaultAssumptions, name);
    return [`\`${name}\``, value === undefined ? '' : `\`${value}\``, words];
  });
  return table(['assumption', 'default', 'meaning'], rows);
}

function variableTable(): string {
  const named = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(', ');
  return table(
    ['variable', 'meaning', 'also as'],
    variables.map(({ names, words, like }) => [named(names), words, like ? `\`${like}\`` : '']),
  );
}

function commandTable(): string {
  const rows = Object.entries<CommandSpec>(commands).map(([name, { args = [], summary }]) => [
    `\`${['benchtop', name, ...args.map(argumentTerm)].join(' ')}\``,
    summary,
  ]);
  return table(['command', 'purpose'], rows);
}

function flagTable(flags: Readonly<Record<string, FlagSpec>>): string {
  const rows = Object.entries(flags).map(([key, flag]) => [`\`${flagTerm(key, flag)}\``, flag.description]);
  return table(['flag', 'meaning'], rows);
}

function installText(): string {
  return installWays()
    .map(([words, lines]) => [words, '', '```sh', ...lines, '```'].join('\n'))
    .join('\n\n');
}

function workflow(): string {
  const steps = workflowSteps().map(line => `      ${line}\n`);
  return `\`\`\`yaml
name: gate
on: workflow_dispatch
jobs:
  gate:
    runs-on: ubuntu-latest
    env:
      BENCHTOP_BASE_URL: https://service.example
      BENCHTOP_API_KEY: \${{ secrets.BENCHTOP_API_KEY }}
      BASE: \${{ vars.BASELINE_RUN }}
    steps:
${steps.join('')}      - run: |
          NEW=$(benchtop evaluate t-words --model benchtop/tutor-base --checkpoint first@latest --wait --field id)
          benchtop compare "$BASE" "$NEW" --fail-below 0
\`\`\``;
}

/** The content of each block. */
const blocks: Readonly<Record<string, () => string>> = {
  install: installText,
  workflow,
  commands: commandTable,
  'flags of all commands': () => flagTable(serviceFlags),
  'exit codes': () =>
    table(
      ['exit code', 'meaning'],
      exitCodeMeanings.map(([code, words]) => [`${code}`, words]),
    ),
  settings: () => settingsTable(settingsReference),
  'settings of a profile': () => settingsTable(profileReference),
  assumptions: assumptionTable,
  variables: variableTable,
};

/** The text with up-to-date blocks. @throws Error if one is missing */
export function withBlocks(text: string): string {
  return Object.entries(blocks).reduce((before, [name, make]) => {
    const [begin, end] = [`<!-- begin ${name} -->\n`, `\n<!-- end ${name} -->`];
    const from = before.indexOf(begin);
    const to = before.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`README has no block ${name}`);
    return `${before.slice(0, from + begin.length)}${make()}${before.slice(to)}`;
  }, text);
}

if (import.meta.main) {
  const path = new URL('../README.md', import.meta.url);
  const text = readFileSync(path, 'utf8');
  const current = withBlocks(text);
  if (!process.argv.includes('--check')) writeFileSync(path, current);
  else if (current !== text) {
    console.error('README: its tables are not up to date. Run `npm run readme`.');
    process.exitCode = 1;
  }
}
