/** The panes that a view fills: its main part and, where there is room, its inspector. */
import { Box, Text } from 'ink';
import { type ReactNode, useLayoutEffect } from 'react';
import type { Attention } from '../../queries/polling.ts';
import { KeyScope } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import type { Size } from './layout.ts';
import { useShell } from './shell-context.tsx';

/** What a pane knows of itself when it draws. */
export interface PaneProps extends Size {
  readonly focused: boolean;
  readonly attention: Attention;
}

export interface PanesProps {
  readonly main: (pane: PaneProps) => ReactNode;
  readonly inspector?: (pane: PaneProps) => ReactNode;
}

export function Panes({ main, inspector }: PanesProps) {
  const { layout, focus, setHasInspector } = useShell();
  const hasInspector = inspector !== undefined;
  useLayoutEffect(() => setHasInspector(hasInspector), [setHasInspector, hasInspector]);
  return (
    <>
      {(['main', 'inspector'] as const).map(name => {
        const size = layout.panes[name];
        const render = name === 'main' ? main : inspector;
        if (!render || (!size && name === 'inspector')) return null;
        const first = name === 'main' ? !layout.panes.sections : !layout.panes.main;
        return (
          <Box key={name} flexShrink={0} display={size ? 'flex' : 'none'}>
            {first || !size ? null : <Separator height={size.height} />}
            <Pane size={size ?? unseen} focused={focus === name} render={render} />
          </Box>
        );
      })}
    </>
  );
}

/** The size that a main pane without room is given: it is not shown, but its state and its data stay alive. */
const unseen: Size = { width: 40, height: 10 };

function Pane({ size, focused, render }: { size: Size; focused: boolean; render: (pane: PaneProps) => ReactNode }) {
  return (
    <KeyScope active={focused}>
      <Box width={size.width} height={size.height} flexShrink={0} flexDirection="column" overflow="hidden">
        {render({ ...size, focused, attention: focused ? 'focused' : 'visible' })}
      </Box>
    </KeyScope>
  );
}

/** One column of rule between two panes. */
export function Separator({ height }: { height: number }) {
  const { styles, glyphs } = useTheme();
  return <Text>{Array.from({ length: height }, () => styles.border(glyphs.vertical)).join('\n')}</Text>;
}
