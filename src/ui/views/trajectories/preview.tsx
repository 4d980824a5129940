/** The end of a trajectory in the inspector of a list: its rewards with their explanations, and its last lines. */
import { useMemo } from 'react';
import { isRunning } from '../../../contract/status.ts';
import type { Trajectory } from '../../../contract/trajectories.ts';
import { trajectoryDetails } from '../../../present/trajectory-details.ts';
import { endLines } from '../../../present/transcript-lines.ts';
import { trajectoryQuery } from '../../../queries/trajectories.ts';
import { counted } from '../../../text/numbers.ts';
import { useAhead } from '../../data/use-ahead.ts';
import { tableCommands } from '../../keys/general.ts';
import { useKeyOf } from '../../keys/router.tsx';
import { factLines } from '../../widgets/facts.ts';
import { Lines } from '../../widgets/lines.tsx';
import { useTheme } from '../../widgets/theme/theme.tsx';
import type { PreviewProps } from '../list/list-props.ts';
import { drawnLine } from './line-style.ts';

/** A trajectory of more steps may be tens of megabytes, too large for a preview. */
const mostSteps = 500;
/** Minimum lines for the end of a trajectory. */
const leastLines = 4;

export function TrajectoryPreview({ row, box, rests }: PreviewProps<Trajectory>) {
  const theme = useTheme();
  const keyOf = useKeyOf();
  const { width, height } = box;
  const steps = row.num_steps ?? 0;
  const isLong = steps > mostSteps;
  const whole = useAhead(
    trajectoryQuery(row.trajectory_id),
    rests && height >= leastLines && !isLong && !isRunning(row.status),
  );
  const lines = useMemo(() => {
    if (height < leastLines) return [];
    const { header, muted } = theme.styles;
    if (!whole) return isLong ? ['', muted(`${counted(steps, 'step')}: ${keyOf(tableCommands.open)} reads them`)] : [];
    const rewards = row.rewards ? [] : trajectoryDetails(whole).filter(({ group }) => group === 'Rewards');
    const graded = factLines(rewards, width, theme).slice(0, Math.floor(height / 2));
    const end = endLines(whole, width, height - graded.length - 2);
    return [...graded, '', header('END'), ...end.map(line => drawnLine(line, width, theme.styles))];
  }, [whole, row.rewards, isLong, steps, width, height, theme, keyOf]);
  return <Lines lines={lines} width={width} height={height} />;
}
