/** Real data of every kind, created by a local service, and a folder to upload. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export interface Caller {
  /** Calls the service as a script would; returns the body, even of a refusal. */
  // biome-ignore lint/suspicious/noExplicitAny: the test is about the body
  readonly call: (method: string, path: string, body?: unknown) => Promise<any>;
  /** Polls until the answer satisfies. */
  // biome-ignore lint/suspicious/noExplicitAny: the test is about the body
  readonly until: (path: string, satisfied: (body: any) => boolean) => Promise<any>;
}

/** @param deadlineMs time limit for waiting; by default long enough for a busy machine */
export function callerOf({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }, deadlineMs = 240_000): Caller {
  const call: Caller['call'] = async (method, path, body) => {
    const headers = { 'X-API-Key': apiKey };
    // Through `http.Agent`, which the simulator replaces.
    const outgoing = request(`${baseUrl}/api/v1/${path}`, { method, headers });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return json(answer);
  };
  const until: Caller['until'] = async (path, satisfied) => {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const body = await call('GET', path);
      if (satisfied(body)) return body;
      if (Date.now() > deadline) throw new Error(`${path} still says ${JSON.stringify(body)}`);
      await wait(10);
    }
  };
  return { call, until };
}

const model = 'benchtop/tutor-base';

export interface PopulateOptions {
  /** Names of the evaluation runs. */
  readonly runs: readonly string[];
  /** Names of short training runs before `first training`. */
  readonly trainings?: readonly string[];
  readonly secretValue: string;
  readonly trajectories: readonly object[];
}

/** Ids of the created resources. */
export interface Populated {
  readonly benchId: string;
  readonly trainingId: string;
  readonly checkpointId: string;
  readonly deploymentId: string;
  /** Of the first trajectory. */
  readonly trajectoryId: string;
}

/** Evaluates, trains, deploys, creates a secret and uploads trajectories. */
export async function populate({ call, until }: Caller, options: PopulateOptions): Promise<Populated> {
  const { items } = await until('benchmarks', ({ items: all }) => all?.length > 0);
  const benchId: string = items.find(({ label }: { label: string }) => label === 't-words').bench_id;
  await until(`benchmarks/${benchId}/readiness`, ({ ready }) => ready);
  for (const display_name of options.runs) {
    const { eval_run_id } = await call('POST', `eval/${benchId}/start`, { display_name, model_slug: model });
    await until(`eval/${eval_run_id}`, ({ status }) => status === 'completed');
  }
  const train = async (display_name: string, num_steps: number): Promise<string> => {
    const settings = { num_steps, train_batch_size: 4, samples_per_instance: 4, held_out_every: 3 };
    const base = { bench_id: benchId, base_model_slug: model };
    const { training_run_id: id } = await call('POST', 'train', { ...base, display_name, options: settings });
    await until(`train/${id}`, ({ status }) => status === 'succeeded');
    return id;
  };
  for (const name of options.trainings ?? []) await train(name, 3);
  const trainingId = await train('first training', 6);
  const checkpoints = await call('GET', `train/${trainingId}/checkpoints`);
  const checkpointId: string = (checkpoints.items ?? checkpoints).at(-1).checkpoint_id;
  const deployment = { checkpoint_id: checkpointId, model_slug: 'talker', role: 'production' };
  const { deployment_id: deploymentId } = await call('POST', 'deploy', deployment);
  await until(`deploy/${deploymentId}`, ({ status }) => status === 'DEPLOYED');
  await call('POST', 'secrets', { name: 'EXISTING', value: options.secretValue, description: 'made before' });
  const uploaded = await call('POST', 'trajectories/upload', {
    dataset: 'uploaded',
    trajectories: options.trajectories,
  });
  const trajectoryId: string = uploaded.trajectories[0].trajectory_id;
  return { benchId, trainingId, checkpointId, deploymentId, trajectoryId };
}

/** A benchmark and trajectories to upload: `bench/`, and `three.jsonl` with one invalid line. */
export function fillWorkFolder(folder: string): void {
  const lines = [1, 2].map(n => JSON.stringify({ messages: [{ role: 'user', content: `line ${n}` }] }));
  mkdirSync(join(folder, 'bench', 'data'), { recursive: true });
  writeFileSync(join(folder, 'three.jsonl'), `${lines.join('\n')}\n{"broken": true}\n`);
  writeFileSync(join(folder, 'bench', 'data', 'a.txt'), 'hello');
  const task = (name: string, split: string) => ({
    name,
    split,
    input_messages: [{ role: 'user', content: 'say yes' }],
    run_command: 'x',
    grader: { kind: 'exact', expected: 'yes' },
    files: ['data/a.txt'],
    environment: [{ name: 'KEY', secret_name: 'MISSING_KEY' }],
  });
  const manifest = { name: 'from-a-folder', tasks: [task('one', 'test'), task('two', 'train')] };
  writeFileSync(join(folder, 'bench', 'manifest.json'), JSON.stringify(manifest));
}
