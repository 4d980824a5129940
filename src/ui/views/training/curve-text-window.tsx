/** A chart's curves in words. */
import { pushAll } from '../../../base/many.ts';
import { describeTeaching } from '../../../present/teaching.ts';
import { describeTrainingCurves } from '../../../resources/describe-training-curves.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { ReadingWindow, useReadingWidth } from '../../app/reading-window.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { chartCommands } from '../commands.ts';
import type { ChartedRun } from './charted-runs.ts';
import type { TeachingSignal } from './teaching-strip.ts';

interface CurveTextWindowProps {
  readonly runs: readonly ChartedRun[];
  readonly teaching: TeachingSignal | undefined;
  readonly onClose: () => void;
}

export function CurveTextWindow({ runs, teaching, onClose }: CurveTextWindowProps) {
  const { compare } = useWorkbench();
  const { styles } = useTheme();
  const width = useReadingWidth();
  const lines = runs.flatMap(({ name, heldOut, trainer }, index) => [
    ...(index > 0 ? [{ text: '' }] : []),
    ...wrap(sanitiseLine(name), width).map(text => ({ text, style: styles.title })),
    ...describeTrainingCurves(heldOut, trainer, compare.rewardRange).flatMap(line =>
      wrap(line, width).map(text => ({ text })),
    ),
  ]);
  const taught = teaching ? describeTeaching(teaching.steps, teaching.known) : [];
  pushAll(
    lines,
    taught.flatMap(line => wrap(line, width).map(text => ({ text }))),
  );
  return <ReadingWindow title="Curves in words" lines={lines} opener={chartCommands.words} onClose={onClose} />;
}
