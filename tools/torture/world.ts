/**
 * A real local service in this process, with data in it: runs, training, a deployment, uploads, secrets. Made
 * once; every session begins with a copy of it.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type RunningService, serve } from '../../src/local/daemon/serve.ts';
import { controls, deceivers } from './texts.ts';

/** A key that is found wherever it should not be. */
export const apiKey = 'torture-key-7f3a91c2d4e6b805';
/** The value of a secret, likewise. */
export const secretValue = 'torture-secret-c0ffee5ca1ab1e';

const model = 'benchtop/tutor-base';
const limitMs = 120_000;

export interface World {
  /** Starts a service on a copy of what was made. */
  readonly start: () => Promise<RunningService & { readonly folder: string; readonly end: () => Promise<void> }>;
  /** Makes `folder` the data folder of a service that is not started yet; its key is `apiKey`. */
  readonly copyTo: (folder: string) => void;
  /** A folder to work in, with a benchmark and trajectories to upload. */
  readonly workFolder: () => string;
  readonly remove: () => void;
}

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

function callerOf(baseUrl: string): Call {
  return async (method, path, body) => {
    const answer = await fetch(`${baseUrl}/api/v1/${path}`, {
      method,
      headers: { 'X-API-Key': apiKey },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
}

async function until(call: Call, path: string, wanted: (body: Record<string, unknown>) => boolean) {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const body = await call('GET', path);
    if (wanted(body)) return body;
    if (Date.now() > deadline) throw new Error(`${path} still says ${JSON.stringify(body)}`);
    await wait(20);
  }
}

const itemsOf = (body: unknown): Record<string, unknown>[] =>
  (Array.isArray(body) ? body : (body as { items: Record<string, unknown>[] }).items) as Record<string, unknown>[];

/** What the model was asked and what came back, with everything in it that a screen must not obey. */
const transcripts = [...controls, ...deceivers].map((text, index) => ({
  task_id: `hostile-${index}`,
  status: index % 5 === 0 ? 'running' : 'completed',
  reward: index / 10,
  messages: [
    { role: 'system', content: text },
    { role: 'user', content: `${text} ${'long '.repeat(200)}` },
    {
      role: 'assistant',
      content: text,
      tool_calls: [{ id: '1', type: 'function', function: { name: text, arguments: '{"a": 1}' } }],
    },
    { role: 'tool', content: `${text}\n${text}`, tool_call_id: '1' },
  ],
}));

async function populate(baseUrl: string): Promise<void> {
  const call = callerOf(baseUrl);
  const benchmarks = itemsOf(await call('GET', 'benchmarks'));
  const benchId = String(benchmarks.find(({ label }) => label === 't-words')?.['bench_id']);
  await until(call, `benchmarks/${benchId}/readiness`, ({ ready }) => ready === true);
  for (const name of ['baseline', 'second look', controls[0], deceivers[0]]) {
    const run = await call('POST', `eval/${benchId}/start`, { display_name: name, model_slug: model });
    await until(call, `eval/${String(run['eval_run_id'])}`, ({ status }) => status === 'completed');
  }
  const training = await call('POST', 'train', {
    bench_id: benchId,
    base_model_slug: model,
    display_name: 'first training',
    options: { num_steps: 6, train_batch_size: 4, samples_per_instance: 4, held_out_every: 3 },
  });
  const trainingId = String(training['training_run_id']);
  await until(call, `train/${trainingId}`, ({ status }) => status === 'succeeded');
  const checkpoint = itemsOf(await call('GET', `train/${trainingId}/checkpoints`)).at(-1);
  const deployment = await call('POST', 'deploy', {
    checkpoint_id: checkpoint?.['checkpoint_id'],
    model_slug: 'talker',
    role: 'production',
  });
  await until(call, `deploy/${String(deployment['deployment_id'])}`, ({ status }) => status === 'DEPLOYED');
  await call('POST', 'secrets', { name: 'EXISTING', value: secretValue, description: 'made before' });
  await call('POST', 'trajectories/upload', { dataset: 'uploaded', trajectories: transcripts });
}

function fillWorkFolder(folder: string): void {
  const lines = [1, 2].map(n => JSON.stringify({ messages: [{ role: 'user', content: `line ${n}` }] }));
  writeFileSync(join(folder, 'three.jsonl'), `${lines.join('\n')}\n{"broken": true}\n`);
  mkdirSync(join(folder, 'bench', 'data'), { recursive: true });
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

export async function makeWorld(): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'benchtop-torture-'));
  const template = join(root, 'template');
  const first = await serve({ dataFolder: template, apiKey });
  await populate(first.baseUrl);
  await first.stop();
  let made = 0;
  const folderFor = (what: string): string => {
    made += 1;
    return join(root, `${what}-${made}`);
  };
  const copyTo = (folder: string): void => {
    cpSync(template, folder, { recursive: true });
    writeFileSync(join(folder, 'api-key'), apiKey, { mode: 0o600 });
  };
  return {
    copyTo,
    start: async () => {
      const folder = folderFor('data');
      copyTo(folder);
      const running = await serve({ dataFolder: folder, apiKey });
      const end = async (): Promise<void> => {
        await running.stop();
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      };
      return { ...running, folder, end };
    },
    workFolder: () => {
      const folder = folderFor('work');
      mkdirSync(folder);
      fillWorkFolder(folder);
      return folder;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}
