/** Help text, from the table of commands and the resources. */
import { type Parsed, parse } from './parse.ts';
import { prebuiltName } from './prebuilt.ts';
import { type CommandName, commands, groups } from './table/commands.ts';
import { version } from './version.ts';

export const versionText = `benchtop ${version}\n`;

/** Help on a command or on the program, with the names of the resources if the command takes one. */
export async function helpText({ name, text }: Parsed & { kind: 'help' }): Promise<string> {
  return `${text}${await resourceNames(name)}`;
}

async function resourceNames(name: CommandName | undefined): Promise<string> {
  const named = name === undefined ? [] : ((await namedResources()).get(name) ?? []);
  if (named.length === 0) return '';
  const lines = named.map(([plural, ...others]) => `  ${plural.padEnd(16)}${others.join(', ')}\n`);
  return `\nWHAT is one of:\n${lines.join('')}`;
}

/** For commands whose WHAT is a resource, all its names: plural, singular and short. */
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
  const named = ['', ...Object.keys(groups), ...Object.keys(commands)].map(async name => {
    const words = [...name.split(' ').filter(Boolean), '--help'];
    const parsed = parse(words);
    if (parsed.kind !== 'help') throw new Error(`There is no help on ${name}.`);
    return [prebuiltName(words), await helpText(parsed)] as const;
  });
  return Object.fromEntries([...(await Promise.all(named)), [prebuiltName(['--version']), versionText]]);
}
