/** A run's reward distribution in a preview. */
import { hasEnded } from '../../../contract/status.ts';
import { extentOfRecord } from '../../../queries/run-extent.ts';
import { runResultsQuery } from '../../../queries/run-results.ts';
import type { MeasuredRun } from '../../../resources/measured-run.ts';
import { summariseRewards } from '../../../resources/run-outcome.ts';
import { usePreviewData } from '../../data/use-preview-data.ts';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import type { PreviewProps } from '../list/list-props.ts';
import { distributionLines } from './head.ts';

export function RunPreview({ row, box: { width, height }, rests }: PreviewProps<MeasuredRun>) {
  const theme = useTheme();
  const ended = hasEnded(row.status);
  // If there is no total, it is unknown whether the service reports one.
  const extent = row.total_rollouts == null ? undefined : extentOfRecord(row);
  const results = usePreviewData(runResultsQuery(row.eval_run_id, ended, { extent }), rests && ended);
  const { values } = summariseRewards(results?.rewards ?? []);
  const lines = values.length === 0 ? [] : ['', ...distributionLines(values, height, width, theme)];
  return <Lines lines={lines} width={width} height={height} />;
}
