/** Wrong answers: changes of a JSON text as data, so that a plan can hold them, and fast-check can shrink them. */
import fc from 'fast-check';
import { hostileText, names, statuses, times } from './texts.ts';

/** The matching place in an answer, as a share of their number, or a path such as `items.0.status`. */
type At = number | string;

export type Change =
  /** Replacement values as JSON text, because JavaScript has no value for `1e999`. */
  | { readonly do: 'set'; readonly where: keyof typeof fits; readonly at: At; readonly json: string }
  | { readonly do: 'add'; readonly name: string; readonly at: At; readonly json: string }
  | { readonly do: 'drop'; readonly at: At }
  | { readonly do: keyof typeof ofRows; readonly at: At }
  | { readonly do: keyof typeof ofWhole; readonly at: At }
  | { readonly do: keyof typeof ofText; readonly at: At };

type Container = Record<string, unknown> | unknown[];

/** A place in the answer: its container and the key in it. */
interface Place {
  readonly container: Container;
  readonly key: string;
  readonly path: string;
}

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;
const isRecord = (value: unknown): value is Record<string, unknown> => isContainer(value) && !Array.isArray(value);
const valueAt = ({ container, key }: Place): unknown => Reflect.get(container, key);

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

const oneAt = <Item>(items: readonly Item[], share: At): Item | undefined =>
  items[Math.floor((typeof share === 'number' ? share : 0) * items.length)];

function placeAt(places: readonly Place[], at: At): Place | undefined {
  return typeof at === 'string' ? places.find(({ path }) => path === at) : oneAt(places, at);
}

/** Own fields only: a field called `__proto__` must not become a prototype here either. */
function put(container: Container, key: string, value: unknown): void {
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Where a value of a kind can be changed. */
const fits = {
  any: () => true,
  number: place => typeof valueAt(place) === 'number',
  text: place => typeof valueAt(place) === 'string',
  time: ({ key }) => /(_at|time|expires)/.test(key),
  status: ({ key }) => /(status|state|role|kind|type|reason)$/.test(key),
} as const satisfies Record<string, (place: Place) => boolean>;

const idOf = (row: unknown): string | undefined =>
  isRecord(row) ? Object.keys(row).find(key => key.endsWith('_id')) : undefined;

/** Changes of a list of rows; the share selects a row. */
const ofRows = {
  empty: rows => {
    rows.length = 0;
  },
  'ten times': rows => {
    if (rows.length > 300) return;
    const copies = rows.flatMap(row => Array.from({ length: 10 }, () => structuredClone(row)));
    for (const [index, row] of copies.entries()) {
      const id = idOf(row);
      if (isRecord(row) && id !== undefined) put(row, id, `${String(row[id])}${index}`);
    }
    rows.splice(0, rows.length, ...copies);
  },
  'same ids': rows => void rows.push(...structuredClone(rows.slice(0, 50))),
  'no ids': rows => {
    for (const [index, row] of rows.entries()) {
      const id = idOf(row);
      if (isRecord(row) && id !== undefined && index % 2 === 0) delete row[id];
    }
  },
  'id of a prototype': (rows, at) => {
    const row = oneAt(rows, at);
    const id = idOf(row);
    if (isRecord(row) && id !== undefined) put(row, id, names[rows.length % names.length]);
  },
  'other order': rows => void rows.reverse(),
  'strange rows': (rows, at) => void rows.splice(Math.floor(Number(at) * rows.length), 0, null, 1, 'row', [], {}),
} as const satisfies Record<string, (rows: unknown[], at: At) => void>;

const hasItems = (root: unknown): root is { items: unknown[] } => isRecord(root) && Array.isArray(root['items']);

/** Changes of the whole answer. Returns the new one. */
const ofWhole = {
  'bare list or envelope': root =>
    Array.isArray(root) ? { items: root, has_more: false, next_cursor: null } : hasItems(root) ? root.items : [root],
  'cursor without end': root => (hasItems(root) ? { ...root, has_more: true, next_cursor: 'again' } : root),
  'cursor of odd type': (root, at) =>
    hasItems(root)
      ? { ...root, has_more: oneAt(['yes', 1, null], at), next_cursor: oneAt([1, '', {}, true], at) }
      : root,
  'something else': (_root, at) => oneAt([null, '', 0, true, [], {}, 'ok', [[]], { data: {} }], at),
  wrapped: (root, at) => ({ [oneAt(['data', 'result', 'items', '0'], at) ?? '0']: root }),
} as const satisfies Record<string, (root: unknown, at: At) => unknown>;

/** Changes of the text that make it invalid JSON. */
const ofText = {
  cut: (text, at) => text.slice(0, Math.floor(Number(at) * text.length)),
  twice: text => `${text}${text}`,
  'comma behind it': text => `${text},`,
  'byte order mark': text => `\uFEFF${text}`,
  'single quotes': text => text.replaceAll('"', "'"),
  'no value': text => text.replace(/:\s*[\d.]+/, ': nul'),
  'prefix against inclusion': text => `)]}',\n${text}`,
} as const satisfies Record<string, (text: string, at: At) => string>;

const isKeyOf = <Table extends object>(table: Table, name: string): name is keyof Table & string =>
  Object.hasOwn(table, name);

/** Changes a JSON text. Returns other text, and text in which the change fits nowhere, unchanged. */
export function changed(text: string, changes: readonly Change[]): string {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return text;
  }
  const raw: string[] = [];
  /** A value that becomes this text once the answer is written. */
  const written = (json: string): string => `\u0000raw ${raw.push(json) - 1}\u0000`;
  for (const change of changes) {
    const places = placesOf(root);
    const { do: name, at } = change;
    if (change.do === 'set') {
      const place = placeAt(typeof at === 'string' ? places : places.filter(fits[change.where]), at);
      if (place) put(place.container, place.key, written(change.json));
    } else if (change.do === 'add') {
      const place = placeAt(
        places.filter(({ container }) => isRecord(container)),
        at,
      );
      if (place) put(place.container, change.name, written(change.json));
    } else if (name === 'drop') {
      const place = placeAt(places, at);
      if (Array.isArray(place?.container)) place.container.splice(Number(place.key), 1);
      else if (place) delete place.container[place.key];
    } else if (isKeyOf(ofRows, name)) {
      const lists = places.map(valueAt).filter(value => Array.isArray(value));
      const rows = Array.isArray(root) ? root : oneAt(lists, at);
      if (rows) ofRows[name](rows, at);
    } else if (isKeyOf(ofWhole, name)) root = ofWhole[name](root, at);
  }
  const whole = (JSON.stringify(root) ?? 'null').replaceAll(
    /"\\u0000raw (\d+)\\u0000"/g,
    (_, index: string) => raw[Number(index)] ?? 'null',
  );
  return changes.reduce((so, { do: name, at }) => (isKeyOf(ofText, name) ? ofText[name](so, at) : so), whole);
}

