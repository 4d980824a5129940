/** Pins: announced when they change, and read only after a write. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { RememberedStore } from '../../src/store/store.ts';
import { Pins } from '../../src/workbench/pins.ts';

const pin = { kind: 'run', id: 'evr_1', label: 'baseline' } as const;

it('pins, unpins, and says so', () => {
  const store = RememberedStore.inMemory('test');
  const pins = new Pins(() => store);
  const changed = vi.fn();
  pins.subscribe(changed);
  expect([pins.has('run', 'evr_1'), pins.toggle(pin), pins.has('run', 'evr_1')]).toEqual([false, 'pinned', true]);
  expect(store.pinned()).toEqual([pin]);
  pins.remove('run', 'evr_1');
  pins.remove('run', 'evr_1');
  expect([store.pinned(), pins.list(), changed.mock.calls.length]).toEqual([[], [], 2]);
  expect([pins.toggle(pin), pins.toggle(pin)]).toEqual(['pinned', 'unpinned']);
});

it('follows pins of another program, and reads nothing while nothing is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-pins-'));
  const [store, other] = [1, 2].map(() => RememberedStore.open(join(folder, 'remembered.db'), 'test'));
  onTestFinished(() => {
    store?.close();
    other?.close();
    rmSync(folder, { recursive: true });
  });
  if (!store || !other) throw new Error('no store');
  const pins = new Pins(() => store);
  const changed = vi.fn();
  pins.subscribe(changed);
  const reads = vi.spyOn(store, 'pinned');
  pins.readAgain();
  expect([pins.list(), reads.mock.calls.length]).toEqual([[], 0]);
  other.pin(pin);
  pins.readAgain();
  expect([pins.list(), changed.mock.calls.length]).toEqual([[pin], 1]);
  const before = reads.mock.calls.length;
  pins.readAgain();
  expect(reads.mock.calls.length).toBe(before);
  other.setSetting('welcomed', true);
  other.unpin('run', 'evr_1');
  pins.readAgain();
  expect([pins.list(), changed.mock.calls.length]).toEqual([[], 2]);
});

it('reads pins once when they have changed, and keeps the old ones until they are readable', () => {
  const store = RememberedStore.inMemory('test');
  store.pin(pin);
  const pins = new Pins(() => store);
  expect(pins.list()).toEqual([pin]);
  store.pin({ ...pin, id: 'evr_2' });
  const written = vi.spyOn(store.file, 'wasWrittenElsewhere').mockReturnValueOnce(true).mockReturnValue(false);
  const reads = vi.spyOn(store, 'pinned').mockReturnValueOnce(undefined);
  pins.readAgain();
  expect(pins.list()).toEqual([pin]);
  pins.readAgain();
  expect(pins.list().map(({ id }) => id)).toEqual(['evr_1', 'evr_2']);
  pins.readAgain();
  expect([written.mock.calls.length, reads.mock.calls.length]).toEqual([3, 2]);
});

it('says if a pin could not be saved, and is unchanged', () => {
  const store = RememberedStore.inMemory('test');
  const pins = new Pins(() => store);
  store.pin = () => false;
  expect([pins.toggle(pin), pins.has('run', 'evr_1')]).toEqual([undefined, false]);
});
