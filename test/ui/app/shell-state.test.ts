import { describe, expect, it } from 'vitest';
import {
  currentLocation,
  type ShellAction,
  type ShellState,
  sectionOf,
  shellReducer,
} from '../../../src/ui/app/shell-state.ts';
import { startAt } from '../../../src/ui/navigation/history.ts';

const sections = ['benchmarks', 'runs', 'chat'];
const start: ShellState = {
  history: startAt({ view: 'benchmarks', params: {} }),
  focus: 'main',
  section: 0,
  hasInspector: true,
};
const play = (...actions: ShellAction[]) => actions.reduce(shellReducer, start);

describe('shellReducer', () => {
  it('moves the focus over the panes and stops at the ends', () => {
    expect(play({ kind: 'move-focus', direction: -1 }).focus).toBe('sections');
    expect(play({ kind: 'move-focus', direction: -1 }, { kind: 'move-focus', direction: -1 }).focus).toBe('sections');
    expect(play({ kind: 'move-focus', direction: 1 }).focus).toBe('inspector');
  });

  it('opens the section under the cursor and gives the keys to it', () => {
    const state = play(
      { kind: 'focus', pane: 'sections' },
      { kind: 'move-section', by: 5, count: sections.length },
      { kind: 'open-section', sections },
    );
    expect(sectionOf(state)).toBe('chat');
    expect(state.focus).toBe('main');
  });

  it('takes the focus back when the inspector goes', () => {
    const state = play({ kind: 'focus', pane: 'inspector' }, { kind: 'has-inspector', value: false });
    expect(state.focus).toBe('main');
    expect(shellReducer(state, { kind: 'move-focus', direction: 1 }).focus).toBe('main');
  });

  it('navigates and keeps the section of the trail', () => {
    const state = play({
      kind: 'navigate',
      action: { kind: 'open', location: { view: 'benchmark', params: { bench_id: 'b' } } },
    });
    expect(currentLocation(state).view).toBe('benchmark');
    expect(sectionOf(state)).toBe('benchmarks');
  });
});
