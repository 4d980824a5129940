/** Runs in-process sessions in worker processes until enough keys and answers have been tried. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SessionCounts } from './breadth.ts';
import type { SessionOrder } from './breadth-worker.ts';
import type { Failure } from './judge.ts';
import type { Purpose } from './shares.ts';
import type { World } from './world.ts';

export interface BreadthGoal {
  readonly world: World;
  readonly seed: string;
  readonly purpose: Purpose;
  readonly keys: number;
  /** Mutated answers. */
  readonly answers: number;
  readonly workers: number;
  readonly onFailure: (failure: Failure) => void;
  readonly onProgress: (counts: BreadthCounts) => void;
}

export interface BreadthCounts {
  sessions: number;
  keys: number;
  answers: number;
  mutated: number;
  typed: number;
  failures: number;
}

const keysOfSession = 1_200;
/** A session that takes longer for one batch of inputs hangs. */
const hangMs = 300_000;
const workerPath = fileURLToPath(new URL('breadth-worker.ts', import.meta.url));

/** The next message of a worker; rejects if it exits, or is silent for too long. */
function hear(worker: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      worker.off('message', heard).off('exit', ended);
    };
    const heard = (message: unknown): void => {
      if (message === 'progress') {
        timer.refresh();
        return;
      }
      done();
      resolve(message);
    };
    const ended = (code: number | null, signal: string | null): void => {
      done();
      reject(new Error(`the process ended with ${signal ?? code}`));
    };
    const timer = setTimeout(() => {
      done();
      worker.kill('SIGKILL');
      reject(new Error('the process hangs'));
    }, hangMs);
    worker.on('message', heard).on('exit', ended);
  });
}

/** React in its production and its development build: the one is faster, the other reports more errors. */
const kinds = ['production', 'development'] as const;

async function start(index: number, { data }: World): Promise<ChildProcess> {
  const env = { ...process.env, NODE_ENV: kinds[index % kinds.length], TORTURE_DATA: data };
  const worker = fork(workerPath, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await hear(worker);
  return worker;
}

export async function runBreadth(goal: BreadthGoal): Promise<BreadthCounts> {
  const counts: BreadthCounts = { sessions: 0, keys: 0, answers: 0, mutated: 0, typed: 0, failures: 0 };
  const isDone = (): boolean => counts.keys >= goal.keys && counts.mutated >= goal.answers;
  let begun = 0;
  const add = ({ keys, answers, mutated, typed, failures }: SessionCounts): void => {
    counts.sessions += 1;
    counts.keys += keys;
    counts.answers += answers;
    counts.mutated += mutated;
    counts.typed += typed;
    counts.failures += failures.length;
    for (const failure of failures) goal.onFailure(failure);
    goal.onProgress(counts);
  };
  const work = async (_: unknown, index: number): Promise<void> => {
    let worker = await start(index, goal.world);
    while (!isDone()) {
      begun += 1;
      const { purpose } = goal;
      const order: SessionOrder = { seed: `${goal.seed}-${begun}`, keys: Math.min(keysOfSession, goal.keys), purpose };
      worker.send(order);
      try {
        add((await hear(worker)) as SessionCounts);
      } catch (error) {
        const what = error instanceof Error ? error.message : String(error);
        add({ keys: 0, answers: 0, mutated: 0, typed: 0, failures: [{ seed: order.seed, what, screen: '' }] });
        worker = await start(index, goal.world);
      }
    }
    worker.disconnect();
  };
  await Promise.all(Array.from({ length: goal.workers }).map(work));
  return counts;
}
