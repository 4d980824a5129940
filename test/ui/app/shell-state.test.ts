import { describe, expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import {
  currentPlace,
  initialShellState,
  type ShellAction,
  type ShellState,
  sectionOf,
  shellReducer,
} from '../../../src/ui/app/shell-state.ts';

const benchmarks: Place = { view: 'list', resource: 'benchmarks' };
const runs: Place = { view: 'list', resource: 'runs' };
const sections: readonly Place[] = [benchmarks, runs, { view: 'chat' }];
const start: ShellState = initialShellState(benchmarks, sections);
const toTheLeft: ShellAction = { kind: 'move-focus', direction: -1, hasInspector: true };
const toTheRight: ShellAction = { kind: 'move-focus', direction: 1, hasInspector: true };
const play = (...actions: ShellAction[]) => actions.reduce(shellReducer, start);

describe('shellReducer', () => {
  it('moves the focus through the panes and stops at the ends', () => {
    expect(play(toTheLeft).focus).toBe('sections');
    expect(play(toTheLeft, toTheLeft).focus).toBe('sections');
    expect(play(toTheRight).focus).toBe('inspector');
  });

  it('opens the section under the cursor and focuses it', () => {
    const state = play({ kind: 'focus', pane: 'sections' }, { kind: 'move-section', by: 5 }, { kind: 'open-section' });
    expect(sectionOf(state)).toBe(2);
    expect(state.focus).toBe('main');
  });

  it('has its cursor on the current section, however it was reached', () => {
    const open = { kind: 'open', place: { view: 'record', resource: 'runs', id: 'r' } } as const;
    const go = { kind: 'go', trail: [runs] } as const;
    const state = play({ kind: 'navigate', action: go }, { kind: 'navigate', action: open });
    expect(state.section).toBe(1);
    expect(shellReducer(state, { kind: 'navigate', action: { kind: 'back' } }).section).toBe(1);
    expect(play({ kind: 'navigate', action: go }, { kind: 'navigate', action: { kind: 'last' } }).section).toBe(0);
    expect(play({ kind: 'open-section', section: 2 }).section).toBe(2);
  });

  it('does not focus the inspector if the view has none', () => {
    expect(play({ ...toTheRight, hasInspector: false }).focus).toBe('main');
  });

  it('navigates and keeps the section of the trail', () => {
    const state = play({
      kind: 'navigate',
      action: { kind: 'open', place: { view: 'record', resource: 'benchmarks', id: 'b' } },
    });
    expect(currentPlace(state)).toMatchObject({ view: 'record', id: 'b' });
    expect(sectionOf(state)).toBe(0);
  });
});
