/** The siblings of a record that was opened from a list. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { siblingRows } from '../../../../src/ui/views/list/list-table.ts';

const count = 1_000;
const placeOf = ({ name }: { readonly name: string }) => ({ view: 'record', resource: 'runs', id: name }) as const;

/** The siblings in a list whose rows nothing else holds. */
function leftList() {
  const rows = Array.from({ length: count }, (_, at) => ({ name: `row ${at}` }));
  const siblings = siblingRows('runs', { rows, ids: rows.map((_, at) => `id ${at}`) }, placeOf);
  expect(siblings.placeAt(7)).toEqual({ view: 'record', resource: 'runs', id: 'row 7' });
  return { rows: new WeakRef(rows), siblings };
}

it('are kept as ids once the list is closed, without its rows (U44)', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const { rows, siblings } = leftList();
  // A WeakRef holds its target until the current task has ended.
  await setImmediate();
  collect();
  expect(rows.deref()).toBeUndefined();
  expect(siblings.placeAt(7)).toEqual({ view: 'record', resource: 'runs', id: 'id 7' });
  expect(siblings.placeAt(count)).toBeUndefined();
});
