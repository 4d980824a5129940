/** Two numbers in one frame never disagree, and a frame without changes is not sent. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Operation } from '../../../src/contract/endpoints.ts';
import { CapabilityMissingError, ServiceError } from '../../../src/service/errors.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { eventually } from '../../eventually.ts';
import { notFound, pageOf } from '../../queries/scripted-service.ts';
import { morePolls, often, openWorld, type World, world } from './scripted-world.tsx';
import { passing, startVirtualTime } from './virtual-time.ts';

/** The number behind a section. */
function sectionCount(text: string, section: string): string | undefined {
  return new RegExp(`^│ . ?${section} +(\\S*) *│`, 'm').exec(text)?.[1];
}

describe('the count of a section', () => {
  it('is right at once after a change by the program, even if the list is not on screen', async () => {
    const service = world('none');
    const screen = openWorld(service, { view: 'list', resource: 'runs' });
    await screen.waitFor('No runs yet');
    await screen.waitFor(text => sectionCount(text, 'Runs') === '0');
    await screen.type(':benchmarks\r');
    await screen.waitFor('▸ t-words');
    await screen.press('e');
    await screen.waitFor('acme/small');
    await screen.press('enter');
    await screen.waitFor(text => sectionCount(text, 'Runs') === '1');
    await screen.type(':runs\r');
    await screen.waitFor('▸ baseline');
    await screen.press('d');
    await screen.waitFor('Delete this run?');
    await screen.press('y');
    await screen.waitFor(text => text.includes('No runs yet') && sectionCount(text, 'Runs') === '0');
  });

  it('of Watch is the number of its lines', async () => {
    const service = world();
    const screen = openWorld(service, { view: 'list', resource: 'runs' });
    await screen.waitFor(text => sectionCount(text, 'Watch') === '1' && text.includes('1 running'));
    service.status = 'completed';
    await screen.waitFor(text => !text.includes('1 running') && text.includes('✓ completed'));
    expect(sectionCount(screen.text(), 'Watch')).toBe('1');
    await screen.type(':watch\r');
    await screen.waitFor(text => text.includes('WATCHED') && text.includes('▸ baseline'));
    await screen.press('backspace');
    await screen.waitFor(text => text.includes('Nothing is running') && sectionCount(text, 'Watch') === '');
  });
});

it('does not deny in Watch that something runs while a list has unread pages (attack34 A1)', async () => {
  const service = world('completed');
  const deployment = { deployment_id: 'dep_1', deployment_name: 'one', status: 'terminated' };
  service.answers.listDeployments = () => ({ ...pageOf([deployment]), has_more: true, next_cursor: 'next' });
  const screen = openWorld(service, { view: 'watch' });
  await screen.waitFor('Nothing is running or pinned in the rows that have been read');
});

it('does not deny in Watch that something runs if a list is unreadable or not offered (attack35 B2, B3)', async () => {
  const partly = world('completed');
  partly.answers.listDeployments = () => ({ ...pageOf([]), dropped: 1 });
  const screen = openWorld(partly, { view: 'watch' });
  await screen.waitFor('Nothing is running or pinned in the rows that have been read');
  const unlisted = world('completed');
  unlisted.answers.listEvalRuns = unlisted.answers.listTrainingRuns = () => {
    throw new CapabilityMissingError('listEvalRuns');
  };
  const other = openWorld(unlisted, { view: 'watch' });
  await other.waitFor('Nothing that was seen on this machine is running or pinned; this service does not list runs');
});

it('does not count what the service does not list as none, or what was seen of it as all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-counts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const remembered = () => RememberedStore.open(join(folder, 'seen.db'), 'test');
  const start = { view: 'list', resource: 'benchmarks' } as const;
  const service = world();
  delete service.answers.listEvalRuns;
  delete service.answers.listTrainingRuns;
  const screen = openWorld(service, start, { remembered });
  const counts = (text: string) => ['Runs', 'Training', 'Trajectories'].map(each => sectionCount(text, each)).join();
  await screen.waitFor(text => counts(text) === '?,?,0');
  await screen.type(':run evr_1\r');
  await screen.waitFor(text => counts(text) === '1+,?,0');
  screen.workbench.close();
  const down = world();
  for (const name of ['listBenchmarks', 'listEvalRuns', 'listTrainingRuns', 'listTrajectories'] as const) {
    down.answers[name] = () => {
      throw new ServiceError('server', 'The store is out.', { status: 500 });
    };
  }
  await openWorld(down, start, { remembered }).waitFor(text => counts(text) === '1+,?,0');
});

