/** How fast a training run gets on, from when its steps were seen. Pure. */
import { duration } from '../text/time.ts';
import type { ProgressPoint } from './remembered/store.ts';

export interface Pace {
  /** Milliseconds of a step, over the last minutes; undefined before two different counts were seen. */
  readonly stepMs: number | undefined;
  /** When the count changed last; epoch milliseconds. */
  readonly changedAt: number | undefined;
}

/** What lies further back says little of how fast it goes now. */
const windowMs = 10 * 60_000;

export function paceOf(points: readonly ProgressPoint[], now: number): Pace {
  const last = points.at(-1);
  const recent = points.filter(({ at }) => last !== undefined && last.at - at <= windowMs);
  const [first] = recent;
  const steps = (last?.completed_steps ?? 0) - (first?.completed_steps ?? 0);
  const elapsed = (last?.at ?? now) - (first?.at ?? now);
  return { stepMs: steps > 0 && elapsed > 0 ? elapsed / steps : undefined, changedAt: last?.at };
}

/** In words: rate and time left while it runs, and when something changed last. No guess before the first steps. */
export function paceWords(
  { stepMs, changedAt }: Pace,
  completed: number | null | undefined,
  total: number | null | undefined,
  now: number,
): string {
  const parts: string[] = [];
  if (stepMs !== undefined) {
    parts.push(stepMs < 1_000 ? `${(1_000 / stepMs).toFixed(1)} steps/s` : `${duration(stepMs)} a step`);
    if (total != null && completed != null && completed > 0 && completed < total) {
      parts.push(`about ${duration((total - completed) * stepMs)} left`);
    }
  }
  if (changedAt !== undefined && now - changedAt > 15_000) parts.push(`no new step for ${duration(now - changedAt)}`);
  return parts.join('  ');
}
