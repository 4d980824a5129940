/** Ids for new resources: a prefix for the kind, then random characters. */
import { createHash, randomBytes } from 'node:crypto';

const idPrefixes = {
  organization: 'org',
  benchmark: 'bench',
  evalRun: 'evr',
  trainingRun: 'trn',
  checkpoint: 'ckpt',
  deployment: 'dep',
  model: 'model',
  modelSlug: 'slug',
  job: 'job',
  pipelineRun: 'plr',
  execution: 'exe',
  trajectory: 'traj',
  trace: 'trace',
  reward: 'rwd',
  dataset: 'ds',
  secret: 'sec',
  snapshot: 'snap',
  runtime: 'rt',
} as const;

export function newId(kind: keyof typeof idPrefixes): string {
  return `${idPrefixes[kind]}_${randomBytes(9).toString('base64url').replace(/[-_]/g, 'x')}`;
}

export function now(): string {
  return new Date().toISOString();
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
