/** The mouse on the screen: its targets and their actions. */
import { Box, Text } from 'ink';
import { useState } from 'react';
import { describe, expect, it } from 'vitest';
import type { MouseEvent } from '../../../src/ui/keys/mouse.ts';
import { MouseProvider, type MouseSource, useMouseRegion } from '../../../src/ui/keys/mouse-regions.tsx';
import { openScreen } from '../../screen.ts';

function mouse(): MouseSource & { readonly send: (event: Partial<MouseEvent>) => void } {
  const listeners = new Set<(event: MouseEvent) => void>();
  return {
    subscribe: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send: event => {
      const whole = {
        kind: 'press',
        button: 'left',
        column: 0,
        row: 0,
        shift: false,
        alt: false,
        ctrl: false,
      } as const;
      for (const listener of listeners) listener({ ...whole, ...event });
    },
  };
}

function Inner({ report }: { report: (words: string) => void }) {
  const region = useMouseRegion({
    onClick: (line, times) => report(`inner ${line} ${times}`),
    onWheel: lines => report(`wheel ${lines}`),
  });
  return (
    <Box ref={region} width={10} height={3}>
      <Text>inner</Text>
    </Box>
  );
}

function Outer({ source, blocked = false }: { source: MouseSource; blocked?: boolean }) {
  const [said, setSaid] = useState<string[]>([]);
  const report = (words: string): void => setSaid(before => [...before, words]);
  return (
    <MouseProvider source={source} blocked={blocked}>
      <Region report={report}>{said.join(', ')}</Region>
    </MouseProvider>
  );
}

function Region({ report, children }: { report: (words: string) => void; children: string }) {
  const region = useMouseRegion({ onClick: line => report(`outer ${line}`) });
  return (
    <Box ref={region} width={60} height={8} flexDirection="column">
      <Text wrap="truncate">{`said: ${children}`}</Text>
      <Inner report={report} />
    </Box>
  );
}

describe('a click', () => {
  it('is handled from the outside in, with the line within each region', async () => {
    const source = mouse();
    const screen = openScreen(<Outer source={source} />);
    for (const _ of [1, 2]) source.send({ column: 4, row: 2 });
    await screen.waitFor('outer 2, inner 1 1, outer 2, inner 1 2');
    screen.close();
  });

  it('outside all regions, with another button, or below a window, does nothing', async () => {
    const source = mouse();
    const screen = openScreen(<Outer source={source} blocked />);
    source.send({ column: 4, row: 2 });
    const open = openScreen(<Outer source={source} />);
    source.send({ column: 70, row: 2 });
    source.send({ column: 4, row: 2, button: 'right' });
    source.send({ column: 4, row: 2, kind: 'release' });
    source.send({ column: 4, row: 2, kind: 'wheel-up' });
    await open.waitFor('said: wheel -3');
    expect(screen.text()).not.toContain('outer');
    screen.close();
    open.close();
  });
});
