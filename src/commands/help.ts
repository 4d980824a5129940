/** Help text, made from the command table and the resources. */
import { capitalised } from '../base/capitalised.ts';
import { maxOf } from '../base/many.ts';
import { own } from '../base/own-property.ts';
import { version } from '../base/version.ts';
import { defaultColumns } from '../text/terminal.ts';
import { prebuiltName } from './prebuilt.ts';
import { commands, groups } from './table/commands.ts';
import { helpFooter, programDescription } from './table/help-text.ts';
import { argumentTerm, type CommandSpec, describeFlag, flagTerm } from './table/spec.ts';
import { choicesOf, helpFlag, rootFlags } from './tokens.ts';

export const versionText = `benchtop ${version}\n`;

type Term = readonly [term: string, meaning: string];

interface Section {
  readonly title: string;
  readonly terms: readonly Term[];
}

/** Lines of at most `width`; a longer word is not split, so that it can be copied. */
const wrap = (text: string, width: number): string[] =>
  text.match(new RegExp(`\\S.{0,${width - 1}}(?!\\S)|\\S+`, 'g')) ?? [];

/** The content of help: paragraphs to wrap, sections of terms, and unchanged lines. */
interface Help {
  readonly usage: string;
  readonly paragraphs: readonly string[];
  readonly sections: readonly Section[];
  readonly footer?: string | undefined;
}

function flagTerms(flags: CommandSpec['flags'], isOfService: boolean): Term[] {
  return Object.entries(flags)
    .filter(([, { hidden, group }]) => !hidden && (group === 'service') === isOfService)
    .map(([key, flag]) => [flagTerm(key, flag), describeFlag(flag)]);
}

const rootHelp = (): Help => ({
  usage: '[COMMAND] [options]',
  paragraphs: [programDescription],
  sections: [
    { title: 'Commands', terms: choicesOf() },
    { title: 'Which service', terms: flagTerms(rootFlags, true) },
    { title: 'Options', terms: flagTerms(rootFlags, false) },
  ],
  footer: helpFooter,
});

const groupHelp = (group: string): Help => ({
  usage: `${group} COMMAND [options]`,
  paragraphs: [],
  sections: [
    { title: 'Commands', terms: choicesOf(group) },
    { title: 'Options', terms: flagTerms(helpFlag, false) },
  ],
});

function commandHelp(name: string, { summary, about: more, args = [], flags, examples = [] }: CommandSpec): Help {
  const first = `${capitalised(summary)}.`;
  return {
    usage: [name, ...args.map(argumentTerm), '[options]'].join(' '),
    paragraphs: [first, ...(more?.split('\n\n') ?? [])],
    // Flags that select the service are the same for all commands.
    sections: [{ title: 'Options', terms: flagTerms({ ...flags, ...helpFlag }, false) }],
    footer: examples.length === 0 ? undefined : ['Examples:', ...examples.map(line => `  ${line}`)].join('\n'),
  };
}

/**
 * Help for a command, a group or, without a name, the program. Lists the resource names if the command takes a
 * resource.
 *
 * @param columns width of the terminal; at most {@link defaultColumns} are used
 */
export async function helpText(name: string | undefined, columns = defaultColumns): Promise<string> {
  const spec = own<CommandSpec>(commands, name ?? '');
  const help = name === undefined ? rootHelp() : spec ? commandHelp(name, spec) : groupHelp(name);
  const width = Math.min(columns, defaultColumns);
  const termWidth = maxOf(help.sections.flatMap(({ terms }) => terms.map(([term]) => term.length)));
  const indent = ' '.repeat(termWidth + 4);
  const described = ([term, meaning]: Term): string =>
    `  ${term.padEnd(termWidth)}  ${wrap(meaning, Math.max(20, width - indent.length)).join(`\n${indent}`)}`;
  const blocks = [
    `Usage: benchtop ${help.usage}`,
    ...help.paragraphs.map(text => wrap(text.replaceAll('\n', ' '), width).join('\n')),
    ...help.sections.map(({ title, terms }) => [`${title}:`, ...terms.map(described)].join('\n')),
    ...(help.footer === undefined ? [] : [help.footer]),
    ...(await resourceNames(name)),
  ];
  return `${blocks.join('\n\n')}\n`;
}

async function resourceNames(name: string | undefined): Promise<string[]> {
  if (name !== 'list' && name !== 'get') return [];
  const lines = ((await namedResources()).get(name) ?? []).map(
    ([plural, ...others]) => `  ${plural.padEnd(16)}${others.join(', ')}`,
  );
  return [['WHAT is one of:', ...lines].join('\n')];
}

/** For each command whose WHAT is a resource, the names of each such resource: plural, singular and short. */
export type NamedResources = ReadonlyMap<string, readonly (readonly [string, string, ...string[]])[]>;

export async function namedResources(): Promise<NamedResources> {
  const [{ resources }, { isReadAlone }] = await Promise.all([
    import('../resources/catalogue.ts'),
    import('../resources/define.ts'),
  ]);
  return new Map([
    ['list', resources.map(({ names }) => names)],
    ['get', resources.filter(isReadAlone).map(({ names }) => names)],
  ]);
}

/** Everything the build writes for `printPrebuilt`: each help text, and the version. */
export async function prebuiltTexts(): Promise<Record<string, string>> {
  const named = [undefined, ...Object.keys(groups), ...Object.keys(commands)].map(async name => {
    const words = [...(name?.split(' ') ?? []), '--help'];
    return [prebuiltName(words), await helpText(name)] as const;
  });
  return Object.fromEntries([...(await Promise.all(named)), [prebuiltName(['--version']), versionText]]);
}
