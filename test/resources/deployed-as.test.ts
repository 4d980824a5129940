import { expect, it } from 'vitest';
import { deployedAs } from '../../src/resources/deployments.ts';

it('says nothing about a deployment that answered when last seen', () => {
  const row = { deployment_id: 'dep_1', checkpoint_id: 'ckpt_1', model_slug: 'words', status: 'DEPLOYED' };
  expect(deployedAs('ckpt_1', [row])?.deployed).toBe('words');
  expect(deployedAs('ckpt_1', [{ ...row, remembered_at: '2026-01-01T00:00:00Z' }])).toBeUndefined();
  expect(deployedAs('ckpt_2', [row])).toBeUndefined();
});

it('shows the id of one without a name, and its role if no one calls it active', () => {
  const row = { deployment_id: 'dep_1', checkpoint_id: 'ckpt_1', role: 'production', status: 'DEPLOYED' };
  expect(deployedAs('ckpt_1', [row])?.deployed).toBe('production: dep_1');
  expect(deployedAs('ckpt_1', [{ ...row, is_active: false }])?.deployed).toBe('dep_1');
  const unreadable = { ...row, unreadable_fields: { is_active: 'no' } };
  expect(deployedAs('ckpt_1', [unreadable])?.deployed).toBe('dep_1');
});
