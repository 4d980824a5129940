/** A home with a service that has data: runs, training, deployments, uploads. All of it really. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { version } from '../../src/commands/version.ts';
import { ensureLocalService } from '../../src/local/daemon/client.ts';
import { freshHome, program } from './session.ts';

export interface PopulatedHome {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Calls the service. */
  // biome-ignore lint/suspicious/noExplicitAny: the body is what is tested
  readonly call: (method: string, path: string, body?: unknown) => Promise<any>;
  /** Asks until the answer satisfies. */
  // biome-ignore lint/suspicious/noExplicitAny: the body is what is tested
  readonly until: (path: string, satisfied: (body: any) => boolean) => Promise<any>;
  readonly benchId: string;
  readonly trainingId: string;
  readonly checkpointId: string;
  readonly deploymentId: string;
  readonly openTrajectory: string;
  readonly remove: () => Promise<void>;
}

const model = 'benchtop/tutor-base';

/** @param deadlineMs for what is waited for */
export async function populatedHome(deadlineMs = 30_000): Promise<PopulatedHome> {
  const { home, env, remove } = freshHome();
  const dataFolder = join(home, '.local/share/benchtop');
  const entry = { command: process.execPath, args: [program] };
  const { baseUrl, apiKey } = await ensureLocalService({ dataFolder, entry, version });
  const call: PopulatedHome['call'] = async (method, path, body) => {
    const answer = await fetch(`${baseUrl}/api/v1/${path}`, {
      method,
      headers: { 'X-API-Key': apiKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  const until: PopulatedHome['until'] = async (path, satisfied) => {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const body = await call('GET', path);
      if (satisfied(body)) return body;
      if (Date.now() > deadline) throw new Error(`${path} still says ${JSON.stringify(body)}`);
      await wait(10);
    }
  };
  const { items } = await until('benchmarks', ({ items: all }) => all?.length > 0);
  const benchId: string = items.find(({ label }: { label: string }) => label === 't-words').bench_id;
  await until(`benchmarks/${benchId}/readiness`, ({ ready }) => ready);
  const { eval_run_id } = await call('POST', `eval/${benchId}/start`, { display_name: 'baseline', model_slug: model });
  await until(`eval/${eval_run_id}`, ({ status }) => status === 'completed');
  const { training_run_id: trainingId } = await call('POST', 'train', {
    bench_id: benchId,
    base_model_slug: model,
    display_name: 'first training',
    options: { num_steps: 6, train_batch_size: 4, samples_per_instance: 4, held_out_every: 3 },
  });
  await until(`train/${trainingId}`, ({ status }) => status === 'succeeded');
  const checkpointId: string = (await call('GET', `train/${trainingId}/checkpoints`)).items.at(-1).checkpoint_id;
  const deployment = await call('POST', 'deploy', {
    checkpoint_id: checkpointId,
    model_slug: 'talker',
    role: 'production',
  });
  await until(`deploy/${deployment.deployment_id}`, ({ status }) => status === 'DEPLOYED');
  await call('POST', 'secrets', { name: 'EXISTING', value: 'v', description: 'made before' });
  const uploaded = await call('POST', 'trajectories/upload', {
    dataset: 'uploaded',
    trajectories: [{ task_id: 'open-task', status: 'running', messages: [{ role: 'user', content: 'still going' }] }],
  });
  // Not the first start: the welcome is not what these sessions are about.
  mkdirSync(join(home, 'work'));
  writeFileSync(
    join(home, 'work', 'three.jsonl'),
    [1, 2].map(n => JSON.stringify({ messages: [{ role: 'user', content: `line ${n}` }] })).join('\n') +
      '\n{"broken": true}\n',
  );
  mkdirSync(join(home, 'work', 'bench', 'data'), { recursive: true });
  writeFileSync(join(home, 'work', 'bench', 'data', 'a.txt'), 'hello');
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
  writeFileSync(join(home, 'work', 'bench', 'manifest.json'), JSON.stringify(manifest));
  return {
    home,
    env,
    baseUrl,
    apiKey,
    call,
    until,
    benchId,
    trainingId,
    checkpointId,
    deploymentId: deployment.deployment_id,
    openTrajectory: uploaded.trajectories[0].trajectory_id,
    remove,
  };
}
