/** The columns for tasks, with rewards drawn as a strip. */
import type { Column } from '../../../present/column.ts';
import type { TaskGroup } from '../../../present/task-groups.ts';
import { groupColumns, spreadWidth } from '../../../resources/task-groups.ts';
import { sparkline } from '../../../text/sparkline.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

/** Maximum number of marks for failed rollouts, and for those without a reward. */
const maxMarks = 3;

/** The rewards as levels, lowest first; then, for each rollout without one, a cross if it failed, else a circle. */
function rewardStrip({ scores, failedUnscored: failed, unlisted, unscored }: TaskGroup, theme: Theme): string {
  const { cross, circle, levels } = theme.glyphs;
  const marks = cross.repeat(Math.min(maxMarks, failed)) + circle.repeat(Math.min(maxMarks, unscored + unlisted));
  return sparkline(scores, spreadWidth - marks.length, levels) + marks;
}

export const drawnColumns = (theme: Theme): readonly Column<TaskGroup>[] =>
  groupColumns(group => rewardStrip(group, theme), theme.glyphs.levels);
