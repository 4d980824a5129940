/** A service with much data for the bench: many benchmarks, a long trajectory, a long chat answer. */
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type AnsweringServer, serveAnswers } from '../../test/answering.ts';
import { type Answers, notFound } from '../../test/queries/scripted-service.ts';

const messageSize = 2_600;
const made = Date.parse('2026-01-01T00:00:00Z');
const madeAt = (sinceMs: number): string => new Date(made + sinceMs).toISOString();

const benchmark = (index: number) => ({
  bench_id: `bench_${String(index).padStart(6, '0')}`,
  label: `benchmark ${index}`,
  family: ['style', 'math', 'code'][index % 3],
  eval_run_count: index % 40,
  description: `The benchmark number ${index}`,
  visibility: 'private',
  created_at: madeAt(-index * 60_000),
  updated_at: madeAt(-index * 60_000),
});

const trajectory = {
  trajectory_id: 'traj_large',
  task_id: 'large',
  status: 'completed',
  reward: 0.5,
  num_steps: 1,
};
const sentence = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all. ';
/** Text of this many characters. */
const textOf = (size: number): string => sentence.repeat(Math.ceil(size / sentence.length)).slice(0, size);
const text = textOf(messageSize);

/** The body of a trajectory of at least this many bytes. */
function trajectoryOf(bytes: number): Buffer {
  const messages = Array.from({ length: Math.ceil(bytes / messageSize) }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }));
  return Buffer.from(JSON.stringify({ ...trajectory, steps: [{ step_index: 0, reward: 0.5, messages }] }));
}

/** Words of one in a hundred of the trajectories, and words of all of them. */
export const rareWords = ['zebra', 'heron', 'otter', 'tapir', 'gecko'];
export const commonWords = ['quick', 'brown', 'jumps', 'lazy', 'mind'];

/** One of many trajectories of about 5 KB; each hundredth has the rare words. */
function manyOf(index: number) {
  const rare = index % 100 === 0 ? `${rareWords.join(' ')} ` : '';
  const messages = [
    { role: 'user', content: `Question ${index}. ${text.slice(0, messageSize / 2)}` },
    { role: 'assistant', content: `${rare}answer ${index}\n${text}` },
  ];
  return {
    ...{ trajectory_id: `traj_${String(index).padStart(6, '0')}`, task_id: `task-${index % 50}` },
    ...{ status: 'completed', reward: (index % 10) / 10, created_at: madeAt(-index * 1_000) },
    steps: [{ step_index: 0, messages }],
  };
}

/** The requested page of `count` rows. */
function pageOf(query: Readonly<Record<string, unknown>> = {}, count: number, row: (index: number) => unknown) {
  const { limit = 25, cursor = 0 } = query;
  const [from, end] = [Number(cursor), Number(cursor) + Number(limit)];
  const items = Array.from({ length: Math.min(end, count) - from }, (_, index) => row(from + index));
  return { items, has_more: end < count, next_cursor: end < count ? String(end) : null };
}

/** Every hundredth task of the new run goes wrong, the first one most; these steps are the same in both runs, the last is not. */
const comparedSteps = 20;
/** The words of the last step of a compared task. */
export const comparedText = (task: number, run: string): string =>
  `task ${task} is done ${run === 'new' && task % 100 === 0 ? 'wrongly' : 'rightly'}.`;

/** The answers about two evaluation runs with this many tasks; `others` has the other trajectories. */
function comparedRuns(tasks: number, others: Answers): Answers {
  const record = (run: string) => ({
    ...{ eval_run_id: `evr_${run}`, bench_id: 'bench_000000', display_name: `the ${run} run`, status: 'completed' },
    created_at: madeAt(run === 'new' ? 1_000 : 0),
  });
  const rewardOf = (task: number, run: string): number => (run === 'new' && task % 100 === 0 ? task / tasks / 2 : 1);
  return {
    listEvalRuns: ({ bench_id }) => (bench_id === 'bench_000000' ? [record('new'), record('old')] : []),
    getEvalRun: ({ eval_run_id = '' }) => record(eval_run_id.slice(4)),
    getEvalProgress: ({ eval_run_id }) => {
      return { eval_run_id, status: 'completed', terminal_rollouts: tasks, total_rollouts: tasks };
    },
    getTrajectoryRewards: ({ eval_run_id = '' }) => ({
      trajectory_rewards: Array.from({ length: tasks }, (_, task) => ({
        ...{ task_id: `task ${task}`, trajectory_id: `traj_${eval_run_id.slice(4)}_${task}` },
        reward: rewardOf(task, eval_run_id.slice(4)),
      })),
    }),
    getTrajectory: (ids, query) => {
      const { trajectory_id = '' } = ids;
      const [, run, number] = /^traj_(old|new)_(\d+)$/.exec(trajectory_id) ?? [];
      if (run === undefined) return others.getTrajectory?.(ids, query);
      const task = Number(number);
      const last = `${text}\n${comparedText(task, run)}\n${text}`;
      const steps = [...Array<string>(comparedSteps).fill(text), last].map((content, step_index) => ({
        step_index,
        messages: [{ role: 'assistant', content }],
      }));
      const known = { eval_run_id: `evr_${run}`, task_id: `task ${task}`, status: 'completed' };
      return { trajectory_id, ...known, reward: rewardOf(task, run), num_steps: steps.length, steps };
    },
  };
}

