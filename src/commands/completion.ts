/**
 * Completions for bash, zsh and fish: small scripts that ask this program, which knows the table of commands and the
 * resources seen.
 */
import { loadConfig } from '../config/load.ts';
import { findPaths } from '../config/paths.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { type CommandInput, type CommandName, commands, groups, workbench } from './table/commands.ts';
import { type ArgumentSpec, type CommandSpec, type FlagSpec, longFlag } from './table/spec.ts';

/** Printed in place of candidates: the shell completes file names. */
const files = ':files';

const scripts = {
  bash: `_benchtop() {
  local value description
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    if [ "$value" = '${files}' ]; then compopt -o default; COMPREPLY=(); return; fi
    COMPREPLY+=("$(printf %q "$value")")
  done < <(benchtop __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _benchtop benchtop
`,
  zsh: `#compdef benchtop
_benchtop() {
  local value description
  local -a found
  while IFS=$'\\t' read -r value description; do
    if [[ "$value" == '${files}' ]]; then _files; return; fi
    found+=("\${value//:/\\\\:}:$description")
  done < <(benchtop __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe benchtop found
}
if [ "\${funcstack[1]}" = _benchtop ]; then _benchtop "$@"; else compdef _benchtop benchtop; fi
`,
  fish: `function __benchtop_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (benchtop __complete $words[2..-1] 2>/dev/null)
    if test "$line" = '${files}'
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c benchtop -f -a '(__benchtop_complete)'
`,
} as const;

export async function run({ args: [shell = ''] }: CommandInput<'completion'>, io: CommandIo): Promise<number> {
  const script = Object.entries(scripts).find(([name]) => name === shell)?.[1];
  if (!script)
    throw new CommandError(`There are completions for ${Object.keys(scripts).join(', ')}, not for ${shell}.`);
  await io.print(script);
  return exitCodes.done;
}

type Candidate = readonly [value: string, description: string];

const flagCandidates = (flags: Readonly<Record<string, FlagSpec>>): Candidate[] =>
  Object.entries(flags)
    .filter(([, { hidden }]) => !hidden)
    .map(([key, { description }]) => [longFlag(key), description]);

/** The kinds of values that a flag takes. */
const kindsOfFlags: ReadonlyMap<string, readonly string[]> = new Map([
  ['--benchmark', ['benchmark']],
  ['--run', ['run']],
  ['--training', ['training']],
  ['--checkpoint', ['training']],
]);

/** Names and ids of resources seen on the service. */
async function seenCandidates(kinds: readonly string[], { environment }: CommandIo): Promise<Candidate[]> {
  const [{ openRemembered }, { resources }] = await Promise.all([
    import('./connect.ts'),
    import('../resources/catalogue.ts'),
  ]);
  const memory = openRemembered(loadConfig({}, environment));
  try {
    return resources.flatMap(({ kind, names: [, single] }) => {
      if (kind === undefined || kind === 'trajectory' || !(kinds.length === 0 || kinds.includes(kind))) return [];
      return memory
        .list(kind)
        .flatMap(({ id, label }): Candidate[] => [
          ...(label ? [[label, single] as const] : []),
          [id, `${single} ${label ?? ''}`.trim()],
        ]);
    });
  } finally {
    memory.close();
  }
}

async function profileCandidates({ environment }: CommandIo): Promise<Candidate[]> {
  const { readSettings, settingsPath } = await import('../config/settings-file.ts');
  const { settings } = readSettings(settingsPath(findPaths(environment)));
  const named = Object.entries(settings.profiles ?? {}).filter(([name]) => name !== 'local');
  return [
    ['local', 'the local service'],
    ...named.map(([name, { baseUrl }]): Candidate => [name, baseUrl ?? 'the local service']),
  ];
}

