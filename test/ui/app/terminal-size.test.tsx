import { Text } from 'ink';
import { expect, it } from 'vitest';
import { useTerminalSize } from '../../../src/ui/app/terminal-size.ts';
import { openScreen } from '../../screen.ts';

it('redraws when the size changes, and never for an equal size', async () => {
  let drawn = 0;
  function Size() {
    const { columns, rows } = useTerminalSize();
    drawn += 1;
    return <Text>{`${columns}×${rows}`}</Text>;
  }
  const screen = openScreen(<Size />, { columns: 80, rows: 24 });
  await screen.waitFor('80×24');
  expect(drawn).toBe(1);
  await screen.resize(100, 30);
  await screen.waitFor('100×30');
  expect(drawn).toBe(2);
  screen.close();
});
