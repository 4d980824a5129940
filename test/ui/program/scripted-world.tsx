/** A benchmark and a run on a service that a test scripts, and the program on it, polling much more often than usual. */
import { expect, onTestFinished } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { eventually } from '../../eventually.ts';
import { type Answers, pageOf, type ScriptedService, scriptedService } from '../../queries/scripted-service.ts';
import type { Screen, ScreenOptions } from '../../screen.ts';
import { openProgram, type Rig, type RigOptions } from './rig.tsx';

/** Several polls pass in a moment. */
export const often = { focusedMs: 20, visibleMs: 60 };
const bench = { bench_id: 'bench_1', label: 't-words', eval_run_count: 2 };

export interface World extends ScriptedService {
  /** The answers of the service; may be changed. */
  readonly answers: Answers;
  /** The state of the run; `none` before there is one. */
  status: string;
}

/** A service with a benchmark, and a run with this `status`. */
export function world(status = 'running'): World {
  const run = () => ({
    eval_run_id: 'evr_1',
    bench_id: 'bench_1',
    display_name: 'baseline',
    status: state.status,
    reward_mean: state.status === 'completed' ? 0.5 : null,
    created_at: '2026-03-04T05:06:07Z',
  });
  const answers: Answers = {
    listBenchmarks: () => pageOf([bench]),
    getBenchmark: () => bench,
    getBenchmarkReadiness: () => ({ ready: true }),
    listEvalRuns: () => (state.status === 'none' ? [] : [run()]),
    getEvalRun: () => run(),
    getEvalProgress: () => ({
      eval_run_id: 'evr_1',
      status: state.status,
      terminal_rollouts: state.status === 'completed' ? 4 : 2,
      total_rollouts: 4,
      live: { final_reward_mean: state.status === 'completed' ? 0.5 : null },
    }),
    getTrajectoryRewards: () => ({ trajectory_rewards: [] }),
    getRolloutStatistics: () => ({ snapshots: [] }),
    listTrainingRuns: () => [],
    listDeployments: () => pageOf([]),
    listTrajectories: () => pageOf([]),
    listSupportedTrainingModels: () => [{ model_slug: 'acme/small', model_name: 'Small' }],
    startEval: () => {
      state.status = 'completed';
      return { eval_run_id: 'evr_1', display_name: 'baseline' };
    },
    deleteEvalRun: () => {
      state.status = 'none';
      return {};
    },
  };
  const state: World = { ...scriptedService(answers), answers, status };
  return state;
}

export interface OpenWorld extends Screen, Pick<Rig, 'workbench'> {
  /** The notices that went to the terminal. */
  readonly bells: () => string[];
}

/** Opens the program there; it closes with the test. */
export function openWorld(
  { service }: World,
  start: Place,
  { poll = often, ...size }: ScreenOptions & Pick<RigOptions, 'poll' | 'remembered' | 'connection'> = {},
): OpenWorld {
  const rig = openProgram({ service, start, notices: 'bell', poll, columns: 130, rows: 30, ...size });
  onTestFinished(rig.close);
  const bells = () => rig.sent.filter(sequence => sequence.startsWith('\u0007'));
  return { ...rig.screen, workbench: rig.workbench, bells };
}

/** Waits until the program has sent this many more requests. */
export async function morePolls({ requests }: World, count = 12): Promise<void> {
  const before = requests.length;
  await eventually(() => expect(requests.length).toBeGreaterThanOrEqual(before + count));
}

/** Refreshes manually, in case nothing is polled any more. */
export async function askAgain({ requests }: World, screen: Screen, times = 3): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const before = requests.length;
    await screen.press('r');
    await eventually(() => expect(requests.length).toBeGreaterThan(before));
  }
}
