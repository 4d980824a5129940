/** Values of an unexpected type, in the words of a view. */
import { expect, it } from 'vitest';
import { trainingFacts } from '../../../src/resources/training.ts';
import { summaryWords } from '../../../src/ui/views/deployments/list.tsx';

it('an option of a training run that is an object is shown as what it is', () => {
  const facts = trainingFacts({ training_run_id: 'trn_1', options: { group_size: { nested: true } } });
  expect(JSON.stringify(facts)).toContain('group size {');
});

it('a count of deployments that is no number is left out', () => {
  const summary = { total: 1, active: 1, by_status: { DEPLOYED: 1, FAILED: Number.POSITIVE_INFINITY, length: {} } };
  expect(summaryWords(summary)).toBe('1 in all: 1 deployed; 1 active');
  expect(summaryWords({ total: Number.POSITIVE_INFINITY, DEPLOYED: 1 })).toBe('∞ in all: 1 deployed');
});
