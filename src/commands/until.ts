/** `--until`: judges an evaluation's end by its rewards, if the service reports no status. */

import type { QueryContext } from '../queries/query-context.ts';
import { meanOfRewards, readTrajectoryRewards } from '../queries/run-rewards.ts';
import { isGone } from '../service/errors.ts';
import { CommandError } from './exit.ts';

export interface Until {
  /** As the user wrote it. */
  readonly words: string;
  /** The run counts as ended once it has this many rewards… */
  readonly rewards?: number;
  /** …or once it has a reward, and no reward or statistic has arrived for this many milliseconds. */
  readonly quietMs?: number;
}

const unitMs = new Map([
  ['', 1_000],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** Reads `rewards=10` or `quiet=60s`. @throws CommandError */
export function parseUntil(words: string): Until {
  const [, rewards, quiet, unit = ''] = /^(?:rewards=(\d{1,9})|quiet=(\d{1,6})([smh]?))$/.exec(words) ?? [];
  const count = Number(rewards ?? quiet ?? 0);
  if (count === 0) throw new CommandError(`--until takes rewards=N or quiet=60s, at least 1, not ${words}.`);
  return rewards === undefined ? { words, quietMs: count * (unitMs.get(unit) ?? 1_000) } : { words, rewards: count };
}

/** An evaluation's state, as the contract's endpoints report it. */
export interface RewardsRead {
  /** How many rewards are numbers. */
  readonly graded: number;
  readonly mean: number | undefined;
  /** Changes with every reward, and with every snapshot of the statistics. */
  readonly state: string;
}

/** Reads an evaluation's rewards, and how many snapshots its statistics have. @throws ServiceError */
export async function readRewards(runId: string, context: QueryContext): Promise<RewardsRead> {
  const { service, signal } = context;
  const params = { eval_run_id: runId };
  const [listed, snapshots] = await Promise.all([
    readTrajectoryRewards(runId, context),
    service.call('getRolloutStatistics', { params }, { signal }).then(
      answer => answer.snapshots.length,
      (error: unknown) => {
        // Statistics may appear later than the run.
        if (!isGone(error)) throw error;
        return 0;
      },
    ),
  ]);
  const { mean, rewards: graded } = meanOfRewards(listed);
  return { graded, mean, state: `${listed.length} ${graded} ${snapshots}` };
}

/** Decides after each reading whether a run has ended. */
export class UntilJudge {
  readonly #until: Until;
  #state: string | undefined;
  /** When the state last changed, by `performance.now`. */
  #since = 0;

  constructor(until: Until) {
    this.#until = until;
  }

  isMet({ graded, state }: RewardsRead): boolean {
    const { rewards, quietMs } = this.#until;
    const now = performance.now();
    if (state !== this.#state) [this.#state, this.#since] = [state, now];
    if (rewards !== undefined) return graded >= rewards;
    return quietMs !== undefined && graded > 0 && now - this.#since >= quietMs;
  }
}
