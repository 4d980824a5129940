/** Generates the man page from the table of commands. */
import type { NamedResources } from '../src/commands/help.ts';
import { commands, workbench } from '../src/commands/table/commands.ts';
import { exitCodeMeanings, programDescription } from '../src/commands/table/help-text.ts';
import { argumentTerm, type CommandSpec, describeFlag, type FlagSpec, flagTerm } from '../src/commands/table/spec.ts';
import { variables } from '../src/config/reference.ts';
import { installWays } from './published.ts';

/** A paragraph for roff, wrapped to a usual width. */
function roff(text: string): string {
  const lines: string[] = [];
  for (const word of escaped(text).split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 79) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n').replaceAll(/^\./gm, '\\&.');
}

/** A single line for roff: dashes and quotes that can be copied, commands in bold, and no request at its beginning. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('…', '\\|.\\|.\\|.')
    .replaceAll(
      /[^\n\u0020-\u007e]/gu,
      sign => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replaceAll(/`([^`]+)`/g, '\\fB$1\\fR')
    .replaceAll(/^\./gm, '\\&.');
}

const tagged = (term: string, words: string): string => `.TP\n\\fB${escaped(term)}\\fR\n${roff(words)}\n`;

function flagsText(flags: Readonly<Record<string, FlagSpec>>, isShown: (flag: FlagSpec) => boolean): string {
  return Object.entries(flags)
    .filter(([, flag]) => isShown(flag) && !flag.hidden)
    .map(([key, flag]) => tagged(flagTerm(key, flag), describeFlag(flag)))
    .join('');
}

/** Lines to type, unformatted. */
const example = (lines: readonly string[]): string => `.PP\n.nf\n.RS\n${lines.map(escaped).join('\n')}\n.RE\n.fi\n`;

function commandText(
  [name, { summary, about: more, args = [], flags, examples = [] }]: [string, CommandSpec],
  named: NamedResources,
): string {
  const usage = ['benchtop', name, ...args.map(argumentTerm)].join(' ');
  const paragraphs = [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, more?.replaceAll('\n', ' ')];
  const shown = flagsText(flags, flag => flag.group !== 'service');
  const lines = examples.length === 0 ? '' : example(examples);
  const what = named.get(name) ?? [];
  const names = what.map(([plural, ...others]) => tagged(plural, `also ${others.join(', ')}`)).join('');
  const whats = names === '' ? '' : `.PP\nWHAT is one of:\n.RS\n${names}.RE\n`;
  return `.SS "${escaped(usage)}"\n${paragraphs
    .filter(text => text !== undefined)
    .map(roff)
    .join('\n.PP\n')}\n${whats}${shown}${lines}`;
}

/** The default folders, unless a variable of ENVIRONMENT or of XDG changes them. */
const files = [
  ['~/.config/benchtop/config.json', 'Settings and profiles.'],
  ['~/.local/share/benchtop', 'The data of the local service, its API key and its log.'],
  ['~/.local/state/benchtop', 'Remembered lists, uploads and chats.'],
  ['~/.cache/benchtop', 'Compiled code.'],
] as const;

const general = [
  tagged('-h, --help', 'Show help; after a command, help on the command.'),
  tagged('-V, --version', 'Print the version.'),
].join('');

const resultText =
  'Results go to standard output, everything else to standard error; with `--json` both are JSON. Commands take names as well as ids; `first@latest` is the last checkpoint of the training run `first`, and `first@best` the one with the highest held-out reward.';

/** Examples in the order of use. */
const examples: readonly (readonly [words: string, lines: readonly string[]])[] = [
  ['Open the workbench:', ['benchtop']],
  [
    'Train a model on the local service, and evaluate its last checkpoint:',
    [
      'benchtop train t-words --model benchtop/tutor-base --name first --wait',
      'benchtop evaluate t-words --checkpoint first@latest --wait',
    ],
  ],
  ['Fail if a run is worse than another:', ['benchtop compare evr_base evr_new --fail-below 0']],
  ['Export the runs:', ['benchtop list runs --format csv > runs.csv']],
  [
    'Work with a service:',
    [
      "benchtop profile add lab --base-url https://lab.example --api-key-command 'pass show lab' --use",
      'benchtop doctor',
    ],
  ],
];

/** @param version of the program, for the foot of the page @param named the values of WHAT, by command */
export function manPage(version: string, named: NamedResources): string {
  const all = Object.entries<CommandSpec>(commands);
  return [
    `.TH BENCHTOP 1 "" "benchtop ${version}" "User Commands"\n`,
    `.SH NAME\nbenchtop \\- ${roff('terminal workbench for a model training and evaluation service')}\n`,
    `.SH SYNOPSIS\n\\fBbenchtop\\fR [\\fIoptions\\fR]\n.br\n\\fBbenchtop\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n`,
    `.SH DESCRIPTION\n${roff(programDescription)}\n.PP\n${roff(resultText)}\n`,
    `.SH OPTIONS\n${flagsText(workbench.flags, flag => flag.group !== 'service')}${general}`,
    `.SS "Which service"\nThese may be given before the command or after it.\n`,
    flagsText(workbench.flags, flag => flag.group === 'service'),
    `.SH COMMANDS\n${all.map(each => commandText(each, named)).join('')}`,
    `.SH EXAMPLES\n${examples.map(([words, lines]) => `${roff(words)}\n${example(lines)}`).join('.PP\n')}`,
    `.SH INSTALLATION\n${installWays()
      .map(([words, lines]) => `${roff(words)}\n${example(lines)}`)
      .join('.PP\n')}`,
    `.SH "EXIT STATUS"\n${exitCodeMeanings.map(([code, words]) => tagged(String(code), words)).join('')}`,
    `.SH ENVIRONMENT\n${variables.map(({ names, words }) => tagged(names.join(', '), words)).join('')}`,
    `.SH FILES\n${files.map(([path, words]) => tagged(path, words)).join('')}`,
    `.SH "SEE ALSO"\n.BR jq (1),\n.BR less (1)\n`,
  ].join('');
}
