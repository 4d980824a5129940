/**
 * A real local service in this process, with data: runs, training, a deployment, uploads, secrets. Created once; every
 * session starts with a copy.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningService } from '../../src/local/daemon/daemon.ts';
import { serve } from '../../src/local/daemon/serve.ts';
import { type Caller, callerOf, fillWorkFolder, type Populated, populate } from '../../test/populate.ts';
import { controls, deceivers } from './texts.ts';

/** A key that must not be found anywhere else. */
export const apiKey = 'torture-key-7f3a91c2d4e6b805';
/** The value of a secret that must not be found anywhere else. */
export const secretValue = 'torture-secret-c0ffee5ca1ab1e';

export interface World {
  /** Starts a service on a copy of the data. */
  readonly start: () => Promise<RunningService & AsyncDisposable & { readonly folder: string }>;
  /** Makes `folder` the data folder of a service that is not started yet. Its key is `apiKey`. */
  readonly copyTo: (folder: string) => void;
  /** A folder to work in, with a benchmark and trajectories to upload. */
  readonly workFolder: () => string;
  readonly remove: () => void;
}

/** Prompts and answers of a model, with everything that a screen must not obey. */
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

/** Creates data of every kind in a service. */
export function fillWorld(caller: Caller): Promise<Populated> {
  const runs = ['baseline', 'second look', ...[controls[0], deceivers[0]].filter(name => name !== undefined)];
  return populate(caller, { runs, secretValue, trajectories: transcripts });
}

export async function makeWorld(): Promise<World> {
  const root = mkdtempSync(join(tmpdir(), 'benchtop-torture-'));
  const data = join(root, 'template');
  const first = await serve({ dataFolder: data, apiKey });
  await fillWorld(callerOf({ baseUrl: first.baseUrl, apiKey }));
  await first.stop();
  let made = 0;
  const folderFor = (what: string): string => {
    made += 1;
    return join(root, `${what}-${made}`);
  };
  const copyTo = (folder: string): void => {
    cpSync(data, folder, { recursive: true });
    writeFileSync(join(folder, 'api-key'), apiKey, { mode: 0o600 });
  };
  return {
    copyTo,
    start: async () => {
      const folder = folderFor('data');
      copyTo(folder);
      const running = await serve({ dataFolder: folder, apiKey });
      return {
        ...running,
        folder,
        [Symbol.asyncDispose]: async () => {
          await running.stop();
          rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
        },
      };
    },
    workFolder: () => {
      const folder = folderFor('work');
      fillWorkFolder(folder);
      return folder;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}
