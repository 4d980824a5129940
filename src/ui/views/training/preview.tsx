/** A training run's curves in a preview. */
import { hasEnded } from '../../../contract/status.ts';
import { emptyCurve } from '../../../contract/trainer-curve.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../../queries/training-curves.ts';
import type { MeasuredTraining } from '../../../resources/training-columns.ts';
import { useAhead } from '../../data/use-ahead.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import type { PreviewProps } from '../list/list-props.ts';
import { previewLines } from './curve-lines.ts';
import { curveSeries } from './curves.ts';

export function TrainingPreview({
  row,
  box: { width, height },
  rests,
}: PreviewProps<Pick<MeasuredTraining, 'training_run_id' | 'status'>>) {
  const theme = useTheme();
  const { rewardRange: range } = useWorkbench().compare;
  const { training_run_id: id } = row;
  const ended = hasEnded(row.status);
  const heldOut = useAhead(heldOutRewardsQuery(id, ended), rests && ended) ?? [];
  const trainer = useAhead(trainerRewardsQuery(id, ended), rests && ended) ?? emptyCurve;
  const series = curveSeries({ heldOut, trainer }, { smoothing: 0, range });
  const curves = previewLines(series, { width, height: height - 1, theme, isGrowing: !ended });
  return <Lines lines={curves.length === 0 ? [] : ['', ...curves]} width={width} height={height} />;
}