/** Size of a chat answer, in bytes. */
export const chatBytes = 8 * 1024;

async function chat(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish_reason: string | null): boolean =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  for (const content of textOf(chatBytes).match(/\S+\s*/g) ?? []) {
    send({ content }, null);
    await wait(2);
  }
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

/** Rises with noise, and has a peak that no chart may lose. */
function rewardAt(step: number): number {
  if (step === 400_001) return 1.9;
  return Math.round(1_000 * (1 - Math.exp(-step / 300_000) + 0.1 * Math.sin(step * 12.9898))) / 1_000;
}

/** A training run that is at this step; its curves have a point for each, and for each thousand. */
class LargeTraining {
  #steps = 0;
  #newPoints: string[] = [];
  /**
   * The answer without the new points, and without its end. Kept, because the service shares its process with the
   * bench.
   */
  #curve = Buffer.from('{"trainer_rewards":[');

  constructor(steps: number) {
    for (let step = 1; step <= steps; step += 1) this.step();
  }

  /** Does a step. */
  step(): void {
    this.#steps += 1;
    const point = `{"step":${this.#steps},"trainer_reward":${rewardAt(this.#steps)}}`;
    this.#newPoints.push(this.#steps > 1 ? `,${point}` : point);
  }

  #curveBody(): Buffer {
    if (this.#newPoints.length > 0) this.#curve = Buffer.concat([this.#curve, Buffer.from(this.#newPoints.join(''))]);
    this.#newPoints = [];
    return Buffer.concat([this.#curve, Buffer.from(']}')]);
  }

  answers(): Answers {
    const training_run_id = 'trn_large';
    const record = {
      ...{ training_run_id, bench_id: 'bench_000000', display_name: 'a million steps', status: 'running' },
      ...{ base_model_slug: 'bench/model', created_at: madeAt(0) },
    };
    return {
      listTrainingRuns: ({ bench_id }) => ({ items: bench_id === record.bench_id ? [record] : [] }),
      getTrainingRun: () => record,
      getTrainingProgress: () => {
        return { training_run_id, status: 'running', completed_steps: this.#steps, total_steps: 2 * this.#steps };
      },
      listCheckpoints: () => ({ items: [] }),
      getTrainerRewards: () => this.#curveBody(),
      getHeldOutRewards: () => ({
        held_out_rewards: Array.from({ length: Math.floor(this.#steps / 1_000) }, (_, index) => ({
          step: 1_000 * (index + 1),
          held_out_reward: rewardAt(index),
        })),
      }),
    };
  }
}

export interface LargeService extends AnsweringServer {
  /** Lets the training run do a step. */
  readonly step: () => void;
  /** Changes the number of runs of the first benchmark. */
  readonly setFirstRuns: (count: number) => void;
}

interface LargeServiceOptions {
  readonly benchmarks?: number;
  /** Size of the trajectory. */
  readonly trajectoryBytes?: number;
  /** Steps of the training run; 0 for none. */
  readonly steps?: number;
  /** Many small trajectories in place of the large one. */
  readonly trajectories?: number;
  /** Tasks of two evaluation runs; 0 for none. */
  readonly compared?: number;
}

/** Starts the service on a free port of this machine. */
export async function startLargeService({
  benchmarks = 10_000,
  trajectoryBytes = 5_200_000,
  steps = 0,
  trajectories = 0,
  compared = 0,
}: LargeServiceOptions = {}): Promise<LargeService> {
  let firstRuns = 0;
  const large = trajectoryOf(trajectoryBytes);
  const training = new LargeTraining(steps);
  const answers: Answers = {
    listBenchmarks: (_, query) =>
      pageOf(query, benchmarks, index => ({ ...benchmark(index), ...(index === 0 && { eval_run_count: firstRuns }) })),
    getBenchmarkReadiness: () => ({ ready: true, missing_secret_names: [], unready_task_image_counts: {} }),
    listTrajectories: (_, query) =>
      trajectories > 0
        ? pageOf(query, trajectories, index => ({ ...manyOf(index), steps: undefined }))
        : pageOf(query, 1, () => trajectory),
    getTrajectory: ({ trajectory_id = '' }, query) => {
      if (trajectory_id.startsWith('traj_0')) return manyOf(Number(trajectory_id.slice('traj_'.length)));
      if (trajectory_id !== trajectory.trajectory_id) return notFound(trajectory_id);
      return query?.['include_steps'] === 'false' ? trajectory : large;
    },
    listSupportedTrainingModels: () => ({ items: [{ model_slug: 'bench/model' }] }),
    createChatCompletion: () => chat,
    ...(steps > 0 && training.answers()),
  };
  const server = await serveAnswers(compared > 0 ? { ...answers, ...comparedRuns(compared, answers) } : answers);
  const setFirstRuns = (count: number): void => {
    firstRuns = count;
  };
  return { ...server, step: () => training.step(), setFirstRuns };
}
