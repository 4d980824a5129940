/**
 * Completions for bash, zsh and fish: small scripts that call this program, which knows the commands and the resources
 * it has seen.
 */

import { resourceNamed } from '../resources/catalogue.ts';
import { statusColumnOf } from '../resources/define.ts';
import { scopeNames } from '../resources/place.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { Candidate, Line } from './candidates.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { type CommandInput, commands, groups, workbench } from './table/commands.ts';
import { serviceFlags } from './table/flags.ts';
import { type FlagSpec, fileNames, longFlag } from './table/spec.ts';
import { argumentsIn, choicesOf, lineOf } from './tokens.ts';

const scripts = {
  // bash splits words at : = and @, and replaces only the part after the last of these; an @ is replaced too. Within
  // quotes, it replaces the part after the opening quote without escaping it, so the script escapes: names come over
  // the wire, and may contain a command. bash closes the quote, unless the word ends with the same character.
  bash: `_benchtop() {
  local value description word gap i c quote= head= escaped last=-1 before= breaks= line=$COMP_LINE
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
  for ((i = 0; i < \${#word}; i++)); do
    c=\${word:i:1}
    case $quote$c in
      [\\"\\']) quote=$c head=\${word:0:i+1} ;;
      \\"\\" | \\'\\') quote= head= ;;
      \\\\ | \\"\\\\) i=$((i + 1)) ;;
    esac
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    if [ "$value" = '${fileNames}' ]; then compopt -o default; continue; fi
    if [ -z "$quote" ]; then
      value=$(printf %q "$value")
    else
      escaped=
      for ((i = 0; i < \${#value}; i++)); do
        c=\${value:i:1}
        case $quote$c in
          \\'\\') c="'\\\\''" ;;
          \\"!) c="\\"'!'\\"" ;;
          \\"[\\\\\\"\\$\\\`]) c=\\\\$c ;;
        esac
        escaped+=$c
      done
      value=$escaped
      case $value in *"$quote") value+=$quote ;; esac
    fi
    for ((i = 0; i < \${#breaks}; i++)); do value=\${value#*[:=@]}; done
    case $before in *@) value=@$value ;; esac
    case $quote$value in "$head"*) value=\${quote}$value value=\${value#"$head"} ;; *) value= ;; esac
    [ -z "$value" ] || COMPREPLY+=("$value")
  done < <(benchtop __complete "\${words[@]:1}" 2>/dev/null)
  case \${COMPREPLY[0]} in *[=:]) compopt -o nospace ;; esac
}
complete -F _benchtop benchtop
`,
  zsh: `#compdef benchtop
_benchtop() {
  local value word description files=
  local -a found begun
  while IFS=$'\\t' read -r value description; do
    if [[ "$value" == '${fileNames}' ]]; then files=1; continue; fi
    word=\${\${value//\\\\/\\\\\\\\}//:/\\\\:}
    if [[ "$value" == *[=:] ]]; then begun+=("$word:$description"); continue; fi
    found+=("$word:$description")
  done < <(benchtop __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe benchtop found -- begun -S ''
  [[ -z $files ]] || { compset -P '--[a-z-]#='; _files }
}
if [ "\${funcstack[1]}" = _benchtop ]; then _benchtop "$@"; else compdef _benchtop benchtop; fi
`,
  fish: `function __benchtop_complete
  set -l words (commandline -opc)
  set -l word (commandline -ot)
  set -l flag (string match -r '^--[a-z-]+=' -- "$word")
  for line in (benchtop __complete (string escape -n -- $words[2..-1] "$word") 2>/dev/null)
    if test "$line" = '${fileNames}'
      for path in (__fish_complete_path (string replace -r '^--[a-z-]+=' '' -- "$word"))
        echo "$flag$path"
      end
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

/** The flags that can be added to the line. */
function flagCandidates({ spec, args }: Pick<Line, 'spec' | 'args'>, used: ReadonlySet<string>): Candidate[] {
  const others = (spec.exclusive ?? []).filter(group => group.some(key => used.has(key))).flat();
  const isFree = ([key, { hidden, many, needs }]: [string, FlagSpec]): boolean =>
    !hidden && (needs === undefined || used.has(needs)) && (many || !(used.has(key) || others.includes(key)));
  const isOf = ([key]: [string, FlagSpec]): boolean => spec !== commands.list || isOfList(key, args[0]);
  return Object.entries(spec.flags)
    .filter(each => isFree(each) && isOf(each))
    .map(([key, { description }]) => [longFlag(key), description]);
}

/** Whether this list takes the flag: some flags apply only to some lists. */
function isOfList(key: string, name: string | undefined): boolean {
  const resource = name === undefined ? undefined : resourceNamed(name);
  if (!resource || !scopeNames.some(scope => scope === key)) return true;
  return resource.scopes?.some(scope => scope === key) || (key === 'status' && statusColumnOf(resource) !== undefined);
}

/** Candidates after `benchtop help`: the command words. */
function helpTopics([first, ...others]: readonly string[]): Candidate[] {
  if (first === undefined) return choicesOf();
  return others.length === 0 && Object.hasOwn(groups, first) ? choicesOf(first) : [];
}

async function candidates(words: readonly string[], partial: string, io: CommandIo): Promise<Candidate[]> {
  if (words[0] === 'help') return helpTopics(words.slice(1));
  const { before, name, spec, after } = lineOf(words);
  const tokens = [...before, ...after];
  const flags = new Map(tokens.flatMap(token => (token.kind === 'flag' ? [[token.key, token.value] as const] : [])));
  const last = tokens.at(-1);
  const open = last?.kind === 'flag' && last.value === undefined ? last.spec : undefined;
  const args = argumentsIn(after);
  const service = Object.fromEntries(
    [...flags].flatMap(([key, value]) => (value && Object.hasOwn(serviceFlags, key) ? [[key, value]] : [])),
  );
  const line = { name: name ?? '', spec: spec ?? workbench, args, service, partial, io };
  const { valueCandidates } = await import('./candidates.ts');
  const areFlagsOver = lineOf([...words, '--help']).after.at(-1)?.kind === 'argument';
  const valuesOf = async (spec: Parameters<typeof valueCandidates>[0], shown: string): Promise<Candidate[]> => {
    const values = await valueCandidates(spec, line).catch((): Candidate[] => []);
    return /FILE|FOLDER|^PATH$/.test(shown) ? [...values, [fileNames, '']] : values;
  };
  if (open?.value !== undefined) return valuesOf(open, open.value);
  if (partial.startsWith('-') && !areFlagsOver) return flagCandidates(line, new Set(flags.keys()));
  if (name === undefined) return [...choicesOf(), ['help', 'show help']];
  if (!spec) return Object.hasOwn(groups, name) ? choicesOf(name) : [];
  const { args: specs = [] } = spec;
  const argument = specs[args.length] ?? specs.findLast(({ many }) => many);
  if (!argument) return [];
  // A word such as `-rf` would be read as a flag.
  const isArgument = ([word]: Candidate): boolean => argumentsIn(lineOf([...words, word]).after)[args.length] === word;
  return (await valuesOf(argument, argument.name)).filter(isArgument);
}

/** A typed word without the shell's quotes and backslashes; its last quote may still be open. */
const unquoted = (word: string): string =>
  word.replaceAll(
    /'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)/gs,
    (_, single?: string, double?: string, other?: string) =>
      single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? other ?? '',
  );

/** Splits `--flag=value` into two words. bash has already split it, into three. */
function splitFlags(words: readonly string[]): string[] {
  return words
    .filter(word => word !== '=')
    .flatMap(word => {
      const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
      return flag === undefined || value === undefined ? [word] : [flag, value];
    });
}

/**
 * Prints candidates for the last word, one per line: the word, a tab, and a description. Prints nothing after an error,
 * because a message would disturb the command line.
 */
export async function complete(words: readonly string[], io: CommandIo): Promise<number> {
  const last = words.at(-1) ?? '';
  const [, prefix = ''] = /^(--[\w-]+=)/.exec(last) ?? [];
  const before = splitFlags([...words.slice(0, -1).map(unquoted), ...(prefix === '' ? [] : [prefix.slice(0, -1)])]);
  const partial = last === '=' ? '' : unquoted(last.slice(prefix.length));
  const all = await candidates(before, partial, io).catch((): Candidate[] => []);
  // Names come over the wire: do not offer any that cannot be typed safely.
  const fitting = all.filter(
    ([value]) => value === fileNames || (value.startsWith(partial) && value === sanitiseLine(value)),
  );
  await io.print(
    fitting
      .map(([value, description]) =>
        `${value === fileNames ? '' : prefix}${value}\t${sanitiseLine(description)}\n`.replaceAll(/[^\S\n\t]+/g, ' '),
      )
      .join('')
      .replaceAll(`${fileNames}\t`, fileNames),
  );
  return exitCodes.done;
}
