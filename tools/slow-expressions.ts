/**
 * Tests whether a regular expression may take quadratic time or more: from each `x` of a run, `/x+$/` reads the rest
 * of the run again. Builds an automaton and looks for a loop that may still fail, and a word that leads both through
 * this loop and into it from an earlier loop or a new start of the search (infinite ambiguity; Weber and Seidl 1991),
 * and for nested loops.
 */

/** Characters that represent all others. */
const samples = [
  ...Array(0x180).keys(),
  0x301,
  0x600,
  0x200b,
  0x200d,
  0x2028,
  0x4e00,
  0xd800,
  0xfe0f,
  0x1f600,
  0xe0041,
];

type Characters = ReadonlySet<number>;
/**
 * `free` always succeeds, as does `back`, to another iteration of a loop; `checked` may fail; `behind` requires one
 * of these as the previous character.
 */
type Edge = {
  readonly to: State;
  readonly kind: 'free' | 'back' | 'checked' | 'start' | { readonly behind: Characters };
};
const isFree = (kind: Edge['kind']): boolean => kind === 'free' || kind === 'back';
interface State {
  readonly edges: Edge[];
  /** Reads one of these characters. */
  reads?: { readonly characters: Characters; readonly to: State };
}
const state = (): State => ({ edges: [] });

interface Automaton {
  readonly start: State;
  /** The end of the expression, and those of its lookaheads. */
  readonly ends: ReadonlySet<State>;
  readonly sets: readonly Characters[];
  /** The states after a character, each with the characters that lead there. */
  readonly read: ReadonlyMap<State, Characters>;
}

