import { render } from 'ink-testing-library';
import { describe, expect, it } from 'vitest';
import { KeyRouter } from '../../../src/ui/keys/router.tsx';
import { Menu, menuReducer } from '../../../src/ui/widgets/menu.tsx';
import { eventually } from '../../eventually.ts';

const items = ['one', 'two', 'three', 'four'].map(label => ({ key: label, label }));

function open(limit?: number) {
  const chosen: number[] = [];
  const shown = render(
    <KeyRouter>
      <Menu items={items} onChoose={index => chosen.push(index)} {...(limit && { limit })} />
    </KeyRouter>,
  );
  return { ...shown, chosen, marked: () => /▸ (\w+)/.exec(shown.lastFrame() ?? '')?.[1] };
}

describe('Menu', () => {
  it('takes every key of one read, and runs the last selected item', async () => {
    const { stdin, chosen, marked, unmount } = open();
    await Promise.resolve();
    expect(marked()).toBe('one');
    stdin.write('jjkj\r');
    await eventually(() => expect(chosen).toEqual([2]));
    expect(marked()).toBe('three');
    unmount();
  });

  it('shows the selection even if there are fewer lines than items', async () => {
    const { stdin, marked, lastFrame, unmount } = open(2);
    await Promise.resolve();
    stdin.write('jjj');
    await eventually(() => expect(marked()).toBe('four'));
    expect(lastFrame()?.split('\n')).toHaveLength(2);
    unmount();
  });

  it('wraps around at both ends', () => {
    const keys = ['a', 'b', 'c', 'd'];
    expect(menuReducer({ index: 0 }, { by: -1, keys })).toEqual({ index: 3, key: 'd' });
    expect(menuReducer({ index: 3, key: 'd' }, { by: 1, keys })).toEqual({ index: 0, key: 'a' });
    expect(menuReducer({ index: 0 }, { by: 1, keys: [] })).toEqual({ index: 0 });
  });

  it('moves by pages, and to the ends, without wrapping around', () => {
    const keys = ['a', 'b', 'c', 'd'];
    const to = (by: number) => menuReducer({ index: 1, key: 'b' }, { by, keys }).key;
    expect([2, 3, -2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(to)).toEqual(['d', 'd', 'a', 'd', 'a']);
  });

  it('stays on its item when others come and go', async () => {
    const chosen: number[] = [];
    const menu = (labels: readonly string[]) => (
      <KeyRouter>
        <Menu items={labels.map(label => ({ key: label, label }))} onChoose={index => chosen.push(index)} />
      </KeyRouter>
    );
    const { stdin, lastFrame, rerender, unmount } = render(menu(['one', 'two', 'three']));
    const marked = () => /▸ (\w+)/.exec(lastFrame() ?? '')?.[1];
    await Promise.resolve();
    stdin.write('j');
    await eventually(() => expect(marked()).toBe('two'));
    rerender(menu(['new', 'one', 'two', 'three']));
    expect(marked()).toBe('two');
    stdin.write('\r');
    await eventually(() => expect(chosen).toEqual([2]));
    rerender(menu(['new', 'one']));
    expect(marked()).toBe('one');
    unmount();
  });
});
