/**
 * Endpoints and resources that the service lacks: noted quietly or once, with the known data, and not requested again.
 */
import { describe, expect, it } from 'vitest';
import { AuthenticationError, ServerError } from '../../../src/service/errors.ts';
import { noConnection } from '../../../src/ui/app/connection.ts';
import { eventually } from '../../eventually.ts';
import type { Answers } from '../../queries/scripted-service.ts';
import { notFound, pageOf } from '../../queries/scripted-service.ts';
import { morePolls, openWorld, world } from './scripted-world.tsx';

const trajectory = { trajectory_id: 'traj_1', task_id: 'one/task', status: 'completed', reward: 0.25 };
const training = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'longer', status: 'running' };
const trainingAnswers: Answers = {
  listTrainingRuns: () => [training],
  getTrainingRun: () => training,
  getTrainingProgress: () => ({ training_run_id: 'trn_1', status: 'running', completed_steps: 3, total_steps: 40 }),
  getTrainerRewards: () => ({ trainer_rewards: [] }),
  getHeldOutRewards: () => ({ held_out_rewards: [] }),
};

describe('a list that the service does not offer', () => {
  it('shows what was seen here, with its age and a note', async () => {
    const service = world('completed');
    delete service.answers.listTrajectories;
    service.answers.getTrajectory = () => ({ ...trajectory, steps: [] });
    service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: [trajectory] });
    const screen = openWorld(service, { view: 'list', resource: 'trajectories' });
    await screen.waitFor('This service does not list trajectories: these were seen');
    await screen.waitFor('• not listed ─');
    await screen.type(':run evr_1\r');
    await screen.waitFor('▸ one/task');
    await screen.type(':trajectories\r');
    await screen.waitFor(text => text.includes('▸ one/task') && text.includes('does not list trajectories'));
    await screen.waitFor(text => /not listed, seen \d+s ago/.test(text));
    expect(screen.text()).toMatch(/seen +\d+s ago/);
    expect(screen.text()).not.toMatch(/failing|listTrajectories/);
  });

  it('is requested once, and again by hand', async () => {
    const service = world();
    delete service.answers.listTrajectories;
    const screen = openWorld(service, { view: 'list', resource: 'trajectories' });
    await screen.waitFor('does not list trajectories');
    await screen.type(':watch\r');
    await screen.waitFor('▸ baseline');
    await screen.type(':trajectories\r');
    await screen.waitFor('does not list trajectories');
    await morePolls(service);
    expect(service.asked('listTrajectories')).toBe(1);
    service.answers.listTrajectories = () => pageOf([trajectory]);
    await screen.press('r');
    await screen.waitFor('▸ one/task');
    expect(screen.text()).not.toContain('does not list');
  });

  it('is not a failure of the view that contains it', async () => {
    const service = world();
    Object.assign(service.answers, trainingAnswers);
    const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' });
    await screen.waitFor('This service does not list checkpoints.');
    await screen.waitFor('step 3 of 40');
    await morePolls(service);
    await screen.waitFor('live, read every');
    expect(screen.text()).not.toMatch(/failing|listCheckpoints/);
    expect(service.asked('listCheckpoints')).toBe(1);
  });
});

it('what is down for an hour costs only itself, and is requested again within a minute and by hand (B23)', async () => {
  const service = world();
  service.answers.listDeployments = () => {
    throw new ServerError('Deployments are under maintenance.', { status: 503, retryAfterMs: 3_600_000 });
  };
  const screen = openWorld(service, { view: 'list', resource: 'deployments' });
  await screen.waitFor(text => text.includes('✗ Deployments are under') && /failing, retry in (1m|\d\d?s)/.test(text));
  await screen.type(':watch\r');
  await screen.waitFor('▸ baseline');
  const asked = service.asked('listDeployments');
  await morePolls(service, 30);
  expect(screen.text()).not.toContain('failing');
  expect(service.asked('listDeployments')).toBe(asked);
  await screen.type(':deployments\r');
  await screen.waitFor('✗ Deployments are under');
  const deployment = { deployment_id: 'dep_1', model_slug: 'talker', status: 'DEPLOYED' };
  service.answers.listDeployments = () => pageOf([deployment]);
  await screen.press('r');
  await screen.waitFor('▸ talker');
});

