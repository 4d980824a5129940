import { describe, expect, it } from 'vitest';
import { find, type SearchedLine } from '../../../src/ui/widgets/scroll-view/places.ts';
import {
  formatMatch,
  formatPosition,
  initialScrollState,
  offsetOf,
  type ScrollAction,
  type ScrollState,
  type ScrollSurroundings,
  scrollReducer,
} from '../../../src/ui/widgets/scroll-view/scroll-state.ts';

const texts = Array.from({ length: 100 }, (_, line) => (line % 10 === 7 ? `seven in ${line}` : `line ${line}`));
const searched: SearchedLine[] = texts.map((text, place) => ({ text, place }));
const around: ScrollSurroundings = {
  lineCount: 100,
  height: 10,
  placeAt: line => line,
  isFolded: () => false,
  find: query => find(searched, query),
};
const play = (...actions: ScrollAction[]) =>
  actions.reduce((state, action) => scrollReducer(state, action, around), initialScrollState);
const offset = (state: ScrollState, surroundings = around) => offsetOf(state, surroundings);

describe('scrollReducer', () => {
  it('scrolls by lines and pages and stops at both ends', () => {
    expect(offset(play({ kind: 'by', lines: 3 }))).toBe(3);
    expect(offset(play({ kind: 'page', pages: 1 }, { kind: 'page', pages: 0.5 }))).toBe(13);
    expect(offset(play({ kind: 'bottom' }, { kind: 'by', lines: 5 }))).toBe(90);
    expect(play({ kind: 'by', lines: -5 })).toBe(initialScrollState);
  });

  it('jumps from the end of the previous jump, and stays at the ends or wraps around (R9)', () => {
    const jump = (by: number, wraps = false): ScrollAction => ({
      kind: 'jump',
      places: [5, 20, 40, 99],
      by,
      before: 0,
      wraps,
    });
    expect(play(jump(1), jump(1)).place).toBe(20);
    expect(play(jump(1), jump(1), jump(1), jump(1), jump(1)).place).toBe(99);
    expect(play(jump(1), jump(1), jump(-1), jump(-1)).place).toBe(5);
    expect(play({ kind: 'to', line: 30 }, jump(1)).place).toBe(40);
    expect(play({ kind: 'bottom' }, jump(1), jump(1, true)).place).toBe(5);
    expect(play({ kind: 'jump', places: [], by: 1, before: 0, wraps: true })).toBe(initialScrollState);
  });

  it('goes to matches in turn, both ways and around', () => {
    const found = play({ kind: 'search', query: 'seven' });
    expect([found.match, offset(found)]).toEqual([7, 0]);
    const second = scrollReducer(found, { kind: 'next', direction: 1 }, around);
    expect([second.match, offset(second)]).toEqual([17, 14]);
    const back = scrollReducer(found, { kind: 'next', direction: -1 }, around);
    expect([back.match, offset(back)]).toEqual([97, 90]);
    expect(scrollReducer(back, { kind: 'next', direction: 1 }, around).match).toBe(7);
  });

  it('counts the matches and says which is current', () => {
    let state = play({ kind: 'search', query: 'seven' });
    const words = () => formatMatch(state, around.find(state.query));
    expect(words()).toBe('1/10');
    for (let time = 0; time < 2; time += 1) state = scrollReducer(state, { kind: 'next', direction: 1 }, around);
    expect(words()).toBe('3/10');
    state = play({ kind: 'search', query: 'eleven' });
    expect(words()).toBe('no match');
    state = play({ kind: 'search', query: '/(' });
    expect(words()).toMatch(/^Not a regular expression/);
  });

  it('stays where it is when nothing matches', () => {
    const state = play({ kind: 'by', lines: 5 }, { kind: 'search', query: 'eight' }, { kind: 'next', direction: 1 });
    expect([state.match, offset(state)]).toEqual([undefined, 5]);
  });

  it('shows a place with its context before it, even near the end of the text', () => {
    const state = play({ kind: 'show', place: 50, before: 3 });
    expect(offset(state)).toBe(47);
    const near = play({ kind: 'show', place: 97, before: 3 });
    expect([offset(near), near.place]).toEqual([90, 97]);
    expect(offset(scrollReducer(state, { kind: 'by', lines: 1 }, around))).toBe(48);
  });

  it('returns to a text that has shrunk', () => {
    const state = scrollReducer(play({ kind: 'bottom' }), { kind: 'by', lines: -1 }, { ...around, lineCount: 20 });
    expect(offset(state, { ...around, lineCount: 20 })).toBe(9);
  });

  it('stays at its place in the text when the lines change', () => {
    const state = play({ kind: 'by', lines: 40 });
    // Wrapped at half the width, every line is two.
    const narrow = { ...around, lineCount: 200, placeAt: (line: number) => line / 2 };
    expect(offset(state, narrow)).toBe(80);
    const further = scrollReducer(state, { kind: 'by', lines: 1 }, narrow);
    expect([offset(further, narrow), offset(further)]).toEqual([81, 40]);
  });

  it('finds folded text, and shows it once unfolded', () => {
    // Lines 20 to 79 are folded behind line 20.
    const folded: ScrollSurroundings = {
      ...around,
      lineCount: 41,
      placeAt: line => (line <= 20 ? line : line + 59),
      isFolded: place => place >= 20 && place < 80,
    };
    const third = [1, 1].reduce(
      (state, direction) => scrollReducer(state, { kind: 'next', direction: direction as 1 }, folded),
      scrollReducer(initialScrollState, { kind: 'search', query: 'seven' }, folded),
    );
    expect(third.match).toBe(27);
    expect(offset(third, folded)).toBe(17);
    expect(offset(third)).toBe(24);
  });

  it('goes to a match within a wrapped line', () => {
    const long = [{ text: `${'x'.repeat(500)} needle`, place: 0 }];
    const state = scrollReducer(
      initialScrollState,
      { kind: 'search', query: 'needle' },
      { ...around, lineCount: 51, placeAt: line => line * 10, find: query => find(long, query) },
    );
    expect(state.match).toBe(501);
  });

  it('reports the place of a match', () => {
    expect(formatPosition(play(), around)).toBe('top');
    expect(formatPosition(play({ kind: 'by', lines: 45 }), around)).toBe('50%');
    expect(formatPosition(play({ kind: 'bottom' }), around)).toBe('end');
    expect(formatPosition(play(), { ...around, lineCount: 5 })).toBe('all');
  });
});
