/** A task's rewards over the training steps. */

import { curveOf } from '../../../base/curve.ts';
import type { StepScores, TaskGroup } from '../../../present/task-groups.ts';
import { truncate } from '../../../text/width.ts';
import type { Size } from '../../app/layout.ts';
import { drawChart } from '../../widgets/line-chart/chart.ts';
import { Lines } from '../../widgets/lines.tsx';
import { type Theme, useTheme } from '../../widgets/theme/theme.tsx';
import type { PreviewProps } from '../list/list-props.ts';

const maxLines = 14;
const minLines = 4;

/** The mean reward at each step, between the lowest and the highest, with a caption above. */
export function rewardChart(
  rows: readonly StepScores[],
  { width, height }: Size,
  theme: Theme,
  step?: number,
): readonly string[] {
  const lines = Math.min(maxLines, height);
  if (rows.length < 2 || lines < minLines) return [];
  const curve = (of: (row: StepScores) => number | undefined) => curveOf(rows, row => row.step, of);
  const series = {
    name: 'mean reward',
    curve: curve(row => row.mean),
    band: { low: curve(row => row.scores[0]), high: curve(row => row.scores.at(-1)) },
  };
  const words = theme.styles.muted(truncate('mean reward by step, between the lowest and the highest', width));
  return [words, ...drawChart([series], { width, height: lines - 1, theme, crosshair: step }).lines];
}

export function StepsPreview({ row: { stepScores = [] }, box: { width, height } }: PreviewProps<TaskGroup>) {
  const theme = useTheme();
  const chart = rewardChart(stepScores, { width, height: height - 2 }, theme);
  const lines = chart.length === 0 ? [] : ['', theme.styles.header('REWARD BY STEP'), ...chart];
  return <Lines lines={lines} width={width} height={height} />;
}