describe('the count of a section that was never opened', () => {
  const dataset = { dataset_id: 'ds_1', dataset_name: 'walks' };

  it('is read in the background, and not again if it is refused', async () => {
    const service = world();
    const refused = { secrets: 0 };
    service.answers.listDatasets = () => pageOf([dataset]);
    service.answers.listSecrets = () => {
      refused.secrets += 1;
      throw new ServiceError('permission', 'Secrets are for owners.', { status: 403 });
    };
    const screen = openWorld(service, { view: 'list', resource: 'benchmarks' });
    await screen.waitFor(text => sectionCount(text, 'Datasets') === '1' && sectionCount(text, 'Models') === '1');
    await eventually(() => expect(refused.secrets).toBe(1));
    await morePolls(service, 40);
    expect(refused.secrets).toBe(1);
    expect(sectionCount(screen.text(), 'Secrets')).not.toMatch(/\d/);
  });

  it('is not read while no count is on screen', async () => {
    const service = world();
    service.answers.listDatasets = () => pageOf([dataset]);
    const screen = openWorld(service, { view: 'list', resource: 'benchmarks' }, { columns: 70 });
    await screen.waitFor('▸ t-words');
    await morePolls(service, 40);
    expect(service.asked('listDatasets')).toBe(0);
    await screen.resize(130, 30);
    await screen.waitFor(text => sectionCount(text, 'Datasets') === '1');
  });
});

