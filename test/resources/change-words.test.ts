/** The messages after a change of rows. */
import { expect, it } from 'vitest';
import { doneWords } from '../../src/resources/change-words.ts';
import { deploymentActions } from '../../src/resources/deployments.ts';

it('names apart the deployments whose record the service has kept', () => {
  const words = (answers: Readonly<Record<string, unknown>>): string => {
    const rows = Object.entries(answers).map(([name, answer]) => ({ name, answer }));
    return doneWords(deploymentActions.undeploy.change, rows, names => names.join(', '));
  };
  expect(words({ one: { row_deleted: true }, two: undefined })).toBe('Undeployed one, two');
  expect(words({ one: { row_deleted: false } })).toBe('one: torn down; the service kept its record');
  expect(words({ one: {}, two: { row_deleted: false } })).toBe(
    'Undeployed one. two: torn down; the service kept its record',
  );
});
