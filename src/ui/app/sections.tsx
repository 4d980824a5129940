/** The list of sections at the left. */
import { Box, Text } from 'ink';
import type { Dispatch } from 'react';
import { useListCount } from '../../queries/use-workbench.ts';
import { displayWidth, truncate } from '../../text/width.ts';
import { listCommands } from '../keys/general.ts';
import { useMouseRegion } from '../keys/mouse-regions.tsx';
import { KeyScope } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import type { Size } from './layout.ts';
import type { Section } from './registry.ts';
import type { ShellAction } from './shell-state.ts';

export interface SectionsProps {
  readonly sections: readonly Section[];
  readonly size: Size;
  readonly focused: boolean;
  readonly cursor: number;
  /** Index of the section that is shown; -1 for none. */
  readonly shown: number;
  readonly dispatch: Dispatch<ShellAction>;
}

export function Sections({ sections, size, focused, cursor, shown, dispatch }: SectionsProps) {
  const move = (by: number) => () => dispatch({ kind: 'move-section', by });
  const region = useMouseRegion({
    onWheel: by => dispatch({ kind: 'move-section', by: Math.sign(by) }),
    onClick: line => {
      dispatch({ kind: 'open-section', section: line });
    },
  });
  return (
    <KeyScope
      active={focused}
      bindings={[
        { command: listCommands.up, run: move(-1) },
        { command: listCommands.down, run: move(1) },
        { command: listCommands.top, run: move(-sections.length) },
        { command: listCommands.bottom, run: move(sections.length) },
        {
          command: listCommands.open,
          run: () => dispatch({ kind: 'open-section' }),
        },
      ]}
    >
      <Box ref={region} width={size.width} height={size.height} flexDirection="column" flexShrink={0} overflow="hidden">
        {sections.slice(0, size.height).map((section, index) => (
          <SectionLine
            key={section.title}
            section={section}
            width={size.width}
            underCursor={focused && index === cursor}
            isShown={index === shown}
          />
        ))}
      </Box>
    </KeyScope>
  );
}

interface SectionLineProps {
  readonly section: Section;
  readonly width: number;
  readonly underCursor: boolean;
  readonly isShown: boolean;
}

const useNoCount = (): undefined => undefined;

function SectionLine({ section, width, underCursor, isShown }: SectionLineProps) {
  const { styles, glyphs } = useTheme();
  const listed = useListCount(section.listKey);
  const counted = (section.useCount ?? useNoCount)();
  const count = counted ?? listed ?? '';
  const marker = underCursor ? styles.selected(glyphs.marker) : ' ';
  const room = width - 3 - displayWidth(count);
  const title = truncate(section.title, room);
  const gap = ' '.repeat(Math.max(0, room - displayWidth(title)));
  return (
    <Text wrap="truncate">{`${marker} ${isShown ? styles.selected(title) : title}${gap}${styles.muted(count)} `}</Text>
  );
}