async function argumentCandidates(spec: ArgumentSpec | undefined, io: CommandIo): Promise<Candidate[]> {
  if (spec?.choices) return spec.choices.map(choice => [choice, '']);
  switch (spec?.of) {
    case 'file':
      return [[files, '']];
    case 'operation': {
      const { endpoints } = await import('../contract/endpoints.ts');
      return Object.values(endpoints).map(({ operation, method, path }) => [operation, `${method} ${path}`]);
    }
    case 'resource':
    case 'listed resource': {
      const { resources } = await import('../resources/catalogue.ts');
      return resources.map(({ names: [plural, single] }) => [spec.of === 'resource' ? plural : single, '']);
    }
    case 'profile':
      return profileCandidates(io);
    case 'seen':
      return seenCandidates(spec.kinds ?? [], io);
    default:
      return [];
  }
}

/** The command at the beginning of the words, and its positional arguments. */
function commandIn(words: readonly string[]): { name: string; spec: CommandSpec | undefined; rest: readonly string[] } {
  const rest: string[] = [];
  let isValue = false;
  const named = (): CommandSpec | undefined => specOf(rest) ?? workbench;
  for (const word of words) {
    if (isValue || word.startsWith('-')) {
      isValue = !isValue && valued(named(), word);
      continue;
    }
    rest.push(word);
  }
  const length = Object.hasOwn(groups, rest[0] ?? '') ? 2 : 1;
  return { name: rest[0] ?? '', spec: specOf(rest), rest: rest.slice(length) };
}

function specOf([first = '', second = '']: readonly string[]): CommandSpec | undefined {
  const name = Object.hasOwn(groups, first) ? `${first} ${second}` : first;
  return Object.hasOwn(commands, name) ? commands[name as CommandName] : undefined;
}

function flagIn(spec: CommandSpec | undefined, word: string): FlagSpec | undefined {
  const found = Object.entries(spec?.flags ?? {}).find(
    ([key, { short }]) => word === longFlag(key) || word === `-${short}`,
  );
  return found?.[1];
}

const valued = (spec: CommandSpec | undefined, word: string): boolean => flagIn(spec, word)?.value !== undefined;

async function candidates(words: readonly string[], io: CommandIo): Promise<Candidate[]> {
  const before = words.slice(0, -1);
  const { name, spec, rest } = commandIn(before);
  const last = before.at(-1) ?? '';
  const flag = flagIn(spec ?? workbench, last);
  if (flag?.value !== undefined) {
    if (last === '--profile') return profileCandidates(io);
    if (flag.choices) return flag.choices.map(choice => [choice, '']);
    const kinds = kindsOfFlags.get(last);
    if (kinds) return seenCandidates(kinds, io);
    return /PATH|FILE|FOLDER/.test(flag.value) ? [[files, '']] : [];
  }
  if (words.at(-1)?.startsWith('-')) return flagCandidates((spec ?? workbench).flags);
  const shown = Object.entries<CommandSpec>(commands).filter(([, { hidden }]) => !hidden);
  if (name === '') {
    const single = shown.filter(([each]) => !each.includes(' ')).map(([each, { summary }]) => [each, summary] as const);
    return [...single, ...Object.entries(groups)];
  }
  if (!spec) {
    const second = shown.filter(([each]) => each.startsWith(`${name} `));
    return second.map(([each, { summary }]) => [each.slice(name.length + 1), summary]);
  }
  const args = spec.args ?? [];
  return argumentCandidates(args[Math.min(rest.length, args.length - 1)], io);
}

/** Candidates for the last word, one per line: the word, a tab, and a description. */
export async function complete(words: readonly string[], io: CommandIo): Promise<number> {
  // bash splits `--flag=value` at the `=`.
  const partial = words.at(-1) === '=' ? '' : (words.at(-1) ?? '');
  const all = await candidates([...words.slice(0, -1).filter(word => word !== '='), partial], io);
  // Names come over the wire: one that cannot be typed safely is not offered.
  const fitting = all.filter(
    ([value]) => value === files || (value.startsWith(partial) && value === sanitiseLine(value)),
  );
  await io.print(
    fitting
      .map(([value, description]) => `${value}\t${sanitiseLine(description)}\n`.replaceAll(/[^\S\n\t]+/g, ' '))
      .join('')
      .replaceAll(`${files}\t`, files),
  );
  return exitCodes.done;
}
