import { expect, it } from 'vitest';
import type { Deployment } from '../../../../src/contract/deployments.ts';
import { describeCounts, titlesOf } from '../../../../src/ui/views/chat/describe-choices.ts';

const counts = { left: 7, right: 2, equal: 1, 'both bad': 0 };

it('counts choices with a named test, and never cuts a number', () => {
  const long = 'left better 7, right better 2, equal 1 (n=10), single-look exact sign test: p = 0.18';
  const short = 'left 7, right 2, equal 1 (n=10), sign test p = 0.18';
  expect([describeCounts(counts), describeCounts(counts, long.length)]).toEqual([long, long]);
  expect([describeCounts(counts, long.length - 1), describeCounts(counts, short.length)]).toEqual([short, short]);
  expect(describeCounts(counts, short.length - 1)).toBe('');
});

it('uses the given names, shows both bad if there are any, and no test without a decision', () => {
  expect(describeCounts({ ...counts, 'both bad': 3 }, undefined, ['a', 'b'])).toBe(
    'a better 7, b better 2, equal 1, both bad 3 (n=13), single-look exact sign test: p = 0.18',
  );
  expect(describeCounts({ left: 0, right: 0, equal: 2, 'both bad': 0 })).toBe(
    'left better 0, right better 0, equal 2 (n=2)',
  );
  expect(describeCounts({ left: 30, right: 0, equal: 0, 'both bad': 0 })).toContain('p < 0.001');
  expect(describeCounts({ left: 0, right: 0, equal: 0, 'both bad': 0 })).toBe('');
});

it('names a replaced deployment by its slug and step, unless two have the same (out34 C8)', () => {
  const deployment = (deployment_id: string, checkpoint_step: number) =>
    ({ deployment_id, checkpoint_step, model_slug: 'tutor' }) as Deployment;
  const deployments = [deployment('dep_1', 40), deployment('dep_2', 60), deployment('dep_3', 40)];
  const titles = (...models: string[]) => [...titlesOf(models, deployments).values()];
  expect(titles('dep_1', 'dep_2')).toEqual(['tutor, step 40', 'tutor, step 60']);
  expect(titles('tutor', 'dep_1')).toEqual(['tutor', 'tutor, step 40']);
  expect(titles('dep_1', 'dep_3')).toEqual(['dep_1', 'dep_3']);
});
