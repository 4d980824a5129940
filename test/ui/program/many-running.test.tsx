/** Many resources that run: most are followed by their list, not by a request of each. */
import { expect, it } from 'vitest';
import { pageOf } from '../../queries/scripted-service.ts';
import { morePolls, openWorld, world } from './scripted-world.tsx';

const deployments = Array.from({ length: 50 }, (_, index) => ({
  deployment_id: `dep_${index}`,
  model_slug: `slug-${index}`,
  status: 'DEPLOYING',
  created_at: `2026-03-04T05:06:${String(10 + index)}Z`,
}));

it('are not read one by one in Watch', async () => {
  const run = world();
  run.answers.listDeployments = () => pageOf(deployments);
  run.answers.getDeployment = ({ deployment_id }) => deployments.find(each => each.deployment_id === deployment_id);
  const screen = openWorld(run, { view: 'watch' }, { poll: { focusedMs: 20, visibleMs: 60_000 } });
  await screen.waitFor('slug-49');
  // Rounds of the run that is watched as well.
  await morePolls(run, 60);
  const asked = deployments.filter(({ deployment_id }) => run.asked('getDeployment', deployment_id) > 0);
  expect(asked.length).toBeLessThanOrEqual(10);
});
