import { describe, expect, it } from 'vitest';
import {
  currentLocation,
  initialShellState,
  type ShellAction,
  type ShellState,
  sectionOf,
  shellReducer,
} from '../../../src/ui/app/shell-state.ts';

const sections = ['benchmarks', 'runs', 'chat'];
const start: ShellState = { ...initialShellState({ view: 'benchmarks', params: {} }, sections), hasInspector: true };
const play = (...actions: ShellAction[]) => actions.reduce(shellReducer, start);

describe('shellReducer', () => {
  it('moves the focus over the panes and stops at the ends', () => {
    expect(play({ kind: 'move-focus', direction: -1 }).focus).toBe('sections');
    expect(play({ kind: 'move-focus', direction: -1 }, { kind: 'move-focus', direction: -1 }).focus).toBe('sections');
    expect(play({ kind: 'move-focus', direction: 1 }).focus).toBe('inspector');
  });

  it('opens the section under the cursor and gives the keys to it', () => {
    const state = play({ kind: 'focus', pane: 'sections' }, { kind: 'move-section', by: 5 }, { kind: 'open-section' });
    expect(sectionOf(state)).toBe('chat');
    expect(state.focus).toBe('main');
  });

  it('has its cursor on the section that is shown, however one came there', () => {
    const open = { kind: 'open', location: { view: 'run', params: {} } } as const;
    const go = { kind: 'go', trail: [{ view: 'runs', params: {} }] } as const;
    const state = play({ kind: 'navigate', action: go }, { kind: 'navigate', action: open });
    expect(state.section).toBe(1);
    expect(shellReducer(state, { kind: 'navigate', action: { kind: 'back' } }).section).toBe(1);
    expect(play({ kind: 'navigate', action: go }, { kind: 'navigate', action: { kind: 'last' } }).section).toBe(0);
    expect(play({ kind: 'open-section', section: 2 }).section).toBe(2);
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
