/** A view's whole screen: the frame, the sections, the main pane and, if there is room, the inspector. */
import { Box, Text } from 'ink';
import { memo, type ReactNode, useCallback, useEffect } from 'react';
import type { Freshness } from '../../queries/freshness.ts';
import type { Attention } from '../../queries/polling.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { AnyJob } from '../../workbench/jobs.ts';
import { useUploads } from '../data/use-uploads.ts';
import { useExports, useFile, useWorkbench } from '../data/workbench.tsx';
import { useMouseRegion } from '../keys/mouse-regions.tsx';
import { type Binding, KeyScope } from '../keys/router.tsx';
import { useMemory } from '../navigation/memory.tsx';
import { useTheme } from '../widgets/theme/theme.tsx';
import { useTime } from './clock.tsx';
import {
  describeExports,
  describeFreshness,
  describeFreshnessShort,
  describeUploads,
  freshnessMark,
  titleLine,
} from './frame-lines.ts';
import { frameLines, type PaneName, type Size } from './layout.ts';
import { useRunningCount } from './notices.tsx';
import { useShell } from './shell-context.tsx';

/** The state of one of the view's panes. */
export interface Pane extends Size {
  readonly shown: boolean;
  readonly focused: boolean;
  readonly attention: Attention;
}

/** The size given to a hidden pane: it is not drawn, but keeps its state and data. */
const hiddenSize: Size = { width: 40, height: 10 };

export function usePane(name: Exclude<PaneName, 'sections'>): Pane {
  const { layout, focus } = useShell();
  const size = layout.panes[name];
  const focused = focus === name;
  return { ...(size ?? hiddenSize), shown: size !== undefined, focused, attention: focused ? 'focused' : 'visible' };
}

interface ViewContent {
  readonly main: ReactNode;
  readonly inspector?: ReactNode;
  /** Bindings for both panes. */
  readonly bindings?: readonly Binding[];
  /** The main pane's freshness; shown in the frame. */
  readonly freshness?: Freshness | undefined;
}

const noBindings: readonly Binding[] = [];

/** The whole screen around a view's content. The view passes its freshness and bindings as values. */
export function View({ main, inspector, bindings = noBindings, freshness }: ViewContent) {
  const { layout, focus, setFocus, sections, foot } = useShell();
  const [left, leave] = useMemory<PaneName | undefined>('pane left');
  const { columns, rows, panes } = layout;
  const mainPane = usePane('main');
  const inspectorPane = usePane('inspector');
  // When the user comes back, focus the pane that they left.
  useEffect(() => {
    leave(undefined);
    if (left !== undefined) setFocus(left);
  }, [left, leave, setFocus]);
  return (
    <Box width={columns} height={rows} flexDirection="column" overflow="hidden">
      <FrameTitle columns={columns} freshness={freshness} />
      <Box height={rows - frameLines} flexShrink={0}>
        <Separator height={rows - frameLines} />
        {sections}
        <KeyScope active={focus !== 'sections'} bindings={bindings}>
          <PaneBox pane={mainPane} separated={panes.sections !== undefined} onFocus={() => setFocus('main')}>
            {main}
          </PaneBox>
          {inspectorPane.shown ? (
            <PaneBox pane={inspectorPane} separated={mainPane.shown} onFocus={() => setFocus('inspector')}>
              {inspector}
            </PaneBox>
          ) : null}
        </KeyScope>
        <Separator height={rows - frameLines} />
      </Box>
      {foot}
    </Box>
  );
}

interface PaneBoxProps {
  readonly pane: Pane;
  readonly separated: boolean;
  readonly onFocus: () => void;
  readonly children: ReactNode | undefined;
}

function PaneBox({ pane, separated, onFocus, children }: PaneBoxProps) {
  const region = useMouseRegion({ onClick: onFocus });
  return (
    <Box flexShrink={0} display={pane.shown ? 'flex' : 'none'}>
      {separated ? <Separator height={pane.height} /> : null}
      <KeyScope active={pane.focused}>
        <Box
          ref={region}
          width={pane.width}
          height={pane.height}
          flexShrink={0}
          flexDirection="column"
          overflow="hidden"
        >
          {children}
        </Box>
      </KeyScope>
    </Box>
  );
}

/** The one-column rule between two panes. */
export const Separator = memo(({ height }: { readonly height: number }) => {
  const { styles, glyphs } = useTheme();
  return <Text>{Array.from({ length: height }, () => styles.border(glyphs.vertical)).join('\n')}</Text>;
});
Separator.displayName = 'Separator';

const describeUploadsShort = (jobs: readonly AnyJob[]): string => describeUploads(jobs, true);

/** The top border: the profile and the freshness. */
function FrameTitle({ columns, freshness }: { columns: number; freshness: Freshness | undefined }) {
  const { profile, readOnly } = useWorkbench();
  const title = useFile('title') ?? profile;
  const theme = useTheme();
  const running = useRunningCount();
  const long = useFreshness(freshness, describeFreshness);
  const short = useFreshness(freshness, describeFreshnessShort);
  const mark = useFreshness(
    freshness,
    useCallback((current, now) => freshnessMark(current, now, theme), [theme]),
  );
  const exporting = describeExports(useExports());
  const counted = running > 0 ? `${running} running` : '';
  const uploading = useUploads(describeUploads);
  const shortUploading = useUploads(describeUploadsShort);
  const words = [
    [long, counted, exporting, uploading],
    [short, counted, exporting, shortUploading],
  ].map(each => each.filter(Boolean).join(` ${theme.glyphs.bullet} `));
  const name = `${sanitiseLine(title)}${readOnly ? ' (read-only)' : ''}`;
  const titles = [`benchtop ${theme.glyphs.horizontal}${theme.glyphs.horizontal} ${name}`, name];
  return <Text wrap="truncate">{titleLine(columns, titles, words, mark, theme)}</Text>;
}

/** The value that `words` derives from the freshness; the caller is redrawn only when it changes. */
function useFreshness(freshness: Freshness | undefined, words: (freshness: Freshness, now: number) => string): string {
  return useTime(useCallback(now => (freshness ? words(freshness, now) : ''), [freshness, words]));
}