function automatonOf(source: string, flags: string): Automaton {
  const tokens =
    source.match(
      /\\(?:[pPu]\{[^}]*\}|k<[^>]*>|u.{4}|x..|c.|.)|\[(?:\\.|\[(?:\\.|[^\]\\])*\]|[^\]\\])*\]|\(\?(?:[:=!]|<[=!]|<\w+>|[a-z-]+:)|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu,
    ) ?? [];
  const ends = new Set<State>();
  const sets: Characters[] = [];
  const read = new Map<State, Characters>();
  let at = 0;
  const setOf = (text: string): Characters => {
    const one = new RegExp(`^(?:${text})$`, flags.replace(/[gym]/g, ''));
    const characters = new Set(samples.filter(each => one.test(String.fromCodePoint(each))));
    sets.push(characters);
    return characters;
  };
  const free = (from: State, to: State): number => from.edges.push({ to, kind: 'free' });

  function alternatives(start: State, end: State): void {
    for (;;) {
      free(sequence(start), end);
      if (tokens[at] !== '|') return;
      at += 1;
    }
  }
  function sequence(from: State): State {
    let here = state();
    free(from, here);
    while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') {
      const [first, last] = [state(), state()];
      free(here, first);
      atom(first, last);
      here = repeated(first, last);
    }
    return here;
  }
  function repeated(first: State, last: State): State {
    const quantifier = tokens[at] ?? '';
    if (!/^(?:[*+?]|\{\d)/.test(quantifier)) return last;
    at += 1;
    if (/^(?:[*+]|\{\d+,\})/.test(quantifier)) last.edges.push({ to: first, kind: 'back' });
    const after = state();
    free(last, after);
    if (/^(?:[*?]|\{0)/.test(quantifier)) free(first, after);
    return after;
  }
  function atom(first: State, last: State): void {
    const token = tokens[at] ?? '';
    at += 1;
    if (token === '^' && !flags.includes('m')) first.edges.push({ to: last, kind: 'start' });
    else if (/^(?:[$^]|\\[bB])$/.test(token)) first.edges.push({ to: last, kind: 'checked' });
    else if (token.startsWith('(?<=') || token.startsWith('(?<!')) behind(token === '(?<!', first, last);
    else if (token === '(?=' || token === '(?!') {
      first.edges.push({ to: last, kind: 'checked' });
      const end = state();
      ends.add(end);
      alternatives(first, end);
      at += 1;
    } else if (token.startsWith('(')) {
      alternatives(first, last);
      at += 1;
    } else if (/^\\(?:[1-9]|k<)/.test(token)) free(first, last);
    else {
      first.reads = { characters: setOf(token), to: last };
      read.set(last, first.reads.characters);
    }
  }
  /** A lookbehind of one character. Longer ones are only known to be fallible. */
  function behind(isNegative: boolean, first: State, last: State): void {
    const begin = at;
    alternatives(state(), state());
    const text = tokens.slice(begin, at).join('');
    at += 1;
    const isShort = at - begin === 2;
    const characters = isShort ? setOf(text) : new Set<number>();
    const allowed = isNegative ? new Set(samples.filter(each => !characters.has(each))) : characters;
    first.edges.push({ to: last, kind: isShort ? { behind: allowed } : 'checked' });
  }

  const [start, end] = [state(), state()];
  alternatives(start, end);
  ends.add(end);
  return { start, ends, sets, read };
}

/** The states reached without reading. `before` is the character read last. */
function reached(from: State, before: number): Set<State> {
  const seen = new Set([from]);
  for (const each of seen) {
    for (const { to, kind } of each.edges) {
      if (typeof kind === 'object' ? kind.behind.has(before) : kind !== 'start') seen.add(to);
    }
  }
  return seen;
}

/** Whether the expression succeeds here with any rest of the text. */
function isMatch(from: State, ends: ReadonlySet<State>): boolean {
  const seen = new Set([from]);
  for (const each of seen) for (const { to, kind } of each.edges) if (isFree(kind)) seen.add(to);
  return [...seen].some(each => ends.has(each));
}

/** One character of each class that these sets do not distinguish. */
function distinct(sets: readonly Characters[]): number[] {
  const first = new Map(samples.map(each => [sets.map(set => Number(set.has(each))).join(''), each]));
  return [...first.values()];
}

/** Whether the expression may take quadratic time or more. */
export function isSlow(source: string, flags: string): boolean {
  const { start, ends, sets, read } = automatonOf(source, flags);
  const characters = distinct(sets);
  /** The state before a match: the search may start again after each character. */
  const searching = state();
  const after = (from: State, before: number, character: number): State[] => [
    ...(from === searching ? [searching] : []),
    ...[...reached(from === searching ? start : from, before)].flatMap(({ reads }) =>
      reads?.characters.has(character) ? reads.to : [],
    ),
  ];
  /** The states after a character, by the places of both characters in `characters`. Each is asked for many times. */
  const known = new Map<State, State[][]>();
  const next = (from: State, before: number, character: number): State[] => {
    const ofState = known.get(from) ?? [];
    known.set(from, ofState);
    ofState[before * characters.length + character] ??= after(
      from,
      characters[before] ?? 0,
      characters[character] ?? 0,
    );
    return ofState[before * characters.length + character] ?? [];
  };
  const numbers = new Map([searching, ...read.keys()].map((each, number) => [each, number]));
  const open = new Set([...read.keys()].filter(each => !isMatch(each, ends)));
  /** Whether a word leads from `one` to itself and to `loop`, and from `loop` to itself. */
  const leads = (one: State, loop: State): boolean => {
    const places = [...characters.keys()]
      .filter(before => read.get(loop)?.has(characters[before] ?? 0))
      .map(before => ({ states: [one, one, loop] as const, before }));
    const seen = new Set<number>();
    for (const { states, before } of places) {
      for (const character of characters.keys()) {
        const [a, b, c] = states.map(each => next(each, before, character));
        for (const first of a ?? []) {
          for (const second of b ?? []) {
            for (const third of c ?? []) {
              if (first === one && second === loop && third === loop) return true;
              if (!open.has(third)) continue;
              const key = [first, second, third].reduce(
                (sum, each) => sum * numbers.size + (numbers.get(each) ?? 0),
                character,
              );
              if (seen.has(key)) continue;
              seen.add(key);
              places.push({ states: [first, second, third], before: character });
            }
          }
        }
      }
    }
    return false;
  };
  /** Whether a loop is nested in another. */
  const isNested = (loop: State): boolean => {
    const backs = [...reached(loop, 0)].flatMap(({ edges }) => edges.filter(({ kind }) => kind === 'back'));
    return backs.filter(({ to }) => [...reached(to, 0)].some(({ reads }) => reads?.to === loop)).length > 1;
  };
  const begins = flags.includes('y') ? [] : [searching];
  return [...open].some(
    loop => isNested(loop) || [...begins, ...read.keys()].some(one => one !== loop && leads(one, loop)),
  );
}
