/** A home folder with a service that has real data: runs, training, deployments, uploads. */
import { join } from 'node:path';
import { version } from '../../src/base/version.ts';
import { ensureLocalService } from '../../src/local/daemon/client.ts';
import { type Caller, callerOf, fillWorkFolder, type Populated, type PopulateOptions, populate } from '../populate.ts';
import { dataFolderIn, freshHome, program } from './session.ts';

export interface PopulatedHome extends Caller, Omit<Populated, 'trajectoryId'> {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly openTrajectory: string;
  readonly remove: () => Promise<void>;
}

export async function populatedHome(
  { runs, trainings = [] }: Pick<PopulateOptions, 'runs' | 'trainings'> = { runs: ['baseline'] },
): Promise<PopulatedHome> {
  const { home, env, remove } = freshHome();
  const dataFolder = dataFolderIn(home);
  const entry = { command: process.execPath, args: [program] };
  const { baseUrl, apiKey } = await ensureLocalService({ dataFolder, entry, version });
  const caller = callerOf({ baseUrl, apiKey });
  const open = { task_id: 'open-task', status: 'running', messages: [{ role: 'user', content: 'still going' }] };
  const { trajectoryId, ...ids } = await populate(caller, {
    ...{ runs, trainings },
    secretValue: 'v',
    trajectories: [open],
  });
  fillWorkFolder(join(home, 'work'));
  return { home, env, baseUrl, apiKey, ...caller, ...ids, openTrajectory: trajectoryId, remove };
}
