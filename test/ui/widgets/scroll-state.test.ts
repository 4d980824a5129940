import { describe, expect, it } from 'vitest';
import {
  initialScrollState,
  positionWords,
  type ScrollAction,
  type ScrollSurroundings,
  scrollReducer,
} from '../../../src/ui/widgets/scroll-view/scroll-state.ts';

const around: ScrollSurroundings = {
  lineCount: 100,
  height: 10,
  matches: (line, query) => query === 'seven' && line % 10 === 7,
};
const play = (...actions: ScrollAction[]) =>
  actions.reduce((state, action) => scrollReducer(state, action, around), initialScrollState);

describe('scrollReducer', () => {
  it('scrolls by lines and pages and stops at both ends', () => {
    expect(play({ kind: 'by', lines: 3 }).offset).toBe(3);
    expect(play({ kind: 'page', pages: 1 }, { kind: 'page', pages: 0.5 }).offset).toBe(13);
    expect(play({ kind: 'bottom' }, { kind: 'by', lines: 5 }).offset).toBe(90);
    expect(play({ kind: 'by', lines: -5 })).toBe(initialScrollState);
  });

  it('goes to the matches in turn, both ways and round', () => {
    const found = play({ kind: 'search', query: 'seven' });
    expect([found.match, found.offset]).toEqual([7, 0]);
    const second = scrollReducer(found, { kind: 'next', direction: 1 }, around);
    expect([second.match, second.offset]).toEqual([17, 14]);
    const back = scrollReducer(found, { kind: 'next', direction: -1 }, around);
    expect([back.match, back.offset]).toEqual([97, 90]);
  });

  it('stays where it is when nothing matches', () => {
    const state = play({ kind: 'by', lines: 5 }, { kind: 'search', query: 'eight' }, { kind: 'next', direction: 1 });
    expect([state.match, state.offset]).toEqual([-1, 5]);
  });

  it('comes back into a text that became shorter', () => {
    const state = scrollReducer(play({ kind: 'bottom' }), { kind: 'by', lines: -1 }, { ...around, lineCount: 20 });
    expect(state.offset).toBe(9);
  });

  it('says where one is', () => {
    expect(positionWords(play(), around)).toBe('top');
    expect(positionWords(play({ kind: 'by', lines: 45 }), around)).toBe('50%');
    expect(positionWords(play({ kind: 'bottom' }), around)).toBe('end');
    expect(positionWords(play(), { ...around, lineCount: 5 })).toBe('all');
  });
});
