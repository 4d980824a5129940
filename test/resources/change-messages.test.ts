/** The messages after a change of rows. */
import { expect, it } from 'vitest';
import { type Deployment, deployment } from '../../src/contract/deployments.ts';
import { describeDone, describeOutages, outagesOf, typedFor } from '../../src/resources/change-messages.ts';
import { deploymentActions } from '../../src/resources/deployments.ts';

it('tells deployments with kept records apart', () => {
  const words = (answers: Readonly<Record<string, unknown>>): string => {
    const rows = Object.entries(answers).map(([name, answer]) => ({ name, answer }));
    return describeDone(deploymentActions.undeploy.change, rows, names => names.join(', '));
  };
  expect(words({ one: { row_deleted: true }, two: undefined })).toBe('Undeployed one, two');
  expect(words({ one: { row_deleted: false } })).toBe('one: torn down; the service kept its record');
  expect(words({ one: {}, two: { row_deleted: false } })).toBe(
    'Undeployed one. two: torn down; the service kept its record',
  );
});

it('names an active deployment with the role of a test by its role, and still asks for its slug (B10)', () => {
  const outages = ['test', 'production'].flatMap(role => {
    const row = { deployment_id: role, model_slug: `my-${role}`, status: 'DEPLOYED', role, is_active: true };
    return outagesOf<Deployment>([{ action: deploymentActions.undeploy, row: deployment.parse(row) }]);
  });
  const loses = 'Nothing answers there until another deployment is promoted.';
  expect(describeOutages(outages)).toBe(`In production: my-production. ${loses} Active, role test: my-test. ${loses} `);
  expect(typedFor(outages)).toBe('my-test my-production');
});
