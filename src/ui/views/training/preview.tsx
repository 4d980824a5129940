/** A training run's curves in a preview, with the audit's finding. */
import { hasEnded } from '../../../contract/status.ts';
import { emptyCurve } from '../../../contract/trainer-curve.ts';
import { finishedSteps } from '../../../queries/statuses/known-resource.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../../../queries/training-curves.ts';
import { hintOfCurves } from '../../../resources/audit.ts';
import type { MeasuredTraining } from '../../../resources/training-columns.ts';
import { wrap } from '../../../text/wrap.ts';
import { usePreviewData } from '../../data/use-preview-data.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import { listCommands } from '../../keys/general.ts';
import { useKeyOf } from '../../keys/router.tsx';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { teachingCommands } from '../commands.ts';
import type { PreviewProps } from '../list/list-props.ts';
import { previewLines } from './curve-lines.ts';
import { curveSeries } from './curves.ts';

/** Returns a function that names a finding in a run's curves, and the key of the run's view that shows all of them. */
export function useDescribeHint(): (hint: string | undefined) => string | undefined {
  const keyOf = useKeyOf();
  return hint => hint && `${hint} (<${keyOf(listCommands.open)}> <${keyOf(teachingCommands.audit)}> reads more)`;
}

export function TrainingPreview({
  row,
  box: { width, height },
  rests,
}: PreviewProps<Pick<MeasuredTraining, 'training_run_id' | 'status'>>) {
  const theme = useTheme();
  const describeHint = useDescribeHint();
  const { statuses, compare } = useWorkbench();
  const { rewardRange: range } = compare;
  const { training_run_id: id } = row;
  const ended = hasEnded(row.status);
  const known = statuses.get({ kind: 'training', id });
  const heldOut = usePreviewData(heldOutRewardsQuery(id, ended), rests && ended);
  const trainer = usePreviewData(trainerRewardsQuery(id, ended, known && finishedSteps(known)), rests && ended, true);
  const hint = ended ? describeHint(hintOfCurves(trainer, heldOut, range)) : undefined;
  const hints = hint === undefined ? [] : wrap(`audit: ${hint}`, width).map(theme.styles.warning);
  const series = curveSeries({ heldOut: heldOut ?? [], trainer: trainer ?? emptyCurve }, { smoothing: 0, range });
  const room = { width, height: height - 1 - hints.length };
  const curves = previewLines(series, { ...room, theme, isGrowing: !ended });
  const lines = [...hints, ...curves];
  return <Lines lines={lines.length === 0 ? [] : ['', ...lines]} width={width} height={height} />;
}
