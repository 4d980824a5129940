/** The list of sections on the left. */
import { Box, Text } from 'ink';
import { type Dispatch, useCallback } from 'react';
import { oldestCount } from '../../resources/section-counts.ts';
import { age } from '../../text/time.ts';
import { displayWidth, truncate } from '../../text/width.ts';
import type { Workbench } from '../../workbench/workbench.ts';
import { useListCount } from '../data/use-list.ts';
import { useSectionCount } from '../data/use-watched.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { listCommands } from '../keys/general.ts';
import { useMouseRegion } from '../keys/mouse-regions.tsx';
import { KeyScope } from '../keys/router.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { useTime } from './clock.tsx';
import type { Size } from './layout.ts';
import type { Registry, Section } from './registry.ts';
import { type ShellAction, type ShellState, sectionOf } from './shell-state.ts';

interface SectionsProps {
  readonly registry: Registry;
  readonly size: Size;
  readonly state: ShellState;
  readonly dispatch: Dispatch<ShellAction>;
}

export function Sections({ registry: { sections }, size, state, dispatch }: SectionsProps) {
  const focused = state.focus === 'sections';
  const { section: cursor } = state;
  const shown = sectionOf(state);
  const isWide = size.width >= wideFrom;
  const move = (by: number) => () => dispatch({ kind: 'move-section', by });
  const region = useMouseRegion({
    onWheel: by => dispatch({ kind: 'move-section', by: Math.sign(by) }),
    onClick: line => dispatch({ kind: 'open-section', section: line }),
  });
  return (
    <KeyScope
      active={focused}
      bindings={[
        { command: listCommands.up, run: move(-1) },
        { command: listCommands.down, run: move(1) },
        { command: listCommands.top, run: move(-sections.length) },
        { command: listCommands.bottom, run: move(sections.length) },
        { command: listCommands.open, run: () => dispatch({ kind: 'open-section' }) },
      ]}
    >
      <Box ref={region} width={size.width} height={size.height} flexDirection="column" flexShrink={0} overflow="hidden">
        {sections.slice(0, size.height).map((section, index) => (
          <SectionLine
            key={section.title}
            section={section}
            width={size.width}
            withAge={isWide}
            underCursor={focused && index === cursor}
            isShown={index === shown}
          />
        ))}
        {!isWide && size.height > sections.length + 1 ? (
          <CountAge section={focused ? sections[cursor] : undefined} />
        ) : null}
      </Box>
    </KeyScope>
  );
}

/** Minimum width at which each count shows its age. */
const wideFrom = 40;
/** Ages below a minute advance in steps of this size, because each change is sent to the terminal. */
const stepMs = 10_000;
const minuteMs = 60_000;

/** The age of a section's count; without a section, the age of the oldest overdue count. */
function ageOfCounts(workbench: Workbench, section: Section | undefined, now: number): string {
  const readAt = section
    ? section.listKey && workbench.lists.countOf(section.listKey)?.readAt
    : oldestCount(workbench, now);
  if (readAt === undefined) return '';
  const ms = now - readAt;
  const old = age(ms < minuteMs ? Math.floor(ms / stepMs) * stepMs : ms);
  return section ? `counted ${old} ago` : `oldest count ${old}`;
}

function CountAge({ section }: { readonly section: Section | undefined }) {
  const workbench = useWorkbench();
  const { styles } = useTheme();
  const words = useTime(useCallback(now => ageOfCounts(workbench, section, now), [workbench, section]));
  return <Text wrap="truncate">{`\n ${styles.muted(words)}`}</Text>;
}

interface SectionLineProps {
  readonly section: Section;
  readonly width: number;
  readonly withAge: boolean;
  readonly underCursor: boolean;
  readonly isShown: boolean;
}

/** Minimum width at which lines have a space on either side. */
const roomyWidth = 20;

function SectionLine({ section, width, withAge, underCursor, isShown }: SectionLineProps) {
  const workbench = useWorkbench();
  const { styles, glyphs } = useTheme();
  const space = width < roomyWidth ? '' : ' ';
  // The room between the marker and the end of the line.
  const besides = width - 1 - 2 * space.length;
  const listed = useListCount(section.listKey, besides - displayWidth(section.title) - 1);
  const counted = useSectionCount(section.count);
  const old = useTime(
    useCallback(now => (withAge ? ageOfCounts(workbench, section, now) : ''), [workbench, section, withAge]),
  );
  const count = [old, counted ?? listed ?? ''].filter(Boolean).join('  ');
  const marker = underCursor ? styles.selected(glyphs.marker) : ' ';
  const room = besides - displayWidth(count);
  const title = truncate(section.title, room);
  const gap = ' '.repeat(Math.max(0, room - displayWidth(title)));
  const name = isShown ? styles.selected(title) : title;
  return <Text wrap="truncate">{`${marker}${space}${name}${gap}${styles.muted(count)}${space}`}</Text>;
}
