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
  it('takes every key of one read, and chooses what it came to', async () => {
    const { stdin, chosen, marked, unmount } = open();
    await Promise.resolve();
    expect(marked()).toBe('one');
    stdin.write('jjkj\r');
    await eventually(() => expect(chosen).toEqual([2]));
    expect(marked()).toBe('three');
    unmount();
  });

  it('shows the choice also if there are fewer lines than choices', async () => {
    const { stdin, marked, lastFrame, unmount } = open(2);
    await Promise.resolve();
    stdin.write('jjj');
    await eventually(() => expect(marked()).toBe('four'));
    expect(lastFrame()?.split('\n')).toHaveLength(2);
    unmount();
  });

  it('goes round at both ends', () => {
    expect(menuReducer(0, { kind: 'move', by: -1, count: 4 })).toBe(3);
    expect(menuReducer(3, { kind: 'move', by: 1, count: 4 })).toBe(0);
    expect(menuReducer(0, { kind: 'move', by: 1, count: 0 })).toBe(0);
  });
});
