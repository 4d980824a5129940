/** Random input: keys of the key map and others, typed text, pastes, the mouse, sizes, and bytes that are not keys. */

import { generalLayers } from '../../src/ui/keys/general.ts';
import { registry } from '../../src/ui/views/registry.ts';
import { bytesOf } from '../rig/keys.ts';
import type { Random } from './random.ts';
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

export interface InputOptions {
  /** Keys that are not pressed, by name. */
  readonly without: readonly string[];
  readonly mouse: boolean;
  /** Includes a paste without its end, which only the layer between program and terminal can end. */
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

export class Inputs {
  readonly #random: Random;
  readonly #options: InputOptions;
  readonly #keys: readonly string[];
  readonly #strange: readonly string[];

  constructor(random: Random, options: InputOptions) {
    this.#random = random;
    this.#options = options;
    this.#keys = everyKey.filter(key => !options.without.includes(key));
    this.#strange = strange.filter(bytes => options.unfinishedPastes || bytes !== unfinishedPaste);
  }

  #press(...keys: readonly string[]): Input {
    return { kind: 'bytes', bytes: keys.map(bytesOf).join(''), keys: keys.length };
  }

  #type(text: string): Input {
    return { kind: 'bytes', bytes: text, keys: text.length };
  }

  /** Goes to a section, into its first rows, and runs a command of the view. */
  #dive(): Input {
    const random = this.#random;
    const section = random.pick(sections);
    const down = 'j'.repeat(random.between(0, 4));
    const opens = random.chance(0.8) ? '\r' : '';
    return this.#type(`\u001b:${section.names[0]}\r${down}${opens}`);
  }

  #mouse(): Input {
    const random = this.#random;
    const code = random.pick([0, 0, 0, 1, 2, 32, 35, 64, 65, 66, 128]);
    return {
      kind: 'mouse',
      code,
      column: random.between(0, 160),
      row: random.between(0, 50),
      released: code < 3 && random.chance(0.3),
    };
  }

  /** A command that writes, by its key, the menu of actions or the palette, and answers to its questions. */
  #insist(): Input {
    const random = this.#random;
    const key = bytesOf(random.pick(writingKeys));
    const menu = `a${'j'.repeat(random.between(0, 6))}\r`;
    const palette = `\u001b:${random.pick(writes).title}\r`;
    return this.#type(`${random.pick([key, key, menu, palette])}${random.pick(['\r', 'y', '\ry', '\r\r', ''])}`);
  }

  next(): Input {
    const random = this.#random;
    const kind = random.weighted([
      [32, 'key'],
      [14, 'moves'],
      [10, 'enter'],
      [8, 'escape'],
      [9, 'dive'],
      [6, 'text'],
      [4, 'filter'],
      [3, 'go'],
      [2, 'paste'],
      [3, 'resize'],
      [this.#options.mouse ? 5 : 0, 'mouse'],
      [2, 'strange'],
      [this.#options.insists ? 40 : 0, 'insist'],
    ] as const);
    switch (kind) {
      case 'key':
        return this.#press(random.pick(this.#keys));
      case 'moves': {
        const key = random.pick(moves);
        return this.#press(...Array.from({ length: random.between(1, 20) }, () => key));
      }
      case 'enter':
        return this.#press('enter');
      case 'escape':
        return this.#press('esc');
      case 'dive':
        return this.#dive();
      case 'text':
        return this.#type(random.pick(words));
      case 'filter':
        return this.#type(`/${random.pick(words)}${random.pick(['\r', '', '\u001b'])}`);
      case 'go':
        return this.#type(
          `:${random.pick([...sections.flatMap(({ names: [name = ''] }) => name), ...words, ...names])}\r`,
        );
      case 'paste': {
        const text = random.chance(0.2) ? 'pasted '.repeat(3_000) : hostileText(random).slice(0, 5_000);
        return { kind: 'bytes', bytes: `\u001b[200~${text.replaceAll('\u001b[201~', '')}\u001b[201~`, keys: 1 };
      }
      case 'resize': {
        const [columns, rows] = random.pick<readonly [number, number]>(random.chance(0.8) ? sizes : oddSizes);
        return { kind: 'resize', columns, rows };
      }
      case 'mouse':
        return this.#mouse();
      case 'insist':
        return this.#insist();
      case 'strange':
        return { kind: 'bytes', bytes: random.pick(this.#strange), keys: 1 };
    }
  }
}

/** A mouse report as a terminal sends it (SGR encoding). */
export function mouseBytes({ code, column, row, released }: Extract<Input, { kind: 'mouse' }>): string {
  return `\u001b[<${code};${column + 1};${row + 1}${released ? 'm' : 'M'}`;
}
