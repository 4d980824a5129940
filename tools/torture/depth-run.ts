/** Runs pseudo-terminal sessions in parallel, and sums up their results. */
import { type DepthResult, depthSession } from './depth.ts';
import type { Failure } from './judge.ts';
import type { Purpose } from './shares.ts';
import type { World } from './world.ts';

export interface DepthGoal {
  readonly world: World;
  readonly seed: string;
  readonly purpose: Purpose;
  readonly sessions: number;
  /** Of a session. */
  readonly keys: number;
  /** Sessions in parallel. */
  readonly workers: number;
  readonly onFailure: (failure: Failure) => void;
  readonly onProgress: (words: string) => void;
}

export interface DepthCounts {
  readonly sessions: number;
  readonly keys: number;
  readonly mutated: number;
  readonly typed: number;
  /** How the sessions ended, with counts. */
  readonly endings: string;
  /** Milliseconds from a signal to the end of the process: median, 95 %, maximum. */
  readonly endMs: readonly number[];
  /** The largest resident memory of a session, in bytes. */
  readonly memory: number;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function sum(results: readonly DepthResult[], of: (result: DepthResult) => number): number {
  return results.reduce((total, result) => total + of(result), 0);
}

export async function runDepth(goal: DepthGoal): Promise<DepthCounts> {
  const { world, seed, purpose, sessions, keys, workers, onFailure, onProgress } = goal;
  const results: DepthResult[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < sessions) {
      begun += 1;
      const result = await depthSession({ world, seed: `${seed}-${begun}`, keys, purpose });
      results.push(result);
      for (const failure of result.failures) onFailure(failure);
      if (results.length % 10 === 0) {
        onProgress(`${results.length} sessions, ${sum(results, ({ failures }) => failures.length)} failures`);
      }
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  const endings = Map.groupBy(results, ({ ending }) => ending);
  const bySignal = results.filter(({ ending }) => ending.startsWith('SIG')).map(({ endMs }) => endMs);
  return {
    sessions: results.length,
    keys: sum(results, ({ keys }) => keys),
    mutated: sum(results, ({ mutated }) => mutated),
    typed: sum(results, ({ typed }) => typed),
    endings: [...endings].map(([ending, ended]) => `${ending} ${ended.length}`).join(', '),
    endMs: [quantile(bySignal, 0.5), quantile(bySignal, 0.95), Math.max(0, ...bySignal)],
    memory: Math.max(0, ...results.map(({ memory }) => memory)),
  };
}
