/** Rollout statistics as lines: one per stage and knob, over all snapshots. Pure. */

import { maxOf } from '../../../base/many.ts';
import { type Summary, summarise } from '../../../base/statistics.ts';
import type { RolloutSnapshot } from '../../../contract/evaluations.ts';
import { count, countOf, reward } from '../../../text/numbers.ts';
import { clean, sanitiseLine } from '../../../text/sanitise.ts';
import { displayWidth, fitCells, padStart, truncate } from '../../../text/width.ts';
import { wrap } from '../../../text/wrap.ts';
import type { Theme } from '../../widgets/theme/theme.tsx';

interface KnobStatistics {
  readonly stage: string;
  readonly knob: string;
  readonly unit: string;
  readonly summary: Summary | undefined;
  /** The number of samples that the service counts; it may not send the value of each. */
  readonly total: number;
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
      total: group.reduce((sum, each) => sum + Math.max(countOf(each.sample_count) ?? 0, each.samples?.length ?? 0), 0),
      means: group.flatMap(snapshot => summarise(snapshot.samples ?? [])?.mean ?? []),
    };
  });
}

const numberWidth = 8;
const heads = ['COUNT', 'MEAN', 'P50', 'P95'] as const;

/** `5 of 6` if only some samples have a value. */
function describeCounts({ summary, total }: KnobStatistics): string {
  const known = summary?.count ?? 0;
  return known === total ? count(known) : `${count(known)} of ${count(total)}`;
}

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
  const texts = statistics.map(each => {
    const { mean, p50, p95 } = each.summary ?? {};
    return [describeCounts(each), reward(mean), reward(p50), reward(p95)];
  });
  const widths = heads.map((_, index) => maxOf([numberWidth, ...texts.map(each => (each[index] ?? '').length + 2)]));
  const cells = (row: readonly string[]): string =>
    row.map((text, index) => padStart(text, widths[index] ?? 0)).join('');
  const rows = statistics.map(({ stage, knob, unit }, index) => ({
    name: `${stage} ${knob}${unit ? ` (${unit})` : ''}`,
    numbers: cells(texts[index] ?? []),
  }));
  const head = cells(heads);
  const room = width - head.length;
  if (rows.every(({ name }) => displayWidth(name) <= room)) {
    return [
      styles.header(fitCells('STATISTICS', room) + head),
      ...rows.map(({ name, numbers }) => fitCells(name, room) + numbers),
    ];
  }
  const numbersBelow = rows.flatMap(({ name, numbers }) => [truncate(name, width), fitCells(numbers, width, 'right')]);
  return [styles.header('STATISTICS'), styles.muted(fitCells(head, width, 'right')), ...numbersBelow];
}
