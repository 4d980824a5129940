/**
 * Completions for bash, zsh and fish: small scripts that ask this program, which knows the table of commands and the
 * resources seen.
 */
import { resourceNamed } from '../resources/catalogue.ts';
import { scopeNames } from '../resources/place.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { type Candidate, files, type Line } from './candidates.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { type CommandInput, type CommandName, commands, groups, workbench } from './table/commands.ts';
import { serviceFlags } from './table/flags.ts';
import { type CommandSpec, type FlagSpec, longFlag } from './table/spec.ts';

const scripts = {
  // bash splits words at : = and @, and replaces only what follows the last of them; an @ is replaced too.
  bash: `_benchtop() {
  local value description word gap i last=-1 before= breaks= line=$COMP_LINE
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    gap=\${line%%"$word"*}
    [ -n "$word" ] || gap=$line
    line=\${line:\${#gap}+\${#word}}
    if [ -n "$gap" ] || ((last < 0)); then
      before= words[++last]=$word
    else
      before=\${words[last]} words[last]+=$word
    fi
  done
  case $word in [:=@]*) before=\${words[last]} ;; esac
  breaks=\${before//[^:=@]/}
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    if [ "$value" = '${files}' ]; then compopt -o default; COMPREPLY=(); return; fi
    case \${words[last]} in [\\"\\']*) ;; *) value=$(printf %q "$value") ;; esac
    for ((i = 0; i < \${#breaks}; i++)); do value=\${value#*[:=@]}; done
    case $before in *@) value=@$value ;; esac
    [ -z "$value" ] || COMPREPLY+=("$value")
  done < <(benchtop __complete "\${words[@]:1}" 2>/dev/null)
  case \${COMPREPLY[0]} in *=) compopt -o nospace ;; esac
}
complete -F _benchtop benchtop
`,
  zsh: `#compdef benchtop
_benchtop() {
  local value description
  local -a found begun
  while IFS=$'\\t' read -r value description; do
    if [[ "$value" == '${files}' ]]; then compset -P '*='; _files; return; fi
    if [[ "$value" == *= ]]; then begun+=("\${value//:/\\\\:}:$description"); continue; fi
    found+=("\${value//:/\\\\:}:$description")
  done < <(benchtop __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe benchtop found -- begun -S ''
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

/** The flags that may be added to those of the line. */
function flagCandidates({ spec, args }: Pick<Line, 'spec' | 'args'>, given: ReadonlySet<string>): Candidate[] {
  const others = (spec.exclusive ?? []).filter(group => group.some(key => given.has(key))).flat();
  const isFree = ([key, { hidden, many, needs }]: [string, FlagSpec]): boolean =>
    !hidden && (needs === undefined || given.has(needs)) && (many || !(given.has(key) || others.includes(key)));
  const isOf = ([key]: [string, FlagSpec]): boolean => spec !== commands.list || isOfList(key, args[0]);
  return Object.entries(spec.flags)
    .filter(each => isFree(each) && isOf(each))
    .map(([key, { description }]) => [longFlag(key), description]);
}

/** Of the flags that narrow only some lists, those that this list takes. */
function isOfList(key: string, name: string | undefined): boolean {
  const resource = name === undefined ? undefined : resourceNamed(name);
  if (!resource || !scopeNames.some(scope => scope === key)) return true;
  return resource.scopes?.some(scope => scope === key) || (key === 'status' && resource.statuses !== undefined);
}

/** A command line as far as it is typed. */
interface Typed {
  /** Name of the command, or the first word of one; empty without it. */
  readonly name: string;
  readonly spec: CommandSpec | undefined;
  readonly args: readonly string[];
  /** The flags with their last values, by key. */
  readonly flags: ReadonlyMap<string, string>;
  /** The flag whose value is typed now. */
  readonly open: FlagSpec | undefined;
}

/** Reads the words before the one that is completed. */
function typed(words: readonly string[]): Typed {
  const rest: string[] = [];
  const flags = new Map<string, string>();
  let open: { readonly key: string; readonly flag: FlagSpec } | undefined;
  for (const word of words) {
    if (open) {
      flags.set(open.key, word);
      open = undefined;
    } else if (word.startsWith('-')) {
      const found = flagIn(specOf(rest) ?? workbench, word);
      if (!found) continue;
      flags.set(found.key, '');
      open = found.flag.value === undefined ? undefined : found;
    } else rest.push(word);
  }
  const length = Object.hasOwn(groups, rest[0] ?? '') ? 2 : 1;
  return { name: rest[0] ?? '', spec: specOf(rest), args: rest.slice(length), flags, open: open?.flag };
}

function nameOf([first = '', second = '']: readonly string[]): string {
  return Object.hasOwn(groups, first) ? `${first} ${second}` : first;
}

function specOf(words: readonly string[]): CommandSpec | undefined {
  const name = nameOf(words);
  return Object.hasOwn(commands, name) ? commands[name as CommandName] : undefined;
}

function flagIn({ flags }: CommandSpec, word: string): { key: string; flag: FlagSpec } | undefined {
  const found = Object.entries(flags).find(([key, { short }]) => word === longFlag(key) || word === `-${short}`);
  return found && { key: found[0], flag: found[1] };
}

const shown = Object.entries<CommandSpec>(commands).filter(([, { hidden }]) => !hidden);

/** The first words of commands. */
function firstWords(): Candidate[] {
  const single = shown.filter(([each]) => !each.includes(' ')).map(([each, { summary }]) => [each, summary] as const);
  return [...single, ...Object.entries(groups)];
}

function secondWords(first: string): Candidate[] {
  const second = shown.filter(([each]) => each.startsWith(`${first} `));
  return second.map(([each, { summary }]) => [each.slice(first.length + 1), summary]);
}

/** `benchtop help` takes the words of a command. */
function helpTopics(words: readonly string[]): Candidate[] {
  const [first] = words;
  if (first === undefined) return firstWords();
  return words.length === 1 && Object.hasOwn(groups, first) ? secondWords(first) : [];
}

async function candidates(before: readonly string[], partial: string, io: CommandIo): Promise<Candidate[]> {
  if (before[0] === 'help') return helpTopics(before.slice(1));
  const { name, spec, args, flags, open } = typed(before);
  const service = Object.fromEntries(
    [...flags].filter(([key, value]) => value !== '' && Object.hasOwn(serviceFlags, key)),
  );
  const line = {
    name: nameOf(before.filter(word => !word.startsWith('-'))),
    spec: spec ?? workbench,
    args,
    service,
    partial,
  };
  const { valueCandidates } = await import('./candidates.ts');
  if (open) return valueCandidates(/PATH|FILE|FOLDER/.test(open.value ?? '') ? { of: 'file' } : open, line, io);
  if (partial.startsWith('-')) return flagCandidates(line, new Set(flags.keys()));
  if (name === '') return [...firstWords(), ['help', 'show help']];
  if (!spec) return secondWords(name);
  const { args: specs = [] } = spec;
  const last = specs.at(-1);
  const argument = specs[args.length] ?? (last?.many ? last : undefined);
  return argument ? valueCandidates(argument, line, io) : [];
}

/** A word as it was typed, without the quotes and backslashes of the shell. */
const unquoted = (word: string): string => word.replace(/^(["'])(.*?)\1?$/s, '$2').replaceAll(/\\(.)/gs, '$1');

/** `--flag=value` as two words. bash splits it by itself, into three. */
function splitFlags(words: readonly string[]): string[] {
  return words
    .filter(word => word !== '=')
    .flatMap(word => {
      const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
      return flag === undefined || value === undefined ? [word] : [flag, value];
    });
}

/**
 * Candidates for the last word, one per line: the word, a tab, and a description. None after an error:
 * the shell is no place for an error.
 */
export async function complete(given: readonly string[], io: CommandIo): Promise<number> {
  const last = given.at(-1) ?? '';
  const [, prefix = ''] = /^(--[\w-]+=)/.exec(last) ?? [];
  const before = splitFlags([...given.slice(0, -1).map(unquoted), ...(prefix === '' ? [] : [prefix.slice(0, -1)])]);
  const partial = last === '=' ? '' : unquoted(last.slice(prefix.length));
  const all = await candidates(before, partial, io).catch((): Candidate[] => []);
  // Names come over the wire: one that cannot be typed safely is not offered.
  const fitting = all.filter(
    ([value]) => value === files || (value.startsWith(partial) && value === sanitiseLine(value)),
  );
  await io.print(
    fitting
      .map(([value, description]) =>
        `${value === files ? '' : prefix}${value}\t${sanitiseLine(description)}\n`.replaceAll(/[^\S\n\t]+/g, ' '),
      )
      .join('')
      .replaceAll(`${files}\t`, files),
  );
  return exitCodes.done;
}
