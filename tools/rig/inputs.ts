/** Random input: keys of the key map and others, typed text, pastes, the mouse, sizes, and bytes that are not keys. */

import fc from 'fast-check';
import { generalLayers } from '../../src/ui/keys/general.ts';
import { registry } from '../../src/ui/views/registry.ts';
import { bytesOf } from './keys.ts';
import { hostileText, names } from './texts.ts';

export type Input =
  /** Bytes as a terminal sends them; `keys` is the number of presses. */
  | { readonly kind: 'bytes'; readonly bytes: string; readonly keys: number }
  | {
      readonly kind: 'mouse';
      readonly code: number;
      readonly column: number;
      readonly row: number;
      readonly released: boolean;
    }
  | { readonly kind: 'resize'; readonly columns: number; readonly rows: number };

interface InputOptions {
  /** Keys that are not pressed, by name. */
  readonly without: readonly string[];
  readonly mouse: boolean;
  /** Includes pastes without an end, which only the layer between program and terminal can end. */
  readonly unfinishedPastes: boolean;
  /** Favours commands that write: their keys, the menu of actions, and confirming questions. */
  readonly insists?: boolean;
}

const unfinishedPaste = '\u001b[200~';

const sizes = [
  [200, 60],
  [140, 40],
  [120, 40],
  [119, 39],
  [100, 30],
  [80, 24],
  [79, 24],
  [60, 15],
] as const;
const oddSizes = [
  [59, 15],
  [60, 14],
  [20, 5],
  [1, 1],
  [300, 80],
  [500, 20],
] as const;

/** Function keys, focus reports, unrequested answers, partial sequences. */
const strange = [
  '\u001bOP',
  '\u001b[15~',
  '\u001b[24;5~',
  '\u001b[I',
  '\u001b[O',
  '\u001b[0n',
  '\u001b[24;80R',
  '\u001b[?62;22c',
  '\u001b]11;rgb:0000/0000/0000\u0007',
  '\u001bP>|XTerm(390)\u001b\\',
  '\u001b[1;5A',
  '\u001b[1;3D',
  '\u001b[1;3C',
  '\u001b[3~',
  unfinishedPaste,
  '\u001b[201~',
  '\u001b[M !!',
  '\u001b[<0;1',
  '\u001b[97;5u',
  '\u0000',
  '\u001b\u001b',
  '\u001b[',
  'é',
  '日本',
  '👩🏽‍💻',
];

const commandsOfViews = registry.views.flatMap(view => view.commands);
const writes = commandsOfViews.filter(command => command.writes === true);
const writingKeys = [...new Set(writes.flatMap(({ keys }) => keys))];
const everyKey = [
  ...new Set([...generalLayers.flatMap(table => Object.values(table)), ...commandsOfViews].flatMap(({ keys }) => keys)),
];
const moves = ['up', 'down', 'j', 'k', 'pageup', 'pagedown', 'ctrl-d', 'ctrl-u', 'g', 'G', 'home', 'end'];
const { sections } = registry;
const words = [
  't-words',
  'base',
  'evr_',
  'a',
  '/re/',
  '/[/',
  '~tw',
  '!x',
  'benchtop/tutor-base',
  '12',
  '-1',
  'hostile',
  'zz',
];

const press = (...keys: readonly string[]): Input => ({
  kind: 'bytes',
  bytes: keys.map(bytesOf).join(''),
  keys: keys.length,
});
const type = (text: string): Input => ({ kind: 'bytes', bytes: text, keys: text.length });
const oneOf = <Item>(items: readonly Item[]): fc.Arbitrary<Item> => fc.constantFrom(...items);

/** Goes to a section and to its first rows, and mostly opens one. */
const dive = fc.tuple(oneOf(sections), fc.nat(4), oneOf(['\r', '\r', '\r', '\r', ''])).map(
  ([
    {
      names: [name],
    },
    down,
    opens,
  ]) => type(`\u001b:${name}\r${'j'.repeat(down)}${opens}`),
);

/** A command that writes, by its key, the menu of actions or the palette, and answers to its questions. */
const insist = fc
  .tuple(
    fc.oneof(
      { weight: 2, arbitrary: oneOf(writingKeys).map(bytesOf) },
      { weight: 1, arbitrary: fc.nat(6).map(down => `a${'j'.repeat(down)}\r`) },
      { weight: 1, arbitrary: oneOf(writes).map(({ title }) => `\u001b:${title}\r`) },
    ),
    oneOf(['\r', 'y', '\ry', '\r\r', '']),
  )
  .map(texts => type(texts.join('')));

const paste = fc
  .oneof({ weight: 4, arbitrary: hostileText }, { weight: 1, arbitrary: fc.constant('pasted '.repeat(3_000)) })
  .map(text => `\u001b[200~${text.slice(0, 21_000).replaceAll('\u001b[201~', '')}\u001b[201~`)
  .map((bytes): Input => ({ kind: 'bytes', bytes, keys: 1 }));

const click: fc.Arbitrary<Input> = fc.record({
  kind: fc.constant('mouse' as const),
  code: oneOf([0, 0, 0, 1, 2, 32, 35, 64, 65, 66, 128]),
  column: fc.nat(160),
  row: fc.nat(50),
  released: fc.boolean(),
});

const resize = fc
  .oneof({ weight: 4, arbitrary: oneOf(sizes) }, { weight: 1, arbitrary: oneOf(oddSizes) })
  .map(([columns, rows]): Input => ({ kind: 'resize', columns, rows }));

/** An input of any kind. */
export function inputsOf({ without, mouse, unfinishedPastes, insists = false }: InputOptions): fc.Arbitrary<Input> {
  const goals = [...sections.flatMap(({ names: [name = ''] }) => name), ...words, ...names];
  const odd = strange.filter(bytes => unfinishedPastes || bytes !== unfinishedPaste);
  const kinds: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Input>])[] = [
    [32, oneOf(everyKey.filter(key => !without.includes(key))).map(key => press(key))],
    [
      14,
      fc.tuple(oneOf(moves), fc.integer({ min: 1, max: 20 })).map(([key, times]) => press(...Array(times).fill(key))),
    ],
    [10, fc.constant(press('enter'))],
    [8, fc.constant(press('esc'))],
    [9, dive],
    [6, oneOf(words).map(type)],
    [4, fc.tuple(oneOf(words), oneOf(['\r', '', '\u001b'])).map(([word, end]) => type(`/${word}${end}`))],
    [3, oneOf(goals).map(goal => type(`:${goal}\r`))],
    [2, paste],
    [3, resize],
    [mouse ? 5 : 0, click],
    [2, oneOf(odd).map(bytes => ({ kind: 'bytes', bytes, keys: 1 }))],
    [insists ? 40 : 0, insist],
  ];
  return fc.oneof(...kinds.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

/** A mouse report as a terminal sends it (SGR encoding). */
export function mouseBytes({ code, column, row, released }: Extract<Input, { kind: 'mouse' }>): string {
  return `\u001b[<${code};${column + 1};${row + 1}${released ? 'm' : 'M'}`;
}
