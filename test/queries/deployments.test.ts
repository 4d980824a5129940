/** The poll interval of deployments, and the report of a start. */
import { expect, it } from 'vitest';
import { deploymentList, deploymentQuery, startDeployment, undeploy } from '../../src/queries/deployments.ts';

it.each([
  ['pending', 'building'],
  ['deploying', 'building'],
  ['deployed', 'open'],
  ['failed', 'open'],
])('polls one that is %s like something %s', (status, activity) => {
  const deployment = { deployment_id: 'd1', status };
  expect(deploymentQuery('d1').activity(deployment)).toBe(activity);
  expect(deploymentList.activity?.([{ deployment_id: 'd2', status: 'failed' }, deployment])).toBe(activity);
});

it('finds one that was started or removed by its id', () => {
  const deployment = { deployment_id: 'd1', model_slug: 'tutor', status: 'PENDING', created_at: '2026-01-01' };
  expect(startDeployment.starts?.(deployment, {} as never)).toEqual({
    kind: 'deployment',
    id: 'd1',
    label: 'tutor',
    status: 'PENDING',
    startedAt: '2026-01-01',
    record: deployment,
  });
  expect(undeploy.removes?.resource({ deployment_id: 'd1' })).toEqual({ kind: 'deployment', id: 'd1' });
  expect(undeploy.removes?.resource({ deployment_id: 'd1' }, { row_deleted: false })).toBeUndefined();
});