describe('a change by another program', () => {
  const benchmarks = { view: 'list', resource: 'benchmarks' } as const;
  const training = {
    training_run_id: 'trn_1',
    bench_id: 'bench_1',
    display_name: 'theirs',
    status: 'running',
    created_at: '2026-03-04T05:06:07Z',
  };

  it('is counted while something else is on screen: what it starts, and what it deletes', async () => {
    const service = world('none');
    const screen = openWorld(service, { view: 'list', resource: 'runs' });
    await screen.waitFor(text => sectionCount(text, 'Runs') === '0');
    await screen.type(':benchmarks\r');
    await screen.waitFor('▸ t-words');
    service.status = 'running';
    service.answers.listTrainingRuns = () => [training];
    await screen.waitFor(text => sectionCount(text, 'Runs') === '1' && sectionCount(text, 'Training') === '1');
    await screen.waitFor(text => text.includes('2 running') && sectionCount(text, 'Watch') === '2');
    service.answers.getTrainingProgress = service.answers.getTrainingRun = () => notFound('trn_1');
    service.answers.listTrainingRuns = () => [];
    await screen.waitFor(text => sectionCount(text, 'Training') === '0' && text.includes('1 running'));
  });

  it('is read again if the first request about what its list lacks fails', async () => {
    const service = world();
    const screen = openWorld(service, { view: 'list', resource: 'benchmarks' });
    await screen.waitFor(text => sectionCount(text, 'Watch') === '1' && text.includes('1 running'));
    service.status = 'completed';
    await screen.waitFor(text => !text.includes('1 running') && sectionCount(text, 'Watch') === '1');
    let failures = 0;
    service.answers.getEvalProgress = service.answers.getEvalRun = () => {
      if (failures > 0) return notFound('evr_1');
      failures += 1;
      throw new ServiceError('server', 'The store is out.', { status: 500 });
    };
    service.answers.listEvalRuns = () => [];
    const isGone = () => screen.workbench.statuses.get({ kind: 'run', id: 'evr_1' })?.gone;
    await eventually(() => expect([failures, isGone()]).toEqual([1, true]));
  });

  it('is counted as running as soon as another program on this machine has seen it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'benchtop-counts-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const open = () => RememberedStore.open(join(folder, 'seen.db'), 'test');
    const service = world('none');
    // No list has a run.
    service.answers.listBenchmarks = () => pageOf([]);
    service.answers.getTrainingProgress = () => ({ status: 'running', completed_steps: 1, total_steps: 9 });
    const screen = openWorld(service, benchmarks, { remembered: open });
    await screen.waitFor(text => sectionCount(text, 'Training') === '0');
    const other = open();
    onTestFinished(() => other.close());
    other.see([{ kind: 'training', id: 'trn_1', label: 'theirs', status: 'running' }], Date.now());
    other.flush();
    await screen.waitFor(text => text.includes('1 running') && sectionCount(text, 'Watch') === '1');
    other.pin({ kind: 'benchmark', id: 'bench_1', label: 't-words' });
    await screen.waitFor(text => sectionCount(text, 'Watch') === '2');
  });

  it('is unknown if no row was readable, and a lower bound if some were', async () => {
    const service = world('none');
    service.answers.listDatasets = () => ({ ...pageOf([]), dropped: 3 });
    const screen = openWorld(service, { view: 'list', resource: 'datasets' });
    await screen.waitFor('could not be read, and there are no others');
    await screen.waitFor(text => sectionCount(text, 'Datasets') === '?');
    service.answers.listDatasets = () => ({ ...pageOf([{ dataset_id: 'd' }]), dropped: 3 });
    await screen.press('r');
    await screen.waitFor(text => sectionCount(text, 'Datasets') === '1+');
  });

  it('corrects a count at once if an answer is about what the list lacks', async () => {
    const service = world('none');
    service.answers.listTrainingRuns = () => [];
    // Nothing is read again by itself.
    const poll = { focusedMs: 60_000, visibleMs: 60_000 };
    const screen = openWorld(service, { view: 'list', resource: 'training' }, { poll });
    await screen.waitFor(text => sectionCount(text, 'Training') === '0');
    service.answers.getTrainingRun = () => training;
    service.answers.getTrainingProgress = () => ({ status: 'running', completed_steps: 1, total_steps: 9 });
    service.answers.listTrainingRuns = () => [training];
    await screen.type(':trn_1\r');
    await screen.waitFor(text => text.includes('step 1 of 9') && sectionCount(text, 'Training') === '1');
    const before = service.asked('listTrainingRuns');
    await screen.press('r');
    await eventually(() => expect(service.asked('getTrainingProgress')).toBeGreaterThan(0));
    expect(service.asked('listTrainingRuns')).toBe(before);
  });

  it('is counted as soon as a benchmark reports more runs', async () => {
    const service = world('completed');
    let benchmark = { bench_id: 'bench_1', label: 't-words', eval_run_count: 1 };
    const runs = ['evr_1', 'evr_2'].map(eval_run_id => ({ eval_run_id, bench_id: 'bench_1', status: 'completed' }));
    service.answers.listBenchmarks = () => pageOf([benchmark]);
    service.answers.listEvalRuns = () => runs.slice(1);
    // Nothing else reads the runs again: a count is read after six of the longer intervals.
    const poll = { focusedMs: 20, visibleMs: 60_000 };
    const screen = openWorld(service, { view: 'list', resource: 'runs' }, { poll });
    vi.spyOn(screen.workbench, 'openedAt', 'get').mockReturnValue(Date.now() - 3_600_000);
    await screen.waitFor(text => sectionCount(text, 'Runs') === '1');
    await screen.type(':benchmarks\r');
    await screen.waitFor('▸ t-words');
    service.answers.listEvalRuns = () => runs;
    benchmark = { ...benchmark, eval_run_count: 2 };
    await screen.press('r');
    await screen.waitFor(text => /▸ t-words +2 /.test(text) && sectionCount(text, 'Runs') === '2');
  });

  it('shows the age of a count that cannot be read again', async () => {
    const service = world();
    const screen = openWorld(service, { view: 'list', resource: 'runs' });
    await screen.waitFor(text => sectionCount(text, 'Runs') === '1');
    service.answers.listEvalRuns = () => {
      throw new Error('the cable is out');
    };
    await screen.type(':benchmarks\r');
    await screen.waitFor('▸ t-words');
    await screen.waitFor(text => /^│ oldest count \d+s/m.test(text));
    expect(sectionCount(screen.text(), 'Runs')).toBe('1');
    // The section under the cursor always shows its age.
    await screen.press('h', 'j');
    await screen.waitFor(text => /▸ Runs/.test(text) && /^│ counted \d+s ago/m.test(text));
    await screen.resize(60, 15);
    await screen.waitFor(text => /▸ Runs +counted \d+s ago +1 │/.test(text));
  });

  it('is polled much less often than what is on screen', async () => {
    const service = world();
    const poll = { ...often, visibleMs: 6 * often.visibleMs };
    const screen = openWorld(service, benchmarks, { poll });
    await screen.waitFor('▸ t-words');
    await screen.waitFor('1 running');
    const [polls, seldom, began] = [service.asked('listBenchmarks'), service.asked('listEvalRuns'), Date.now()];
    await eventually(() => expect(service.asked('listBenchmarks')).toBeGreaterThan(polls + 8));
    const intervals = (Date.now() - began) / poll.visibleMs;
    expect(service.asked('listEvalRuns') - seldom).toBeLessThanOrEqual(1 + intervals / 5);
  });
});