/** The value, or `nonePerItem` times as often null, to which it shrinks. */
export const orNone = <Item>(items: fc.Arbitrary<Item>, nonePerItem: number): fc.Arbitrary<Item | null> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: nonePerItem, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: items },
  );

export const share = fc.nat(999).map(thousandths => thousandths / 1_000);
const deep = fc
  .tuple(fc.constantFrom(60, 900, 4_000), fc.constantFrom(['[', ']'] as const, ['{"a":', '}'] as const))
  .map(([levels, [open, close]]) => `${open.repeat(levels)}1${close.repeat(levels)}`);
const huge = fc
  .tuple(fc.constantFrom('word ', 'w', '日', '\n'), fc.constantFrom(2_000, 60_000))
  .map(([text, times]) => text.repeat(times));
const oddNumbers = [
  ...['1e999', '-1e999', '1e308', '-1e308', '5e-324', '-0', '9007199254740993', '0.1e1', '1E2', '0', '-1', '-0.5'],
  ...['1.5', '2147483648', '9007199254740992', '1e21', '1e-9', '"12"', '"1,5"'],
];
const oddValues = [
  'null',
  'true',
  'false',
  '0',
  '17',
  '-1',
  '"text"',
  '""',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '["a",1,null]',
];

const quoted = (text: string): string => JSON.stringify(text);
const number = fc.oneof(
  fc.constantFrom(...oddNumbers),
  fc.double().map(value => JSON.stringify(value)),
);
const simple = fc.constantFrom(...oddValues);

const set = (where: keyof typeof fits, json: fc.Arbitrary<string>): fc.Arbitrary<Change> =>
  fc.record({ do: fc.constant('set' as const), where: fc.constant(where), at: share, json });
const named = <Name extends string>(table: Readonly<Record<Name, unknown>>) =>
  fc.record({ do: fc.constantFrom(...(Object.keys(table) as Name[])), at: share });
const add = fc.record({
  do: fc.constant('add' as const),
  name: fc.constantFrom(...names.slice(0, 8)),
  at: share,
  json: fc.constantFrom('"text"', '1', 'null', '{}', '[]', '{"polluted":true}'),
});
const drop = fc.record({ do: fc.constant('drop' as const), at: share });
const status = fc.constantFrom(...statuses.map(quoted));

/** Changes that keep the answer readable, and make its numbers wrong. */
export const gentleChanges: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.oneof(drop, set('any', simple), set('number', number), set('status', status), add) },
    { weight: 3, arbitrary: named(ofRows) },
  ),
  { minLength: 1, maxLength: 3 },
);

/** Changes of all kinds. */
export const anyChanges: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    {
      weight: 80,
      arbitrary: fc.oneof(
        drop,
        set('any', fc.oneof(simple, deep)),
        set('number', number),
        set('text', fc.oneof(hostileText, huge).map(quoted)),
        set('time', fc.constantFrom(...times.map(quoted), '1700000000', '-1')),
        set('status', status),
        add,
      ),
    },
    { weight: 30, arbitrary: named(ofRows) },
    { weight: 10, arbitrary: named(ofWhole) },
    { weight: 5, arbitrary: named(ofText) },
  ),
  { minLength: 1, maxLength: 4 },
);
