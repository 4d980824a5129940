import { describe, expect, it } from 'vitest';
import { layoutOf, neighbour, type PaneName, smallest } from '../../../src/ui/app/layout.ts';

const shown = (columns: number, focus: PaneName = 'main', inspector = true) =>
  Object.keys(layoutOf(columns, 24, focus, inspector)?.panes ?? {});

describe('layoutOf', () => {
  it('shows three panes from 120 columns, two from 80, one below', () => {
    expect(shown(120)).toEqual(['sections', 'main', 'inspector']);
    expect(shown(119)).toEqual(['sections', 'main']);
    expect(shown(80)).toEqual(['sections', 'main']);
    expect(shown(79)).toEqual(['main']);
  });

  it('shows the focused pane', () => {
    expect(shown(100, 'inspector')).toEqual(['main', 'inspector']);
    expect(shown(60, 'sections')).toEqual(['sections']);
    expect(shown(60, 'inspector')).toEqual(['inspector']);
  });

  it('drops the inspector if a view has none', () => {
    expect(shown(200, 'main', false)).toEqual(['sections', 'main']);
    expect(shown(60, 'inspector', false)).toEqual(['main']);
  });

  it.each([200, 120, 100, 80, 60])('fills %i columns exactly', columns => {
    for (const focus of ['sections', 'main', 'inspector'] as const) {
      const panes = Object.values(layoutOf(columns, 24, focus, true)?.panes ?? {});
      expect(panes.reduce((sum, pane) => sum + pane.width, 0) + panes.length + 1).toBe(columns);
      expect(panes.every(pane => pane.height === 20)).toBe(true);
    }
  });

  it('refuses a terminal that is too small', () => {
    expect(layoutOf(smallest.columns, smallest.rows, 'main', true)).toBeDefined();
    expect(layoutOf(smallest.columns - 1, smallest.rows, 'main', true)).toBeUndefined();
    expect(layoutOf(smallest.columns, smallest.rows - 1, 'main', true)).toBeUndefined();
  });
});

describe('neighbour', () => {
  it('moves between the visible panes', () => {
    expect(neighbour('main', 1, true)).toBe('inspector');
    expect(neighbour('main', 1, false)).toBe('main');
    expect(neighbour('sections', -1, true)).toBe('sections');
    expect(neighbour('inspector', -1, true)).toBe('main');
  });
});