describe('the frame', () => {
  it('never shows a run as running next to one that shows it as ended', async () => {
    const service = world();
    const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
    await screen.waitFor(text => text.includes('1 running') && text.includes('● running'));
    service.status = 'completed';
    // Every frame until both have changed, and one more: the head and the frame are drawn together.
    await screen.waitFor(text => text.includes('✓ completed'));
    await screen.waitFor(text => !text.includes('1 running'));
    await eventually(() => expect(screen.text()).toContain('4 of 4 rollouts'));
  });

  it('is not sent again while polls bring nothing new', async () => {
    startVirtualTime();
    const service = world();
    const poll = { focusedMs: 500, visibleMs: 500 };
    const screen = openWorld(service, { view: 'list', resource: 'runs' }, { poll });
    await passing(screen.waitFor('▸ baseline'));
    await passing(screen.waitFor('1 running'));
    // Each count is drawn when it is first known.
    await passing(
      screen.waitFor(text =>
        ['Training 0', 'Deployments 0', 'Trajectories 0', 'Models 1'].every(each => {
          const [section = '', count] = each.split(' ');
          return sectionCount(text, section) === count;
        }),
      ),
    );
    await passing(morePolls(service, 4));
    await passing(screen.press());
    screen.bytes();
    await passing(morePolls(service, 8));
    expect(screen.bytes()).toBe(0);
  });

  it('changes few cells for a new point of a long curve (200x60)', async () => {
    startVirtualTime();
    const service = world('none');
    const created_at = '2026-03-04T05:06:07Z';
    const run = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'long', status: 'running', created_at };
    let steps = 20_007;
    const step = (_: unknown, index: number) => ({ step: index + 1, trainer_reward: Math.sin(index) });
    Object.assign(service.answers, {
      listTrainingRuns: () => [run],
      getTrainingRun: () => run,
      getTrainingProgress: () => ({ ...run, completed_steps: steps, total_steps: 40_000 }),
      getTrainerRewards: () => ({ trainer_rewards: Array.from({ length: steps }, step) }),
      getHeldOutRewards: () => ({ held_out_rewards: [] }),
      getStepTrajectoryRewards: () => ({ trajectory_rewards: [] }),
      listCheckpoints: () => [],
    } satisfies Partial<typeof service.answers>);
    const place = { view: 'record', resource: 'training', id: 'trn_1' } as const;
    const screen = openWorld(service, place, { poll: { focusedMs: 300, visibleMs: 300 }, columns: 200, rows: 60 });
    // The hints come with the last part that the view loads.
    const shows = (...words: readonly string[]) =>
      passing(screen.waitFor(text => words.every(each => text.includes(each))));
    await shows('step 20007: no rollouts', '<i> overlay');
    screen.bytes();
    steps += 1;
    await shows('step 20008 of', 'step 20008: no rollouts');
    expect(screen.bytes()).toBeLessThan(300);
  });
});