describe('a missing resource', () => {
  it.each([
    ['trajectories', 'trajectory_id', 'getTrajectory'],
    ['deployments', 'deployment_id', 'getDeployment'],
  ] as const)('in %s is requested once, and again by hand', async (resource, param, operation) => {
    const service = world();
    service.answers[operation] = ids => notFound(ids[param] ?? '');
    const screen = openWorld(service, { view: 'record', resource, id: 'lost_1' });
    await screen.waitFor('There is no lost_1.');
    await screen.waitFor('✗ not found');
    // Something else is being polled all the while.
    await screen.type(':watch\r');
    await morePolls(service);
    await screen.type('-');
    await screen.waitFor('There is no lost_1.');
    const before = service.asked(operation);
    await eventually(() => expect(service.asked('getEvalProgress')).toBeGreaterThan(3));
    expect(service.asked(operation)).toBe(before);
    expect(screen.text()).not.toMatch(/failing|retry in/);
    await screen.press('r');
    await eventually(() => expect(service.asked(operation)).toBe(before + 1));
  });
});

describe('a key refused while a record is open', () => {
  it.each([
    ['runs', 'evr_1', '2 of 4 rollouts', ['getEvalRun', 'getEvalProgress']],
    ['training', 'trn_1', 'step 3 of 40', ['getTrainingRun', 'getTrainingProgress']],
    ['deployments', 'dep_1', 'talker', ['getDeployment']],
  ] as const)('is shown with its setting: %s', async (resource, id, words, operations) => {
    const service = world();
    const getDeployment = () => ({ deployment_id: 'dep_1', model_slug: 'talker', status: 'DEPLOYING' });
    Object.assign(service.answers, trainingAnswers, { getDeployment, listCheckpoints: () => pageOf([]) });
    const connection = { ...noConnection, origins: ['The key comes from apiKeyFile in config.json.'] };
    const screen = openWorld(service, { view: 'record', resource, id }, { connection });
    await screen.waitFor(words);
    for (const operation of operations) {
      service.answers[operation] = () => {
        throw new AuthenticationError('The key is not known.', { status: 401 });
      };
    }
    await screen.press('r');
    await screen.waitFor(text => text.includes('✗ The key is not known.') && text.includes('comes from apiKeyFile'));
    expect(screen.text()).toContain(words);
  });
});

it('shows a deployment with the error if another program deletes it before it is opened from its list', async () => {
  const service = world('completed');
  const deployment = { deployment_id: 'dep_1', model_slug: 'talker', status: 'DEPLOYED' };
  service.answers.listDeployments = () => pageOf([deployment]);
  service.answers.getDeployment = () => {
    service.answers.listDeployments = () => pageOf([]);
    return notFound('dep_1');
  };
  const screen = openWorld(service, { view: 'list', resource: 'deployments' });
  await screen.waitFor('▸ talker');
  await screen.press('enter');
  await screen.waitFor('There is no dep_1.');
  await eventually(() =>
    expect(screen.workbench.statuses.all().some(known => known.id === 'dep_1' && known.gone)).toBe(true),
  );
  await screen.waitFor(text => !text.includes('Asking'));
  expect(screen.text()).toContain('There is no dep_1.');
  expect(screen.text()).not.toMatch(/read \d+s ago/);
});

// Their lists read the rewards of the rows on screen, and find out before one is opened.
it.each([
  ['training', 'trn_1', ['getTrainingRun', 'getTrainingProgress', 'getTrainerRewards', 'getHeldOutRewards']],
  ['runs', 'evr_1', ['getEvalRun', 'getEvalProgress', 'getTrajectoryRewards', 'getRolloutStatistics']],
] as const)(
  'shows a resource of %s with the error if it is deleted before it is opened',
  async (resource, id, operations) => {
    const service = world('completed');
    Object.assign(service.answers, trainingAnswers, { listTrainingRuns: () => [], listEvalRuns: () => [] });
    for (const operation of operations) service.answers[operation] = () => notFound(id);
    const screen = openWorld(service, { view: 'record', resource, id });
    await screen.waitFor(`There is no ${id}.`);
    await screen.waitFor(text => !text.includes('Asking'));
    expect(screen.text()).toContain(`There is no ${id}.`);
    expect(screen.text()).not.toMatch(/read \d+s ago/);
  },
);

