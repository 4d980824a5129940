import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conflictsIn, type Note, parseNote } from '../../src/store/notes.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { Notes } from '../../src/workbench/notes.ts';

const dayMs = 24 * 60 * 60 * 1000;

const note = (more: Partial<Note>): Note => ({
  ...{ kind: 'trajectory', id: 't1', message: 0, author: 'ann', flag: 'bad', text: '', label: 'task', at: 1_000 },
  since: 1_000,
  ...more,
});

describe('notes', () => {
  it('have one digit for a flag that is twice in the settings (out31 C11)', () => {
    const store = RememberedStore.inMemory('test');
    expect(new Notes(() => store, { author: 'me', flags: ['good', 'good', 'bad'] }).flags).toEqual(['good', 'bad']);
    store.close();
  });

  it('merge those of two people: the newest of each author wins, in either order', () => {
    const mine = [note({}), note({ id: 't2', flag: 'good', at: 5_000 })];
    const theirs = [note({ author: 'bob', flag: 'gamed' }), note({ id: 't2', flag: '', at: 6_000 }), note({ at: 900 })];
    for (const [first, second] of [
      [mine, theirs],
      [theirs, mine],
    ] as const) {
      const store = RememberedStore.inMemory('test');
      store.notes.merge(first);
      store.notes.merge(second);
      const all = store.notes.all() ?? [];
      expect(all).toHaveLength(3);
      expect(all).toContainEqual(note({}));
      expect(all).toContainEqual(note({ author: 'bob', flag: 'gamed' }));
      // A removed note stays removed.
      expect(all).toContainEqual(note({ id: 't2', flag: '', at: 6_000 }));
      expect(conflictsIn(all).map(group => group.map(({ flag }) => flag).sort())).toEqual([['bad', 'gamed']]);
      store.close();
    }
  });

  it('keep those of two people with one name, in either order and after several merges (A9)', () => {
    const mine = [note({ text: 'line one' })];
    const theirs = [note({ flag: 'gamed', text: 'another view', at: 2_000, since: 2_000 })];
    const unknown = [note({ flag: 'x', at: 0, since: 0 }), note({ flag: 'y', at: 0, since: 0 })];
    for (const [first, second] of [
      [mine, theirs],
      [theirs, mine],
    ] as const) {
      const store = RememberedStore.inMemory('test');
      store.notes.merge(first);
      const renamed = second.map(each => ({ ...each, author: 'ann (2)' }));
      expect(store.notes.merge(second)).toEqual({ added: 1, updated: 0, kept: 0, renamed });
      expect(store.notes.merge([...second, ...first])).toMatchObject({ added: 0, updated: 0, kept: 2, renamed: [] });
      const later = second.map(each => ({ ...each, flag: '', text: 'changed', at: 9_000 }));
      expect(store.notes.merge(later)).toMatchObject({ updated: 1, renamed: [] });
      expect(new Set(store.notes.all()?.map(({ author, text }) => `${author}: ${text}`))).toEqual(
        new Set([`ann: ${first[0]?.text}`, 'ann (2): changed']),
      );
      // Another machine, which has the second note under its own name, takes these two as they are.
      const elsewhere = RememberedStore.inMemory('test');
      elsewhere.notes.merge(later);
      expect(elsewhere.notes.merge(store.notes.all() ?? [])).toMatchObject({ added: 1, updated: 0, kept: 1 });
      expect(store.notes.merge(unknown)).toMatchObject({
        added: 2,
        renamed: [{ author: 'ann (3)' }, { author: 'ann (4)' }],
      });
      for (const each of [store, elsewhere]) each.close();
    }
  });

  it('separate those of services, and count what merging did', () => {
    const store = RememberedStore.inMemory('test');
    expect(store.notes.merge([note({}), note({ at: 2_000 }), note({ at: 500 })])).toEqual({
      ...{ added: 1, updated: 1, kept: 1, renamed: [] },
    });
    store.close();
  });

  it('set and remove those of the author, even if the clock was set back', () => {
    const store = RememberedStore.inMemory('test');
    const notes = new Notes(() => store, { flags: ['good'], author: 'ann' });
    const of = [{ kind: 'trajectory', id: 't1', label: 'task' }];
    notes.say(of, { flag: 'good', text: 'why' }, 9_000);
    expect(notes.own({ id: 't1' })?.text).toBe('why');
    notes.say(of, { flag: '' }, 1_000);
    expect(notes.own({ id: 't1' })).toMatchObject({ flag: '', text: 'why', at: 9_001 });
    notes.say(of, { text: '' });
    expect(notes.byId().size).toBe(0);
    store.close();
  });

  it('keep the name if only the id is known', () => {
    const store = RememberedStore.inMemory('test');
    const subject = { kind: 'trajectory', id: 't1', message: 0, author: 'ann' };
    const labels = ['t1', 'task', 't1', 'renamed'].map(label => {
      store.notes.change([{ ...subject, label }], { text: label });
      return store.notes.all()?.[0]?.label;
    });
    expect(labels).toEqual(['t1', 'task', 'task', 'renamed']);
    store.close();
  });

  it('change only their own edits, in the file that another program has saved meanwhile', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'benchtop-')), 'remembered.db');
    const [screen, command] = [RememberedStore.open(file, 'test'), RememberedStore.open(file, 'test')];
    const [onScreen, inShell] = [screen, command].map(store => new Notes(() => store, { flags: [], author: 'ann' }));
    const of = ['t1', 't2'].map(id => ({ kind: 'trajectory', id, label: id }));
    expect(onScreen?.byId().size).toBe(0);
    inShell?.say(of.slice(1), { flag: 'gamed', text: 'written just now' });
    onScreen?.say(of, { flag: 'good' });
    const words = () =>
      screen.notes
        .all()
        ?.map(({ id, flag, text }) => [id, flag, text])
        .sort();
    expect(words()).toEqual([
      ['t1', 'good', ''],
      ['t2', 'good', 'written just now'],
    ]);
    inShell?.say(of, { text: 'both' });
    expect(words()).toEqual([
      ['t1', 'good', 'both'],
      ['t2', 'good', 'both'],
    ]);
    for (const store of [screen, command]) store.close();
    rmSync(dirname(file), { recursive: true });
  });

  it('have one per author and id, whatever its kind', () => {
    const store = RememberedStore.inMemory('test');
    const notes = new Notes(() => store, { flags: [], author: 'ann' });
    notes.say([{ kind: 'trajectory', id: 'r4', label: 'r4' }], { flag: 'bad' });
    notes.say([{ kind: 'run', id: 'r4', label: 'a run' }], { flag: '' });
    expect(store.notes.all()).toEqual([expect.objectContaining({ kind: 'run', flag: '' })]);
    const at = Date.now() + 1_000;
    const since = store.notes.all()?.[0]?.since ?? 0;
    expect(store.notes.merge([note({ id: 'r4', flag: 'good', at, since })])).toMatchObject({ added: 0, updated: 1 });
    expect(store.notes.all()).toEqual([note({ id: 'r4', flag: 'good', at, since })]);
    store.close();
  });

  it('keep the existing one of two with the same time, so that merging twice changes nothing', () => {
    const store = RememberedStore.inMemory('test');
    store.notes.merge([note({ text: 'first' })]);
    expect(store.notes.merge([note({ text: 'second' })])).toEqual({ added: 0, updated: 0, kept: 1, renamed: [] });
    expect(store.notes.all()).toEqual([note({ text: 'first' })]);
    store.close();
  });

  it('read an impossible time as unknown, and let any other version replace it', () => {
    const store = RememberedStore.inMemory('test');
    const now = Date.now();
    const times = { old: 1, beyond: Number.MAX_SAFE_INTEGER, future: now + 2 * dayMs, skewed: now + dayMs / 2 };
    store.notes.merge(Object.entries(times).map(([id, at]) => note({ id, at })));
    expect(store.notes.all()?.map(({ id, at }) => [id, at])).toEqual([
      ...[
        ['skewed', times.skewed],
        ['old', 1],
        ['beyond', 0],
        ['future', 0],
      ],
    ]);
    const notes = new Notes(() => store, { flags: ['good'], author: 'ann' });
    notes.say([{ kind: 'trajectory', id: 'beyond', label: '' }], { flag: '', text: '' }, now);
    expect(store.notes.merge([note({ id: 'future', flag: 'good', at: now })])).toMatchObject({ updated: 1 });
    expect(store.notes.all()?.map(({ id, at, flag }) => [id, at, flag])).toEqual([
      ...[
        ['skewed', times.skewed, 'bad'],
        ['beyond', now, ''],
        ['future', now, 'good'],
        ['old', 1, 'bad'],
      ],
    ]);
    store.close();
  });

  it.each([
    [{ kind: 'run', id: 'r', author: 'a', at: null }, true],
    [{ kind: 'run', id: 'r', author: 'a', at: Number.MAX_SAFE_INTEGER }, false],
    [{ kind: 'run', id: 'r', author: 'a', at: '2026-01-01T00:00:00Z' }, true],
    [{ kind: 'run', id: 'r', author: 'a' }, false],
    [{ kind: 'deployment', id: 'r', author: 'a', at: 1 }, false],
    [{ kind: 'run', id: '', author: 'a', at: 1 }, false],
    [{ kind: 'run', id: 'r', author: 'a', at: 1, message: -1 }, false],
    [{ kind: 'run', id: 'r', author: 'a', at: 1, text: 'x'.repeat(10_001) }, false],
    [{ kind: 'run', id: 'r'.repeat(250), author: 'a', at: 1, label: 'x'.repeat(250), text: 'x'.repeat(10_000) }, true],
    ['no note', false],
  ])('read %j from a file: %s', (value, isNote) => {
    expect(typeof parseNote(value, Date.parse('2026-01-01'))).toBe(isNote ? 'object' : 'string');
  });
});