describe('the line above the deployments', () => {
  it('counts the rows below it, not those of another answer', async () => {
    const service = world();
    const deployment = { deployment_id: 'dep_1', model_slug: 'talker', status: 'DEPLOYED', is_active: true };
    service.answers.listDeployments = () =>
      pageOf([deployment, { deployment_id: 'dep_2', model_slug: 'talker', status: 'FAILED' }]);
    service.answers.getDeploymentSummary = () => ({ total: 1, active: 0, DEPLOYED: 1 });
    const screen = openWorld(service, { view: 'list', resource: 'deployments' });
    await screen.waitFor('2 in all: 1 deployed, 1 failed; 1 active');
    service.answers.listDeployments = () => ({ ...pageOf([deployment]), has_more: true, next_cursor: 'next' });
    await screen.waitFor('1 in all: 1 deployed; 0 active');
  });
});

describe('the head of a run', () => {
  it('counts completed rollouts of the rows below it, even while its other answers are late', async () => {
    const service = world();
    const rollout = (id: number, status: string, reward: number | null) => {
      return { trajectory_id: `traj_${id}`, task_id: `task ${id}`, eval_run_id: 'evr_1', status, reward };
    };
    let rollouts = [1, 2].map(id => rollout(id, 'running', null));
    service.answers.getEvalProgress = () => ({ status: 'running', terminal_rollouts: 0, total_rollouts: 28 });
    service.answers.listTrajectories = () => pageOf(rollouts);
    const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' });
    await screen.waitFor(text => text.includes('0 of 28 rollouts') && text.includes('● running'));
    const late = new Promise(() => {});
    service.answers.getEvalProgress = service.answers.getEvalRun = service.answers.getTrajectoryRewards = () => late;
    rollouts = [rollout(1, 'completed', 0.5), rollout(2, 'completed', 0.25)];
    await screen.waitFor(text => text.includes('2 of 28 rollouts') && /mean so far 0\.375 over 2 rewards/.test(text));
    // Rollouts of watched runs do not get their own lines.
    expect(sectionCount(screen.text(), 'Watch')).toBe('1');
  });
});

describe('the steps of a training run', () => {
  it('end where its curve ends, or the curve says where it ends', async () => {
    const service = world('none');
    let steps = 1;
    const created_at = '2026-03-04T05:06:07Z';
    const run = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'long', status: 'running', created_at };
    Object.assign(service.answers, {
      listTrainingRuns: () => [run],
      getTrainingRun: () => run,
      getTrainingProgress: () => {
        steps += 3;
        return { status: 'running', completed_steps: steps, total_steps: 900 };
      },
      getTrainerRewards: () => ({
        trainer_rewards: Array.from({ length: steps }, (_, index) => ({ step: index + 1, trainer_reward: index + 1 })),
      }),
      getHeldOutRewards: () => ({ held_out_rewards: [] }),
      listCheckpoints: () => [],
    });
    const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' });
    const seen = new Set<number>();
    const ahead: string[] = [];
    await screen.waitFor(text => {
      const [done, last] = [/step (\d+) of 900/, /trainer (\d+)/].map(pattern => Number(pattern.exec(text)?.[1]));
      if (done === undefined || last === undefined || Number.isNaN(last) || Number.isNaN(done)) return false;
      seen.add(done);
      // The legend rounds to three digits.
      if (done > last + 1 && !text.includes(`read up to step ${last}`)) ahead.push(`step ${done} above ${last}`);
      return seen.size >= 12 || done > 600;
    });
    expect(ahead).toEqual([]);
  });
});