describe('a resource deleted by another program while it is open', () => {
  const rows = [
    { ...trajectory, num_steps: 2 },
    { ...trajectory, trajectory_id: 'traj_2', task_id: 'two/task' },
  ];

  it.each(['running', 'completed'])('keeps the last data of a run that is %s, and says so', async status => {
    const service = world(status);
    service.answers.getTrajectoryRewards = () => ({ trajectory_rewards: rows });
    service.answers.listTrajectories = () => pageOf(rows);
    const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
    await screen.waitFor(text => text.includes('one/task') && text.includes('mean') && text.includes('two/task'));
    for (const operation of [
      'getEvalRun',
      'getEvalProgress',
      'getTrajectoryRewards',
      'getRolloutStatistics',
    ] as const) {
      service.answers[operation] = () => notFound('evr_1');
    }
    service.answers.listTrajectories = () => pageOf([]);
    service.answers.listEvalRuns = () => [];
    // An ended run is not polled by itself: the list of runs shows that it is gone.
    await screen.waitFor('✗ Deleted from the service. ');
    await screen.waitFor(text => /deleted, read \d+s ago/.test(text));
    expect(screen.text().match(/read \d+\w ago/g)).toHaveLength(1);
    const listed = service.asked('listTrajectories');
    await screen.press('r');
    await eventually(() => expect(service.asked('listTrajectories')).toBeGreaterThan(listed));
    await eventually(() => expect(screen.workbench.cache.isFetching()).toBe(0));
    await screen.waitFor(text => text.includes('2 of 4 rollouts') || text.includes('4 of 4 rollouts'));
    const text = screen.text();
    expect(text).toMatch(/one\/task +0\.250? +✓ completed +2/);
    expect(text).toContain('two/task');
    expect(text).not.toMatch(/unknown|running ─|There is no|<d> delete/);
    const before = service.asked('getEvalProgress') + service.asked('getEvalRun');
    await morePolls(service);
    expect(service.asked('getEvalProgress') + service.asked('getEvalRun')).toBe(before);
  });

  it('keeps the curves and checkpoints of a training run', async () => {
    const service = world('completed');
    Object.assign(service.answers, trainingAnswers, {
      getTrainerRewards: () => ({ trainer_rewards: [0, 1, 2].map(step => ({ step, trainer_reward: step / 4 })) }),
      listCheckpoints: () => [{ checkpoint_id: 'ckpt_1', step_index: 2 }],
    });
    const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' });
    await screen.waitFor(
      text => text.includes('step 3 of 40') && text.includes('step 2 ') && text.includes('1 running'),
    );
    for (const operation of [
      'getTrainingRun',
      'getTrainingProgress',
      'getTrainerRewards',
      'listCheckpoints',
    ] as const) {
      service.answers[operation] = () => notFound('trn_1');
    }
    service.answers.listTrainingRuns = () => [];
    await screen.waitFor('Deleted from the service.');
    await screen.waitFor(text => !text.includes('1 running'));
    const text = screen.text();
    expect(text).toMatch(/step 3 of 40[\s\S]*trainer 0\.500[\s\S]*▸ step 2 +ckpt_1/);
    expect(text).not.toMatch(/unknown|There is no|steps\/s/);
  });

  it('keeps the facts of a deployment', async () => {
    const service = world('completed');
    const deployment = { deployment_id: 'dep_1', model_slug: 'talker', status: 'DEPLOYED' };
    service.answers.getDeployment = () => deployment;
    const screen = openWorld(service, { view: 'record', resource: 'deployments', id: 'dep_1' });
    await screen.waitFor('✓ deployed');
    service.answers.getDeployment = () => notFound('dep_1');
    await screen.waitFor('Deleted from the service.');
    expect(screen.text()).toContain('✓ deployed');
    expect(screen.text()).not.toContain('There is no dep_1');
  });
});
