/** The man page, made of the table of commands. */
import { commands, workbench } from '../src/commands/table/commands.ts';
import { argumentTerm, type CommandSpec, type FlagSpec, flagTerm } from '../src/commands/table/spec.ts';
import { about, exitCodeMeanings } from '../src/commands/table/words.ts';
import { variables } from '../src/config/reference.ts';

/** Text as roff takes it: dashes and quotes that can be copied, commands in bold, and no line that begins with a request. */
function roff(text: string): string {
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

const tagged = (term: string, words: string): string => `.TP\n\\fB${roff(term)}\\fR\n${roff(words)}\n`;

function flagsText(flags: Readonly<Record<string, FlagSpec>>, isShown: (flag: FlagSpec) => boolean): string {
  return Object.entries(flags)
    .filter(([, flag]) => isShown(flag) && !flag.hidden)
    .map(([key, flag]) => {
      const notes = [flag.choices?.join(', '), flag.variable].filter(Boolean).join('; ');
      return tagged(flagTerm(key, flag), `${flag.description}${notes ? ` (${notes})` : ''}`);
    })
    .join('');
}

function commandText([name, { summary, about: more, args = [], flags, examples = [] }]: [string, CommandSpec]): string {
  const usage = ['benchtop', name, ...args.map(argumentTerm)].join(' ');
  const paragraphs = [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, more?.replaceAll('\n', ' ')];
  const shown = flagsText(flags, flag => flag.group !== 'service');
  const lines = examples.map(line => `.PP\n.nf\n.RS\n${roff(line)}\n.RE\n.fi\n`).join('');
  return `.SS "${roff(usage)}"\n${paragraphs
    .filter(text => text !== undefined)
    .map(roff)
    .join('\n.PP\n')}\n${shown}${lines}`;
}

/** Where things lie unless a variable of ENVIRONMENT or of XDG says otherwise. */
const files = [
  ['~/.config/benchtop/config.json', 'Settings and profiles.'],
  ['~/.local/share/benchtop', 'The data of the local service, its API key and its log.'],
  ['~/.local/state/benchtop', 'What is remembered of services, uploads and chats.'],
] as const;

/** @param version of the program, for the foot of the page */
export function manPage(version: string): string {
  const all = (Object.entries(commands) as [string, CommandSpec][]).filter(([, { hidden }]) => !hidden);
  return [
    `.TH BENCHTOP 1 "" "benchtop ${version}" "User Commands"\n`,
    `.SH NAME\nbenchtop \\- ${roff('terminal workbench for a model training and evaluation service')}\n`,
    `.SH SYNOPSIS\n\\fBbenchtop\\fR [\\fIoptions\\fR]\n.br\n\\fBbenchtop\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n`,
    `.SH DESCRIPTION\n${roff(about)}\n`,
    `.SH OPTIONS\n${flagsText(workbench.flags, flag => flag.group !== 'service')}`,
    `.SS "Which service"\nThese may be given before the command or after it.\n`,
    flagsText(workbench.flags, flag => flag.group === 'service'),
    `.SH COMMANDS\n${all.map(commandText).join('')}`,
    `.SH EXIT STATUS\n${exitCodeMeanings.map(([code, words]) => tagged(String(code), words)).join('')}`,
    `.SH ENVIRONMENT\n${variables.map(({ names, words }) => tagged(names.join(', '), words)).join('')}`,
    `.SH FILES\n${files.map(([path, words]) => tagged(path, words)).join('')}`,
  ].join('');
}
