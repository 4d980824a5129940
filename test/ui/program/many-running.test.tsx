/** Many running resources: most are followed through their list, without a request for each. */
import { expect, it } from 'vitest';
import { pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from './scripted-world.tsx';
import { pass, startVirtualTime } from './virtual-time.ts';

const deployments = Array.from({ length: 50 }, (_, index) => ({
  deployment_id: `dep_${index}`,
  model_slug: `slug-${index}`,
  status: 'DEPLOYING',
  created_at: `2026-03-04T05:06:${String(10 + index)}Z`,
}));

it('are not read one by one in Watch', async () => {
  startVirtualTime();
  const run = world();
  run.answers.listDeployments = () => pageOf(deployments);
  run.answers.getDeployment = ({ deployment_id }) => deployments.find(each => each.deployment_id === deployment_id);
  const screen = openWorld(run, { view: 'watch' }, { poll: { focusedMs: 2_000, visibleMs: 30_000 } });
  await pass(3 * 60_000);
  expect(screen.text()).toContain('slug-49');
  const asked = deployments.filter(({ deployment_id }) => run.asked('getDeployment', deployment_id) > 0);
  expect(asked.length).toBeLessThanOrEqual(10);
  expect(run.asked('listDeployments')).toBeGreaterThan(1);
});
