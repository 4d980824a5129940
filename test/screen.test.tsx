/** What the terminal of screen tests waits for. */
import { Text, useInput } from 'ink';
import { useState } from 'react';
import { expect, it, onTestFinished } from 'vitest';
import { openScreen } from './screen.ts';

function Keys() {
  const [count, setCount] = useState(0);
  useInput(() => setCount(before => before + 1));
  return <Text>{`${count} keys`}</Text>;
}

it('shows the last of many keys when press returns, despite the frame limit of the painter', async () => {
  const screen = openScreen(<Keys />);
  onTestFinished(screen.close);
  for (let count = 1; count <= 8; count += 1) {
    await screen.press('j');
    expect(screen.text()).toContain(`${count} keys`);
  }
  await screen.press(...'jjjjjjjj');
  expect(screen.text()).toContain('16 keys');
});
