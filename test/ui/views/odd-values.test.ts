/** Values of an unexpected type, as views show them. */
import { expect, it } from 'vitest';
import { cellText } from '../../../src/present/column.ts';
import { withValue } from '../../../src/present/fact.ts';
import { resources } from '../../../src/resources/catalogue.ts';
import { trainingFacts } from '../../../src/resources/training.ts';
import { lifecycleLine } from '../../../src/ui/views/deployments/deployment.tsx';
import { describeSummary, summaryOf } from '../../../src/ui/views/deployments/list.tsx';
import { statusLine } from '../../../src/ui/views/training/head.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

it('an option of a training run that is an object is shown as JSON', () => {
  const facts = trainingFacts({ training_run_id: 'trn_1', options: { group_size: { nested: true } } });
  expect(JSON.stringify(facts)).toContain('group size {');
});

it('a count of deployments that is not a number is left out', () => {
  const summary = { total: 1, active: 1, by_status: { DEPLOYED: 1, FAILED: Number.POSITIVE_INFINITY, length: {} } };
  expect(describeSummary(summary)).toBe('1 in all: 1 deployed; 1 active');
  expect(describeSummary({ total: Number.POSITIVE_INFINITY, DEPLOYED: 1 })).toBe('∞ in all: 1 deployed');
});

it.each(resources.map(resource => [resource.names[0], resource] as const))(
  'shows no status that the service did not send of %s (issue 16, open 5)',
  (_, { columns, facts }) => {
    const shown = columns.filter(({ status }) => status).map(column => cellText(column, {}));
    expect(shown).toEqual(shown.map(() => ''));
    const status = withValue(facts?.({}) ?? []).filter(({ label }) => label === 'status');
    expect(status.filter(({ value }) => value !== 'not reported')).toEqual([]);
  },
);

it('the heads of a training run and a deployment say that there is no status, and the summary counts none', () => {
  const theme = createTheme('plain');
  const words = 'The service reports no status';
  expect(statusLine({ training_run_id: 'trn_1' }, 2, undefined, 80, theme)).toContain(`${words}  step 2`);
  expect(lifecycleLine(undefined, theme)).toContain(words);
  const rows = [{ deployment_id: 'dep_1', status: 'DEPLOYED' }, { deployment_id: 'dep_2' }];
  expect(describeSummary(summaryOf(rows))).toBe('2 in all: 1 deployed; 0 active');
});