describe('the record of a running run', () => {
  // Data that changes by itself is polled often, and nothing else is polled within the test.
  const poll = { focusedMs: 20, visibleMs: 600_000 };

  /** Waits until the one has been polled often; the other has hardly been polled. */
  async function polledOn({ asked }: World, polled: Operation, other: Operation): Promise<void> {
    const before = { polled: asked(polled), other: asked(other) };
    await eventually(() => expect(asked(polled)).toBeGreaterThan(before.polled + 20));
    expect(asked(other) - before.other).toBeLessThanOrEqual(2);
  }

  it('has its curve read again only after a new step', async () => {
    const service = world('none');
    let steps = 3;
    const run = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'slow', status: 'running' };
    Object.assign(service.answers, {
      listTrainingRuns: () => [run],
      getTrainingRun: () => run,
      getTrainingProgress: () => ({ status: 'running', completed_steps: steps, total_steps: 9 }),
      getTrainerRewards: () => ({
        trainer_rewards: Array.from({ length: steps }, (_, index) => ({ step: index + 1, trainer_reward: index + 1 })),
      }),
      getHeldOutRewards: () => ({ held_out_rewards: [] }),
      listCheckpoints: () => [],
    });
    // Not even as often as a list.
    const often = { focusedMs: 20, visibleMs: 20 };
    const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' }, { poll: often });
    await screen.waitFor(text => text.includes('step 3 of 9') && text.includes('trainer 3.00'));
    await polledOn(service, 'getTrainingProgress', 'getTrainerRewards');
    steps = 4;
    await screen.waitFor(text => text.includes('step 4 of 9') && text.includes('trainer 4.00'));
    await polledOn(service, 'getTrainingProgress', 'getTrainerRewards');
    // While the steps cannot be read, the curve is.
    service.answers.getTrainingProgress = () => {
      throw new Error('lost');
    };
    steps = 5;
    await screen.waitFor('trainer 5.00');
    // The last step is done in the same moment as the run.
    let status = 'running';
    service.answers.getTrainingProgress = () => ({ status, completed_steps: steps, total_steps: 6 });
    await screen.waitFor('step 5 of 6');
    await polledOn(service, 'getTrainingProgress', 'getTrainerRewards');
    [steps, status] = [6, 'succeeded'];
    await screen.waitFor('trainer 6.00');
  });

  it('counts the steps that its curve lacks if that is so long that it is rarely read', async () => {
    const service = world('none');
    let steps = 60_000;
    const run = { training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'long', status: 'running' };
    const trainer_rewards = Array.from({ length: steps }, (_, index) => ({ step: index + 1, trainer_reward: 0.5 }));
    Object.assign(service.answers, {
      listTrainingRuns: () => [run],
      getTrainingRun: () => run,
      getTrainingProgress: () => ({ status: 'running', completed_steps: steps, total_steps: 90_000 }),
      getTrainerRewards: () => ({ trainer_rewards }),
      getHeldOutRewards: () => ({ held_out_rewards: [] }),
      listCheckpoints: () => [],
    });
    const screen = openWorld(service, { view: 'record', resource: 'training', id: 'trn_1' }, { poll });
    await screen.waitFor(text => text.includes('step 60000 of') && text.includes('trainer 0.500'));
    const asked = service.asked('getTrainerRewards');
    steps += 5;
    await screen.waitFor(
      text => text.includes('step 60005 of') && text.includes('trainer curve read up to step 60000'),
    );
    expect(service.asked('getTrainerRewards')).toBe(asked);
  });

  it('has its rewards and statistics read again only after a new reward', async () => {
    const service = world();
    let scored = 1;
    const rollouts = () =>
      Array.from({ length: scored }, (_, index) => ({
        trajectory_id: `traj_${index}`,
        task_id: `task ${index}`,
        status: 'completed',
        reward: 0.5,
      }));
    Object.assign(service.answers, {
      getEvalProgress: () => ({
        status: 'running',
        terminal_rollouts: scored,
        total_rollouts: 9,
        live: { scored_rollouts: scored },
      }),
      getTrajectoryRewards: () => ({ trajectory_rewards: rollouts() }),
    });
    const screen = openWorld(service, { view: 'record', resource: 'runs', id: 'evr_1' }, { poll });
    await screen.waitFor('0.500 over 1 reward');
    await polledOn(service, 'getEvalProgress', 'getRolloutStatistics');
    scored = 2;
    await screen.waitFor('0.500 over 2 rewards');
    await polledOn(service, 'getEvalProgress', 'getRolloutStatistics');
  });
});
