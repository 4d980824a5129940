/** A chart's curves in words. */
import { pushAll } from '../../../base/many.ts';
import { teachingWords } from '../../../present/teaching.ts';
import { trainingCurveWords } from '../../../resources/training-words.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { wrap } from '../../../text/wrap.ts';
import { ReadingWindow, useReadingWidth } from '../../app/reading-window.tsx';
import { useWorkbench } from '../../data/workbench.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { chartCommands } from '../commands.ts';
import type { ChartedRun } from './charted-runs.ts';
import type { TeachingSignal } from './teaching-strip.ts';

interface CurveWordsWindowProps {
  readonly runs: readonly ChartedRun[];
  readonly teaching: TeachingSignal | undefined;
  readonly onClose: () => void;
}

export function CurveWordsWindow({ runs, teaching, onClose }: CurveWordsWindowProps) {
  const { compare } = useWorkbench();
  const { styles } = useTheme();
  const width = useReadingWidth();
  const lines = runs.flatMap(({ name, heldOut, trainer }, index) => [
    ...(index > 0 ? [{ text: '' }] : []),
    ...wrap(sanitiseLine(name), width).map(text => ({ text, style: styles.title })),
    ...trainingCurveWords(heldOut, trainer, compare.rewardRange).flatMap(line =>
      wrap(line, width).map(text => ({ text })),
    ),
  ]);
  const taught = teaching ? teachingWords(teaching.steps, teaching.known) : [];
  pushAll(
    lines,
    taught.flatMap(line => wrap(line, width).map(text => ({ text }))),
  );
  return <ReadingWindow title="Curves in words" lines={lines} opener={chartCommands.words} onClose={onClose} />;
}
