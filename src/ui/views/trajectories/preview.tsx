/** The end of a trajectory next to a list: its last lines, its rewards with their explanations, and its error. */
import { useMemo } from 'react';
import { isRunning } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { trajectoryDetails } from '../../../present/trajectory-details.ts';
import { endLines } from '../../../present/transcript-lines.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { counted } from '../../../text/numbers.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { truncate } from '../../../text/width.ts';
import { usePreviewData } from '../../data/use-preview-data.ts';
import { tableCommands } from '../../keys/general.ts';
import { useKeyOf } from '../../keys/router.tsx';
import { factLines } from '../../widgets/facts.ts';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import type { PreviewProps } from '../list/list-props.ts';
import { drawnLine } from './line-style.ts';

/** A trajectory with more steps may be tens of megabytes, too large for a preview. */
export const maxSteps = 500;
/** Minimum lines for the end of a trajectory. */
const minLines = 4;
/** With fewer lines, there are neither gaps nor group titles. */
const roomyLines = 10;

export function TrajectoryPreview({ row, box, rests }: PreviewProps<Trajectory>) {
  const theme = useTheme();
  const keyOf = useKeyOf();
  const { width, height } = box;
  const steps = row.num_steps ?? 0;
  const isLong = steps > maxSteps;
  const whole = usePreviewData(
    trajectoryQuery(row.trajectory_id),
    rests && height >= minLines && !isLong && !isRunning(row.status),
  );
  const lines = useMemo(() => {
    if (height < minLines) return [];
    const { header, muted, danger } = theme.styles;
    if (!whole) return isLong ? ['', muted(`${counted(steps, 'step')}: ${keyOf(tableCommands.open)} reads them`)] : [];
    const isTight = height < roomyLines;
    const gap = isTight ? [] : [''];
    // If there is more room, the row's facts are beside it.
    const rewards = row.rewards && !isTight ? [] : trajectoryDetails(whole).filter(({ group }) => group === 'Rewards');
    const facts = isTight ? rewards.map(({ label, value }) => ({ label, value })) : rewards;
    const graded = factLines(facts, width, theme).slice(0, Math.floor(height / (isTight ? 3 : 2)));
    const failure = whole.error ? [danger(truncate(sanitiseLine(whole.error), width))] : [];
    const room = height - gap.length - 1;
    const all = endLines(whole, width, room);
    const isSaid = all.some(({ kind }) => kind === 'error');
    const after = [...graded, ...(isSaid ? [] : failure)];
    const end = all.slice(Math.max(0, all.length + after.length - room));
    return [...gap, header('END'), ...end.map(line => drawnLine(line, width, theme.styles)), ...after];
  }, [whole, row.rewards, isLong, steps, width, height, theme, keyOf]);
  return <Lines lines={lines} width={width} height={height} />;
}
