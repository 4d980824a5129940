import { expect, it } from 'vitest';
import { distinguishRows } from '../../src/commands/distinguish.ts';
import { resourceNamed } from '../../src/resources/catalogue.ts';
import type { Resource } from '../../src/resources/define.ts';

const apart = (name: string, rows: readonly object[]) => distinguishRows(resourceNamed(name) as Resource, rows);
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000 - 1_000).toISOString();

it('shows what differs between rows of one name, and nothing that is the same', () => {
  const run = { display_name: 'nightly', base_model_slug: 'acme/small', bench_id: 'b' };
  const runs = [
    { ...run, eval_run_id: 'evr_1', status: 'completed', reward_mean: 0.41, created_at: ago(2) },
    { ...run, eval_run_id: 'evr_2', status: 'running', created_at: ago(60) },
  ];
  expect(apart('runs', runs)).toEqual([
    'evr_1 (completed, mean 0.410 n=?, started 2m ago)',
    'evr_2 (running, mean –, started 1h ago)',
  ]);
  const deployment = { model_slug: 'tutor', status: 'DEPLOYED', created_at: ago(5) };
  const deployments = [
    { ...deployment, deployment_id: 'dep_1', base_model_slug: 'acme/small' },
    { ...deployment, deployment_id: 'dep_2', base_model_slug: 'acme/large' },
  ];
  expect(apart('deployments', deployments)).toEqual(['dep_1 (base model acme/small)', 'dep_2 (base model acme/large)']);
});

it('shows full times if ages are the same', () => {
  const [one, other] = ['2026-01-01T00:00:00.1Z', '2026-01-01T00:00:00.2Z'];
  const rows = [one, other].map((created_at, index) => ({ eval_run_id: `evr_${index}`, status: 'failed', created_at }));
  expect(apart('runs', rows)).toEqual([`evr_0 (started ${one})`, `evr_1 (started ${other})`]);
});

it('shows the id alone if nothing else differs, without control characters', () => {
  const rows = ['evr_1', 'evr_\u001b[2J2'].map(eval_run_id => ({ eval_run_id, status: 'failed' }));
  expect(apart('runs', rows)).toEqual(['evr_1', 'evr_2']);
});
