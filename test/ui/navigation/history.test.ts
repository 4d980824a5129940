import { describe, expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { type History, type HistoryAction, here, historyReducer, startAt } from '../../../src/ui/navigation/history.ts';

const at = (resource: string, id?: string): Place =>
  id === undefined ? { view: 'list', resource } : { view: 'record', resource, id };
const walk = (history: History, ...actions: HistoryAction[]) => actions.reduce(historyReducer, history);
const crumbs = (history: History) =>
  history.present.map(place => ('resource' in place ? place.resource : place.view)).join(' › ');
const open = (place: Place): HistoryAction => ({ kind: 'open', place });
const go = (...trail: Place[]): HistoryAction => ({ kind: 'go', trail });

describe('history', () => {
  const start = startAt(at('benchmarks'));

  it('opens a place below and goes up again', () => {
    const inside = walk(start, open(at('benchmark', 'b')), open(at('run', 'r')));
    expect(crumbs(inside)).toBe('benchmarks › benchmark › run');
    expect(crumbs(walk(inside, { kind: 'up' }))).toBe('benchmarks › benchmark');
    expect(walk(start, { kind: 'up' })).toBe(start);
  });

  it('does not open the current place twice', () => {
    const inside = walk(start, open(at('benchmark', 'b')));
    expect(walk(inside, open(at('benchmark', 'b')))).toBe(inside);
  });

  it('goes back and forward, and drops the future when something is opened', () => {
    const gone = walk(start, go(at('runs')), go(at('chat')));
    const back = walk(gone, { kind: 'back' });
    expect(crumbs(back)).toBe('runs');
    expect(crumbs(walk(back, { kind: 'forward' }))).toBe('chat');
    const elsewhere = walk(back, open(at('run', 'r')), { kind: 'forward' });
    expect(crumbs(elsewhere)).toBe('runs › run');
  });

  it('toggles between the last two places', () => {
    const gone = walk(start, go(at('runs')), open(at('run', 'r')), go(at('chat')));
    const once = walk(gone, { kind: 'last' });
    expect(crumbs(once)).toBe('runs › run');
    expect(crumbs(walk(once, { kind: 'last' }))).toBe('chat');
    expect(walk(start, { kind: 'last' })).toBe(start);
  });

  it('goes to the previous place after a step back or forward, and keeps the history (U40)', () => {
    const gone = walk(start, go(at('b')), go(at('c')));
    const back = walk(gone, { kind: 'back' });
    const last = walk(back, { kind: 'last' });
    expect(crumbs(last)).toBe('c');
    expect(crumbs(walk(last, { kind: 'last' }))).toBe('b');
    expect(crumbs(walk(last, { kind: 'last' }, { kind: 'back' }))).toBe('benchmarks');
    expect(crumbs(walk(last, { kind: 'last' }, { kind: 'forward' }))).toBe('c');
    const twice = walk(gone, { kind: 'back' }, { kind: 'back' });
    expect(crumbs(walk(twice, { kind: 'last' }))).toBe('b');
    expect(crumbs(walk(twice, { kind: 'last' }, { kind: 'forward' }))).toBe('c');
  });

  it('shows a sibling without lengthening the way back', () => {
    const inside = walk(start, open(at('run', 'a')), { kind: 'replace', place: at('run', 'b') });
    expect(here(inside)).toEqual(at('run', 'b'));
    expect(crumbs(walk(inside, { kind: 'back' }))).toBe('benchmarks');
  });

  it('goes up from a sibling’s view to its record, and to any other place as it was', () => {
    const pair = { view: 'pair', left: { id: 'a', name: 'a' }, right: { id: 'z', name: 'z' } } as const;
    const above = { view: 'record', resource: 'run', id: 'b' } as const;
    const stepped: HistoryAction = { kind: 'replace', place: { ...pair, left: { id: 'b', name: 'b' } }, above };
    const up = (...ways: HistoryAction[]) => here(walk(start, ...ways, open(pair), stepped, { kind: 'up' }));
    expect(up(open(at('run', 'a')))).toEqual(above);
    expect(up(open(at('benchmark', 'a')))).toEqual(at('benchmark', 'a'));
    expect(up()).toEqual(at('benchmarks'));
  });

  it('ignores a step to nowhere', () => {
    expect(walk(start, go())).toBe(start);
  });
});
