/** How often deployments are asked for. */
import { expect, it } from 'vitest';
import { deploymentList, deploymentQuery } from '../../src/queries/deployments.ts';

it.each([
  ['pending', 'building'],
  ['deploying', 'building'],
  ['deployed', 'open'],
  ['failed', 'open'],
])('one that is %s changes like something %s', (status, activity) => {
  const deployment = { deployment_id: 'd1', status };
  expect(deploymentQuery('d1').activity(deployment)).toBe(activity);
  expect(deploymentList.activity?.([{ deployment_id: 'd2', status: 'failed' }, deployment])).toBe(activity);
});
