/** Rollout statistics as lines: one per stage and knob, over all snapshots. Pure. */

import { type Summary, summarise } from '../../../base/statistics.ts';
import type { RolloutSnapshot } from '../../../contract/evaluations.ts';
import { count, reward } from '../../../text/numbers.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, padStart, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

export interface KnobStatistics {
  readonly stage: string;
  readonly knob: string;
  readonly unit: string;
  readonly summary: Summary | undefined;
  /** Each snapshot's mean, oldest first. */
  readonly means: readonly number[];
}

/** Groups the snapshots by stage and knob, in the order they appear. */
export function knobStatistics(snapshots: readonly RolloutSnapshot[]): KnobStatistics[] {
  const ordered = [...snapshots].sort((left, right) => (left.created_at ?? '').localeCompare(right.created_at ?? ''));
  const groups = new Map<string, RolloutSnapshot[]>();
  for (const snapshot of ordered) {
    const key = JSON.stringify([snapshot.stage, snapshot.knob_name, snapshot.unit]);
    groups.set(key, [...(groups.get(key) ?? []), snapshot]);
  }
  return [...groups.values()].map(group => {
    const samples = group.flatMap(snapshot => snapshot.samples ?? []);
    return {
      stage: sanitiseLine(group[0]?.stage ?? ''),
      knob: sanitiseLine(group[0]?.knob_name ?? ''),
      unit: sanitiseLine(group[0]?.unit ?? ''),
      summary: summarise(samples),
      means: group.flatMap(snapshot => summarise(snapshot.samples ?? [])?.mean ?? []),
    };
  });
}

const numberWidth = 8;

/**
 * A heading and a line for each knob: count, mean, p50, p95. Names get their own line if there is no room. An error
 * replaces everything.
 */
export function statisticsLines(
  statistics: readonly KnobStatistics[],
  width: number,
  { styles }: Theme,
  error?: string,
): string[] {
  if (error !== undefined) {
    const words = wrap(clean`no statistics: ${error}`, width);
    return words.map(line => styles.muted(line));
  }
  if (statistics.length === 0) return [styles.muted('no statistics yet')];
  const cells = (texts: readonly string[]): string => texts.map(text => fitCells(text, numberWidth, 'right')).join('');
  const rows = statistics.map(({ stage, knob, unit, summary }) => ({
    name: `${stage} ${knob}${unit ? ` (${unit})` : ''}`,
    numbers: cells([count(summary?.count ?? 0), reward(summary?.mean), reward(summary?.p50), reward(summary?.p95)]),
  }));
  const heads = cells(['COUNT', 'MEAN', 'P50', 'P95']);
  const room = width - heads.length;
  if (rows.every(({ name }) => displayWidth(name) <= room)) {
    const head = styles.header(fitCells('STATISTICS', room) + heads);
    return [head, ...rows.map(({ name, numbers }) => fitCells(name, room) + numbers)];
  }
  const numbersBelow = rows.flatMap(({ name, numbers }) => [truncate(name, width), padStart(numbers, width)]);
  return [styles.header('STATISTICS'), styles.muted(padStart(heads, width)), ...numbersBelow];
}
