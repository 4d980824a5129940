/** A service with much data for the bench: many benchmarks, a long trajectory, a long chat answer. */
import { createServer, type ServerResponse } from 'node:http';

const messageSize = 2_600;
const made = Date.parse('2026-01-01T00:00:00Z');

function benchmark(index: number) {
  return {
    bench_id: `bench_${String(index).padStart(6, '0')}`,
    label: `benchmark ${index}`,
    family: ['style', 'math', 'code'][index % 3],
    eval_run_count: index % 40,
    description: `The benchmark number ${index}`,
    visibility: 'private',
    created_at: new Date(made - index * 60_000).toISOString(),
    updated_at: new Date(made - index * 60_000).toISOString(),
  };
}

const trajectory = {
  trajectory_id: 'traj_large',
  task_id: 'large',
  status: 'completed',
  reward: 0.5,
  num_steps: 1,
};
const sentence = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all. ';
const text = sentence.repeat(Math.ceil(messageSize / sentence.length)).slice(0, messageSize);

/** The body of a trajectory of at least this many bytes. */
function trajectoryOf(bytes: number): string {
  const messages = Array.from({ length: Math.ceil(bytes / messageSize) }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: text,
  }));
  return JSON.stringify({ ...trajectory, steps: [{ step_index: 0, reward: 0.5, messages }] });
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
    ...{ status: 'completed', reward: (index % 10) / 10, created_at: new Date(made - index * 1_000).toISOString() },
    steps: [{ step_index: 0, messages }],
  };
}

/** Every hundredth task of the new run goes wrong, the first one most; these steps are the same in both runs, the last is not. */
const comparedSteps = 20;
/** The words of the last step of a compared task. */
export const comparedWords = (task: number, run: 'old' | 'new'): string =>
  `task ${task} is done ${run === 'new' && task % 100 === 0 ? 'wrongly' : 'rightly'}.`;

/** Two evaluation runs with this many tasks. */
class ComparedRuns {
  readonly #tasks: number;
  constructor(tasks: number) {
    this.#tasks = tasks;
  }

  /** The body for a path below `/api/v1/`; undefined for another. */
  answer(path: string): unknown {
    const record = (run: string) => ({
      ...{ eval_run_id: `evr_${run}`, bench_id: 'bench_000000', display_name: `the ${run} run`, status: 'completed' },
      created_at: new Date(made + (run === 'new' ? 1_000 : 0)).toISOString(),
    });
    if (path === 'eval/bench_000000/runs') return { items: [record('new'), record('old')], has_more: false };
    const [, run, of] = /^eval\/(?:bench_000000\/runs\/)?evr_(old|new)(?:\/(.*))?$/.exec(path) ?? [];
    const total = { terminal_rollouts: this.#tasks, total_rollouts: this.#tasks };
    if (run && of === undefined) return record(run);
    if (run && of === 'progress') return { eval_run_id: `evr_${run}`, status: 'completed', ...total };
    if (run && of === 'trajectory-rewards') {
      const rewards = Array.from({ length: this.#tasks }, (_, task) => ({
        ...{ task_id: `task ${task}`, trajectory_id: `traj_${run}_${task}` },
        reward: this.#reward(task, run),
      }));
      return { trajectory_rewards: rewards };
    }
    const [id, side, number] = /^trajectories\/(traj_(old|new)_(\d+))$/.exec(path)?.slice(1) ?? [];
    return id && (side === 'old' || side === 'new') ? this.#trajectory(id, side, Number(number)) : undefined;
  }

  #reward(task: number, run: string): number {
    return run === 'new' && task % 100 === 0 ? task / this.#tasks / 2 : 1;
  }

  #trajectory(trajectory_id: string, run: 'old' | 'new', task: number) {
    const said = Array.from({ length: comparedSteps }, () => text);
    const steps = [...said, `${text}\n${comparedWords(task, run)}\n${text}`].map((content, step_index) => ({
      step_index,
      messages: [{ role: 'assistant', content }],
    }));
    const known = { eval_run_id: `evr_${run}`, task_id: `task ${task}`, status: 'completed' };
    return { trajectory_id, ...known, reward: this.#reward(task, run), num_steps: steps.length, steps };
  }
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

const trainPath = '/api/v1/train/';
const trajectoriesPath = '/api/v1/trajectories';
const nothingThere = { error: { type: 'invalid_request_error', code: 'resource_not_found', message: 'not found' } };

/** Size of a chat answer, in bytes. */
export const chatBytes = 8 * 1024;

async function chat(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const words =
    sentence
      .repeat(Math.ceil(chatBytes / sentence.length))
      .slice(0, chatBytes)
      .match(/\S+\s*/g) ?? [];
  for (const content of words) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  response.write(
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
  );
  response.end();
}

/** A training run that is at this step; its curves have a point for each, and for each thousand. */
class LargeTraining {
  #steps = 0;
  #newPoints: string[] = [];
  /** The answer without the new points, and without its end. Kept, as the service shares its process with what measures. */
  #curve = Buffer.from('{"trainer_rewards":[');

  constructor(steps: number) {
    for (let step = 1; step <= steps; step += 1) this.step();
  }

