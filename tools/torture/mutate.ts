/**
 * Mutates an answer of the service at random from a seed. Pure. The result is still JSON, unless broken text is what is
 * being tested.
 */
import type { Random } from './random.ts';
import { hostileText, names, statuses, times } from './texts.ts';

export interface Mutated {
  readonly text: string;
  /** The mutations in order, e.g. `items.3.status: unknown status`. */
  readonly done: readonly string[];
}

type Container = Record<string, unknown> | unknown[];

/** A place in the answer: its container and the key in it. */
interface Place {
  readonly container: Container;
  readonly key: string;
  readonly path: string;
}

/** JSON that no JavaScript value serialises to; it replaces a mark in the text. */
class Raw {
  readonly #texts: string[] = [];

  /** A value that becomes `text` once the answer is serialised. */
  add(text: string): string {
    this.#texts.push(text);
    return `\u0000raw ${this.#texts.length - 1}\u0000`;
  }

  write(value: unknown): string {
    const text = JSON.stringify(value) ?? 'null';
    return text.replaceAll(/"\\u0000raw (\d+)\\u0000"/g, (_, index: string) => this.#texts[Number(index)] ?? 'null');
  }
}

interface Step {
  readonly random: Random;
  readonly raw: Raw;
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;
const isRecord = (value: unknown): value is Record<string, unknown> => isContainer(value) && !Array.isArray(value);

/** Only this many places are considered: a trajectory of megabytes repeats the same structure. */
const mostPlaces = 1_000;

function placesOf(root: unknown): Place[] {
  const places: Place[] = [];
  const queue: { value: unknown; path: string }[] = [{ value: root, path: '' }];
  for (let next = queue.shift(); next && places.length < mostPlaces; next = queue.shift()) {
    if (!isContainer(next.value)) continue;
    for (const key of Object.keys(next.value)) {
      const path = next.path === '' ? key : `${next.path}.${key}`;
      places.push({ container: next.value, key, path });
      queue.push({ value: Reflect.get(next.value, key), path });
    }
  }
  return places;
}

const valueAt = ({ container, key }: Place): unknown => Reflect.get(container, key);

/** Own fields only: a field called `__proto__` must not become a prototype here either. */
function put(container: Container, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

function otherType(value: unknown, { random }: Step): unknown {
  const others = [null, true, false, 0, 17, -1, 'text', '', [], {}, [null], [[]], { value: 1 }, ['a', 1, null]];
  return random.pick(
    others.filter(other => typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value)),
  );
}

function oddNumber({ random, raw }: Step): unknown {
  const written = ['1e999', '-1e999', '1e308', '-1e308', '5e-324', '-0', '9007199254740993', '0.1e1', '1E2'];
  const values = [0, -1, -0.5, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e21, 1e-9, '12', '1,5'];
  return random.chance(0.5) ? raw.add(random.pick(written)) : random.pick(values);
}

function deep({ random, raw }: Step): string {
  const levels = random.pick([60, 900, 4_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  return raw.add(`${open.repeat(levels)}1${close.repeat(levels)}`);
}

/** Mutates one place. Returns a description, or undefined if the mutation does not apply. */
const atPlace: Readonly<Record<string, (place: Place, step: Step) => boolean>> = {
  drop: ({ container, key }) => {
    if (Array.isArray(container)) container.splice(Number(key), 1);
    else delete container[key];
    return true;
  },
  null: ({ container, key }) => {
    put(container, key, null);
    return true;
  },
  'other type': (place, step) => {
    put(place.container, place.key, otherType(valueAt(place), step));
    return true;
  },
  'hostile text': (place, { random }) => {
    if (typeof valueAt(place) !== 'string') return false;
    put(place.container, place.key, hostileText(random));
    return true;
  },
  'huge text': (place, { random }) => {
    if (typeof valueAt(place) !== 'string') return false;
    put(place.container, place.key, random.pick(['word ', 'w', '日', '\n']).repeat(random.pick([2_000, 60_000])));
    return true;
  },
  'odd number': (place, step) => {
    if (typeof valueAt(place) !== 'number') return false;
    put(place.container, place.key, oddNumber(step));
    return true;
  },
  'odd time': (place, { random }) => {
    if (!/(_at|time|expires)/.test(place.key)) return false;
    put(place.container, place.key, random.pick<unknown>([...times, 1_700_000_000, -1]));
    return true;
  },
  'unknown status': (place, { random }) => {
    if (!/(status|state|role|kind|type|reason)$/.test(place.key)) return false;
    put(place.container, place.key, random.pick(statuses));
    return true;
  },
  'deep nesting': (place, step) => {
    put(place.container, place.key, deep(step));
    return true;
  },
  'name of a prototype': ({ container }, { random }) => {
    if (Array.isArray(container)) return false;
    put(container, random.pick(names.slice(0, 8)), random.pick<unknown>(['text', 1, null, {}, [], { polluted: true }]));
    return true;
  },
};

/** Mutations of a list of rows. */
const atRows: Readonly<Record<string, (rows: unknown[], step: Step) => boolean>> = {
  empty: rows => {
    rows.length = 0;
    return true;
  },
  'ten times': rows => {
    if (rows.length > 300) return false;
    const copies = rows.flatMap(row => Array.from({ length: 10 }, () => structuredClone(row)));
    for (const [index, row] of copies.entries()) {
      const id = isRecord(row) ? Object.keys(row).find(key => key.endsWith('_id')) : undefined;
      if (isRecord(row) && id !== undefined) put(row, id, `${String(row[id])}${index}`);
    }
    rows.splice(0, rows.length, ...copies);
    return true;
  },
  'same ids': rows => {
    rows.push(...structuredClone(rows.slice(0, 50)));
    return true;
  },
  'no ids': (rows, { random }) => {
    for (const row of rows) {
      if (!isRecord(row) || random.chance(0.5)) continue;
      for (const key of Object.keys(row)) if (key.endsWith('_id')) delete row[key];
    }
    return true;
  },
  'id of a prototype': (rows, { random }) => {
    const row = rows.length > 0 ? random.pick(rows) : undefined;
    const id = isRecord(row) ? Object.keys(row).find(key => key.endsWith('_id')) : undefined;
    if (!isRecord(row) || id === undefined) return false;
    put(row, id, random.pick(names));
    return true;
  },
  'other order': (rows, { random }) => {
    for (let index = rows.length - 1; index > 0; index -= 1) {
      const other = random.between(0, index);
      [rows[index], rows[other]] = [rows[other], rows[index]];
    }
    return true;
  },
  'strange rows': (rows, { random }) => {
    rows.splice(random.between(0, rows.length), 0, null, 1, 'row', [], {});
    return true;
  },
};

/** Mutations of the whole answer. Returns the new one. */
const atWhole: Readonly<Record<string, (root: unknown, step: Step) => unknown>> = {
  'bare list or envelope': root => {
    if (Array.isArray(root)) return { items: root, has_more: false, next_cursor: null };
    return isRecord(root) && Array.isArray(root['items']) ? root['items'] : [root];
  },
  'cursor without end': root => {
    if (isRecord(root) && Array.isArray(root['items'])) return { ...root, has_more: true, next_cursor: 'again' };
    return root;
  },
  'cursor of odd type': (root, { random }) => {
    if (!isRecord(root) || !Array.isArray(root['items'])) return root;
    return {
      ...root,
      has_more: random.pick<unknown>(['yes', 1, null]),
      next_cursor: random.pick<unknown>([1, '', {}, true]),
    };
  },
  'something else': (_root, { random }) => random.pick<unknown>([null, '', 0, true, [], {}, 'ok', [[]], { data: {} }]),
  wrapped: (root, { random }) => ({ [random.pick(['data', 'result', 'items', '0'])]: root }),
};

/** Mutations of values and rows that keep the answer readable and make its numbers wrong. */
const gentle = {
  place: ['drop', 'null', 'other type', 'odd number', 'unknown status', 'name of a prototype'],
  rows: ['empty', 'ten times', 'same ids', 'no ids', 'id of a prototype', 'other order', 'strange rows'],
} as const;

export interface MutateOptions {
  /** Keeps the structure of the answer, and its texts short. */
  readonly gentle?: boolean;
}

function chosen<Change>(changes: Readonly<Record<string, Change>>, names: readonly string[] | undefined) {
  return Object.entries(changes).filter(([name]) => names?.includes(name) ?? true);
}

function mutateOnce(
  root: unknown,
  step: Step,
  options: MutateOptions,
): { readonly root: unknown; readonly done: string } | undefined {
  const { random } = step;
  const places = placesOf(root);
  const lists = places.filter(place => Array.isArray(valueAt(place)));
  const kind = random.weighted([
    [places.length > 0 ? 8 : 0, 'place'],
    [lists.length > 0 || Array.isArray(root) ? 3 : 0, 'rows'],
    [options.gentle ? 0 : 1, 'whole'],
  ] as const);
  if (kind === 'place') {
    const [name, change] = random.pick(chosen(atPlace, options.gentle ? gentle.place : undefined));
    // Several attempts: most mutations do not apply to most places.
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const place = random.pick(places);
      if (change(place, step)) return { root, done: `${place.path}: ${name}` };
    }
    return undefined;
  }
  if (kind === 'rows') {
    const [name, change] = random.pick(chosen(atRows, options.gentle ? gentle.rows : undefined));
    const place = lists.length > 0 ? random.pick(lists) : undefined;
    const rows = place ? valueAt(place) : root;
    if (!Array.isArray(rows) || !change(rows, step)) return undefined;
    return { root, done: `${place?.path ?? 'rows'}: ${name}` };
  }
  const [name, change] = random.pick(Object.entries(atWhole));
  return { root: change(root, step), done: `whole: ${name}` };
}

/** Breaks the text itself. */
function breakText(text: string, random: Random): Mutated {
  const cut = random.between(0, Math.max(0, text.length - 1));
  return random.pick<Mutated>([
    { text: text.slice(0, cut), done: ['text: cut'] },
    { text: `${text}${text}`, done: ['text: twice'] },
    { text: `${text},`, done: ['text: comma behind it'] },
    { text: `\uFEFF${text}`, done: ['text: byte order mark'] },
    { text: text.replaceAll('"', "'"), done: ['text: single quotes'] },
    { text: text.replace(/:\s*[\d.]+/, ': nul'), done: ['text: no value'] },
    { text: `)]}',\n${text}`, done: ['text: prefix against inclusion'] },
  ]);
}

const breakShare = 0.04;

/** Mutates a JSON text in one to four ways. Text that is not JSON is returned unchanged. */
export function mutateJson(text: string, random: Random, options: MutateOptions = {}): Mutated {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return { text, done: [] };
  }
  if (!options.gentle && random.chance(breakShare)) return breakText(text, random);
  const step: Step = { random, raw: new Raw() };
  const done: string[] = [];
  const times = random.weighted([
    [6, 1],
    [3, 2],
    [1, 4],
  ]);
  for (let turn = 0; turn < times * 4 && done.length < times; turn += 1) {
    const next = mutateOnce(root, step, options);
    if (!next) continue;
    root = next.root;
    done.push(next.done);
  }
  return { text: step.raw.write(root), done };
}