  /** Does a step. */
  step(): void {
    this.#steps += 1;
    const point = `{"step":${this.#steps},"trainer_reward":${LargeTraining.#reward(this.#steps)}}`;
    this.#newPoints.push(this.#steps > 1 ? `,${point}` : point);
  }

  #curveBody(): Buffer {
    if (this.#newPoints.length > 0) this.#curve = Buffer.concat([this.#curve, Buffer.from(this.#newPoints.join(''))]);
    this.#newPoints = [];
    return Buffer.concat([this.#curve, Buffer.from(']}')]);
  }

  /** Rises with noise, and has a peak that no chart may lose. */
  static #reward(step: number): number {
    if (step === 400_001) return 1.9;
    return Math.round(1_000 * (1 - Math.exp(-step / 300_000) + 0.1 * Math.sin(step * 12.9898))) / 1_000;
  }

  /** The body for a path below `/api/v1/train/`; undefined for another. */
  answer(path: string): string | Buffer | undefined {
    const steps = this.#steps;
    const record = {
      training_run_id: 'trn_large',
      bench_id: 'bench_000000',
      display_name: 'a million steps',
      status: 'running',
      base_model_slug: 'bench/model',
      created_at: new Date(made).toISOString(),
    };
    const progress = {
      training_run_id: 'trn_large',
      status: 'running',
      completed_steps: steps,
      total_steps: 2 * steps,
    };
    const heldOut = Array.from({ length: Math.floor(steps / 1_000) }, (_, index) => ({
      step: 1_000 * (index + 1),
      held_out_reward: LargeTraining.#reward(index),
    }));
    const bodies: Readonly<Record<string, () => string | Buffer>> = {
      'bench_000000/runs': () => JSON.stringify({ items: [record] }),
      trn_large: () => JSON.stringify(record),
      'trn_large/progress': () => JSON.stringify(progress),
      'trn_large/checkpoints': () => JSON.stringify({ items: [] }),
      'trn_large/step/trainer-reward-by-step': () => this.#curveBody(),
      'trn_large/step/held-out-reward-by-step': () => JSON.stringify({ held_out_rewards: heldOut }),
    };
    return Object.hasOwn(bodies, path) ? bodies[path]?.() : undefined;
  }
}

export interface LargeService {
  readonly baseUrl: string;
  /** Lets the training run do a step. */
  readonly step: () => void;
  /** Changes the number of runs of the first benchmark. */
  readonly setFirstRuns: (count: number) => void;
  readonly close: () => void;
}

export interface LargeServiceOptions {
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
export function startLargeService({
  benchmarks = 10_000,
  trajectoryBytes = 5_200_000,
  steps = 0,
  trajectories = 0,
  compared = 0,
}: LargeServiceOptions = {}): Promise<LargeService> {
  let firstRuns = 0;
  const large = trajectoryOf(trajectoryBytes);
  const training = new LargeTraining(steps);
  const runs = new ComparedRuns(compared);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const limit = Number(url.searchParams.get('limit') ?? 25);
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const ofRuns = compared > 0 ? runs.answer(url.pathname.slice('/api/v1/'.length)) : undefined;
    if (ofRuns) send(response, ofRuns);
    else if (url.pathname === '/api/v1/benchmarks') {
      const items = Array.from({ length: Math.min(limit, benchmarks - from) }, (_, index) =>
        from + index === 0 ? { ...benchmark(0), eval_run_count: firstRuns } : benchmark(from + index),
      );
      const has_more = from + limit < benchmarks;
      send(response, { items, has_more, next_cursor: has_more ? String(from + limit) : null });
    } else if (url.pathname === trajectoriesPath && trajectories > 0) {
      const items = Array.from({ length: Math.min(limit, trajectories - from) }, (_, index) => {
        const { steps: _steps, ...row } = manyOf(from + index);
        return row;
      });
      const has_more = from + limit < trajectories;
      send(response, { items, has_more, next_cursor: has_more ? String(from + limit) : null });
    } else if (url.pathname.startsWith(`${trajectoriesPath}/traj_0`)) {
      send(response, manyOf(Number(url.pathname.slice(`${trajectoriesPath}/traj_`.length))));
    } else if (url.pathname.endsWith('/readiness'))
      send(response, { ready: true, missing_secret_names: [], unready_task_image_counts: {} });
    else if (url.pathname === trajectoriesPath)
      send(response, { items: [trajectory], has_more: false, next_cursor: null });
    else if (url.pathname === '/api/v1/trajectories/traj_large') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(url.searchParams.get('include_steps') === 'false' ? JSON.stringify(trajectory) : large);
    } else if (url.pathname.endsWith('/supported-training-models'))
      send(response, { items: [{ model_slug: 'bench/model' }] });
    else if (url.pathname === '/v1/chat/completions') void chat(response);
    else if (steps > 0 && url.pathname.startsWith(trainPath)) {
      const body = training.answer(url.pathname.slice(trainPath.length));
      response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
      response.end(body ?? JSON.stringify(nothingThere));
    } else send(response, nothingThere, 404);
  });
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      resolve({
        baseUrl: `http://127.0.0.1:${port}`,
        step: () => training.step(),
        setFirstRuns: count => {
          firstRuns = count;
        },
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      });
    });
  });
}
