/**
 * Commands on services with fewer endpoints than benchtop would use: the document's paths only, or lists without single
 * records.
 */
import { describe, expect, it } from 'vitest';
import { answering } from '../answering.ts';
import { cliOn, testFolder } from '../commands/cli.ts';
import { apiKey, hostileServer, json, refusal, type SeenRequest } from '../service/hostile-server.ts';

type Routes = Readonly<Record<string, unknown>>;

const created_at = new Date().toISOString();
const rewards = {
  trajectory_rewards: [0, 0, 0.5, 0.5, 1, 1].map((reward, index) => ({
    reward,
    trajectory_id: `t${index}`,
    task_id: `task${index}`,
  })),
};
const benchmarks = { items: [{ bench_id: 'b1', label: 'alpha', created_at }], has_more: false, next_cursor: null };
const noRoute = refusal(404, 'invalid_request_error', 'not_found', { message: 'route' });
const noResource = refusal(404, 'invalid_request_error', 'resource_not_found');

/**
 * A service with these routes: their values are answers, or functions that return them. A value with an id but no path
 * is not a route.
 */
async function lesser(routes: Routes, ids: readonly string[]) {
  const server = await hostileServer((response, request) => {
    const { pathname } = new URL(request.url, 'http://lesser');
    const name = `${request.method} ${decodeURIComponent(pathname)}`;
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
    const answer = typeof route === 'function' ? (route as (request: SeenRequest) => unknown)(request) : route;
    if (answer !== undefined) return json(answer)(response, request);
    const id = /^\/api\/v1\/(?:eval|train|deploy|benchmarks)\/([^/]+)$/.exec(decodeURIComponent(pathname))?.[1];
    return (id === undefined || ids.includes(id) ? noRoute : noResource)(response, request);
  });
  return { ...server, cli: cliOn({ baseUrl: server.url, apiKey, home: testFolder() }) };
}

describe('a service without single runs and their progress', () => {
  const run = { eval_run_id: 'r9', bench_id: 'b1', display_name: 'ev', created_at };
  const world = (statuses: string[]) =>
    lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'POST /api/v1/eval/b1/start': run,
        'GET /api/v1/eval/b1/runs': () => [{ ...run, status: statuses.length > 1 ? statuses.shift() : statuses[0] }],
        'GET /api/v1/eval/r9/trajectory-rewards': rewards,
      },
      ['b1', 'r9'],
    );

  it('has the status of a run in the list of its benchmark', async () => {
    const { cli, requests } = await world(['running', 'completed']);
    const args = ['alpha', '--model', 'm', '--name', 'ev', '--wait', '--timeout', '60', '--field', 'status'];
    const { code, out, notes } = await cli('evaluate', args);
    expect([code, out.trim()]).toEqual([0, 'completed']);
    expect(notes).toContain('ev: completed');
    // The missing route was detected once.
    expect(requests.filter(({ url }) => url.endsWith('/progress'))).toHaveLength(1);
  });

  it('watches and reads a run by id', async () => {
    const { cli } = await world(['completed']);
    expect(await cli('watch', ['r9'])).toMatchObject({ code: 0, out: expect.stringContaining('completed') });
    const { code, out } = await cli('get', ['run', 'r9']);
    expect([code, out]).toEqual([0, expect.stringMatching(/mean\s+0\.500 over 6 rewards/)]);
  });
});

describe('a service with only the paths of the document', () => {
  const world = () =>
    lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'POST /api/v1/eval/b1/start': { eval_run_id: 'r1', bench_id: 'b1', display_name: 'ev' },
        'GET /api/v1/eval/r1/trajectory-rewards': rewards,
        'GET /api/v1/eval/r2/trajectory-rewards': rewards,
        'GET /api/v1/train/x-1/progress': {
          training_run_id: 'x-1',
          status: 'succeeded',
          completed_steps: 3,
          total_steps: 3,
        },
        'DELETE /api/v1/eval/b1/runs/r1': { bench_id: 'b1', eval_run_id: 'r1' },
        ...Object.fromEntries(
          rewards.trajectory_rewards.map(each => [`GET /api/v1/trajectories/${each.trajectory_id}`, each]),
        ),
      },
      ['b1', 'r1', 'r2', 'x-1'],
    );

  it('works on runs that were never seen here', async () => {
    const { cli } = await world();
    const compared = await cli('compare', ['r1', 'r2', '--json']);
    expect([compared.code, JSON.parse(compared.out)]).toMatchObject([0, { n: 6, ties: 6 }]);
    expect(await cli('get', ['run', 'r1'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/0\.500 over 6 rewards/),
    });
    expect((await cli('export', ['run', 'r1'])).out.trim().split('\n')).toHaveLength(6);
    expect((await cli('list', ['trajectories', '--run', 'r1', '--ids'])).out.trim().split('\n')).toHaveLength(6);
    // Once seen, it is still listed through its rewards.
    expect((await cli('list', ['trajectories', '--run', 'r1', '--ids'])).out.trim().split('\n')).toHaveLength(6);
    expect((await cli('get', ['run', 'r3'])).code).toBe(5);
  });

  it('reads and watches training runs by their progress', async () => {
    const { cli } = await world();
    expect(await cli('get', ['training', 'x-1'])).toMatchObject({ code: 0, out: expect.stringContaining('succeeded') });
    expect(await cli('watch', ['training', 'x-1'])).toMatchObject({ code: 0, out: expect.stringContaining('3 of 3') });
    expect((await cli('get', ['training', 'x-2'])).code).toBe(5);
  });

  it.each([
    ['watch', ['r1']],
    ['evaluate', ['alpha', '--model', 'm', '--name', 'ev', '--wait', '--timeout', '60']],
  ])('%s says that the end of a run cannot be seen', async (command, args) => {
    const { cli } = await world();
    const { code, notes } = await cli(command, args);
    expect([code, notes]).toEqual([6, expect.stringContaining('its outcome is unknown')]);
  });

  it('compares a run that it started, whose status the service does not report', async () => {
    const { cli } = await world();
    await cli('evaluate', ['alpha', '--model', 'm', '--name', 'ev']);
    const { code, out, notes } = await cli('compare', ['ev', 'r2', '--json']);
    expect([code, JSON.parse(out)]).toMatchObject([0, { n: 6, ties: 6 }]);
    expect(notes.split('\n').map(line => JSON.parse(line).note)).toEqual([
      'The service reports no status for r1 and r2: comparing their rewards so far.',
      'The benchmark of r2 is unknown, and r1 is of b1: tasks of the same name may differ.',
    ]);
  });

  it('deletes a run even if secrets are not listed', async () => {
    const { cli, requests } = await world();
    await cli('evaluate', ['alpha', '--model', 'm', '--name', 'ev']);
    expect(await cli('delete', ['r1', '--yes'])).toMatchObject({ code: 0, out: 'r1\n' });
    expect(requests.at(-1)).toMatchObject({ method: 'DELETE', url: '/api/v1/eval/b1/runs/r1' });
    const { code, notes } = await cli('delete', ['r7', '--yes']);
    expect([code, notes]).toEqual([5, expect.stringContaining('This service does not list secrets.')]);
  });

  it('sends a checkpoint by id if checkpoints are not listed', async () => {
    const { cli, requests } = await world();
    expect((await cli('evaluate', ['alpha', '--checkpoint', 'c2', '--name', 'ev'])).code).toBe(0);
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toEqual({ display_name: 'ev', checkpoint_id: 'c2' });
  });
});

describe('deploy with the id of a checkpoint', () => {
  const run = { training_run_id: 'trn_1', bench_id: 'b1', display_name: 'first', status: 'succeeded', created_at };
  const checkpoints = [
    { checkpoint_id: 'ckpt_1', step_index: 1, is_deployable: true },
    { checkpoint_id: 'ckpt_2', step_index: 2, is_deployable: false },
  ];
  const routes: Routes = {
    'GET /api/v1/benchmarks': benchmarks,
    'GET /api/v1/train/b1/runs': [run, { ...run, training_run_id: 'trn_0' }],
    'GET /api/v1/train/trn_0/checkpoints': [],
    'GET /api/v1/train/trn_1/checkpoints': { items: checkpoints },
    'POST /api/v1/deploy': { deployment_id: 'dep_1' },
  };
  const deployed = async (has: Routes, checkpoint: string) => {
    const { cli, requests } = await lesser(has, ['b1', 'trn_0', 'trn_1']);
    const { code, notes } = await cli('deploy', [checkpoint, '--slug', 'talker']);
    return { code, notes, sent: requests.filter(({ method }) => method === 'POST').length };
  };

  it('checks first if the checkpoint exists and can be deployed', async () => {
    expect(await deployed(routes, 'ckpt_1')).toEqual({ code: 0, notes: '', sent: 1 });
    expect(await deployed(routes, 'ckpt_2')).toMatchObject({
      code: 1,
      sent: 0,
      notes: expect.stringContaining('The service reports that the checkpoint of step 2 (ckpt_2) cannot be deployed.'),
    });
    expect(await deployed(routes, 'ckpt_3')).toMatchObject({
      code: 5,
      sent: 0,
      notes: expect.stringContaining('There is no checkpoint ckpt_3. Nothing was changed.'),
    });
  });

  it.each(['trn_1', 'trn_1@latest'])(
    'says that none of the checkpoints of %s can be deployed (attack24 C1)',
    async word => {
      const [, refused] = checkpoints;
      const has = { ...routes, 'GET /api/v1/train/trn_1/checkpoints': { items: [refused] } };
      const { cli } = await lesser(has, ['b1', 'trn_0', 'trn_1']);
      const { code, notes } = await cli('deploy', [word, '--slug', 'talker', '--json']);
      expect([code, JSON.parse(notes).error]).toMatchObject([
        1,
        {
          name: 'CommandError',
          message: 'The service reports that none of its checkpoints can be deployed. Nothing was changed.',
        },
      ]);
    },
  );

  it.each(['GET /api/v1/benchmarks', 'GET /api/v1/train/b1/runs', 'GET /api/v1/train/trn_0/checkpoints'])(
    'leaves the check to a service without %s',
    async missing => {
      const { [missing]: _, ...has } = routes;
      const { code, sent } = await deployed(has, 'ckpt_3');
      expect([code, sent]).toEqual([0, 1]);
    },
  );
});

describe('doctor', () => {
  const last = async (routes: Routes) => {
    const { cli } = await lesser(routes, []);
    const { code, out } = await cli('doctor', ['--json']);
    const { findings } = JSON.parse(out) as { findings: { about: string; state: string; words: string }[] };
    return { code, ...findings.at(-1) };
  };
  const lists = ['trajectories', 'datasets', 'deploy', 'secrets', 'benchmarks/runtimes', 'benchmarks'];
  const routes: Routes = {
    ...Object.fromEntries(
      lists.map(name => [`GET /api/v1/${name}`, { items: [], has_more: false, next_cursor: null }]),
    ),
    'GET /api/v1/models/supported-training-models': { items: [] },
    'GET /api/v1/deploy/summary': {},
  };

  it('ends by saying that everything is there, unless something failed', async () => {
    expect(await last(routes)).toMatchObject({
      code: 0,
      state: 'ok',
      words: expect.stringMatching(/every list and summary/),
    });
    const broken = { ...routes, 'GET /api/v1/secrets': { items: 'none' } };
    expect(await last(broken)).toEqual({
      code: 1,
      about: 'capabilities',
      state: 'note',
      words: '1 request failed, see above; the service has everything else that benchtop uses',
    });
  });
});

describe('a service', () => {
  it('that failed to build an image ends the wait for its benchmark', async () => {
    const images = [
      { task_id: 'a', build_status: 'ready' },
      { task_id: 'b', build_status: 'failed', failure_message: 'pip exploded' },
    ];
    const counts = [{ failed: 1, building: 1 }, { failed: 1 }];
    const { cli } = await lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'POST /api/v1/benchmarks/b1/images/build': { bench_id: 'b1', images },
        'GET /api/v1/benchmarks/b1/images': { bench_id: 'b1', images },
        'GET /api/v1/benchmarks/b1/readiness': () => ({
          ready: false,
          missing_secret_names: null,
          unready_task_image_counts: counts.length > 1 ? counts.shift() : counts[0],
        }),
      },
      ['b1'],
    );
    const built = await cli('build', ['alpha', '--wait', '--timeout', '60']);
    expect([built.code, built.notes]).toEqual([1, expect.stringContaining('the image of b failed: pip exploded')]);
    expect(built.notes).toMatch(
      /^alpha is b1\nalpha: the image of b failed: pip exploded\nalpha: not ready\nalpha: failed$/,
    );
  });

  it('that is not ready says why, once per reason (C13)', async () => {
    const building = { failed: 1, building: 1 };
    const lacks = { ready: false, missing_secret_names: ['TOKEN'], unready_task_image_counts: building };
    const has = { ...lacks, missing_secret_names: [] };
    // Each state is read for the status, and again for its reasons.
    const states = [lacks, lacks, has, lacks].flatMap(state => [state, state]);
    const { cli } = await lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'POST /api/v1/benchmarks/b1/images/build': { bench_id: 'b1', images: [] },
        'GET /api/v1/benchmarks/b1/readiness': () => states.shift() ?? { ready: true },
      },
      ['b1'],
    );
    const { code, notes } = await cli('watch', ['b1', '--timeout', '60']);
    expect(code).toBe(0);
    expect(notes.match(/alpha: .*/g)).toEqual([
      'alpha: 1 image failed',
      'alpha: the secret TOKEN is missing',
      'alpha: the secret TOKEN is missing',
    ]);
  });

  it('that ignores the requested status still gives a filtered list', async () => {
    const items = ['DEPLOYED', 'CANCELLED', 'FAILED'].map(status => ({ deployment_id: `d-${status}`, status }));
    const { cli } = await lesser({ 'GET /api/v1/deploy': { items, has_more: false, next_cursor: null } }, []);
    expect(await cli('list', ['deployments', '--status', 'CANCELLED', '--ids'])).toMatchObject({
      out: 'd-CANCELLED\n',
    });
  });

  it.each([
    ['canceled', 'd-CANCELED'],
    ['CANCELLED', 'd-CANCELED'],
    ['deployed', 'd-DEPLOYED'],
    ['ASLEEP', 'd-ASLEEP'],
  ])('that knows a status only in its own spelling is asked for %s all the same', async (status, found) => {
    const all = ['DEPLOYED', 'CANCELED', 'FAILED', 'ASLEEP'].map(each => ({
      deployment_id: `d-${each}`,
      status: each,
    }));
    const { cli } = await lesser(
      {
        'GET /api/v1/deploy': ({ url }: SeenRequest) => {
          const asked = new URL(url, 'http://lesser').searchParams.get('status');
          return { items: all.filter(row => asked === null || row.status === asked), has_more: false };
        },
      },
      [],
    );
    expect(await cli('list', ['deployments', '--status', status, '--ids'])).toMatchObject({
      code: 0,
      out: `${found}\n`,
    });
  });

  it('that names no task for some rewards gets their means next to the pairing', async () => {
    const nameless = { trajectory_rewards: [...rewards.trajectory_rewards, { reward: 1, task_id: null }] };
    const { cli } = await lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'GET /api/v1/eval/r1/trajectory-rewards': rewards,
        'GET /api/v1/eval/r2/trajectory-rewards': nameless,
      },
      ['r1', 'r2'],
    );
    const { out, notes } = await cli('compare', ['r1', 'r2', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      base: { mean: 0.5, tasks: 6, reward_mean: 0.5, rewards: 6 },
      new: { mean: 0.5, tasks: 6, reward_mean: 4 / 7, rewards: 7 },
    });
    expect(notes).toContain('The means are 0.500 over 6 rewards and 0.571 over 7 rewards');
  });
});

describe('a service whose deployments are down for an hour (B23)', () => {
  async function world() {
    const down = refusal(503, 'dependency_error', 'service_unavailable', {}, { 'retry-after': '3600' });
    const answers: Routes = {
      '/api/v1/benchmarks': benchmarks,
      '/api/v1/eval/b1/runs': [{ eval_run_id: 'r1', bench_id: 'b1', display_name: 'ev' }],
      '/api/v1/eval/r1': { eval_run_id: 'r1', bench_id: 'b1', display_name: 'ev' },
      '/api/v1/deploy/d_1': { deployment_id: 'd_1', model_slug: 'talker' },
    };
    const server = await hostileServer((response, request) => {
      const { pathname } = new URL(request.url, 'http://lesser');
      if (pathname === '/api/v1/deploy') return down(response, request);
      const found = Object.hasOwn(answers, pathname) ? answers[pathname] : undefined;
      return (found === undefined ? noRoute : json(found))(response, request);
    });
    return cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  }

  it('still draws the tree, and says what is missing', async () => {
    const { code, out, notes } = await (await world())('tree', []);
    expect([code, out]).toEqual([0, expect.stringContaining('r1')]);
    expect(notes).toMatch(/The tree lacks deployments: .*Try again in 60 min/);
  });

  it.each([[['deployment', 'd_1']], [['r1']]])('still reads %j by id (B24)', async words => {
    expect(await (await world())('get', words)).toMatchObject({ code: 0 });
  });

  it('does not tell apart names that only their list has', async () => {
    const cli = await world();
    expect(await cli('get', ['ev'])).toMatchObject({ code: 3, notes: expect.stringContaining('Try again in 60 min') });
    expect(await cli('get', ['run', 'ev'])).toMatchObject({ code: 0 });
  });
});

describe('a training run whose name has an @ (C22)', () => {
  const run = (training_run_id: string, display_name: string) => ({ training_run_id, bench_id: 'b1', display_name });
  const checkpoint = (id: string) => ({ items: [{ checkpoint_id: id, step_index: 6 }] });
  const world = () =>
    lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'GET /api/v1/train/b1/runs': [run('x-1', 'a'), run('x-2', 'a@6'), run('x-3', 'b@c')],
        'GET /api/v1/train/x-2': run('x-2', 'a@6'),
        'GET /api/v1/train/x-3': run('x-3', 'b@c'),
        'GET /api/v1/train/x-1/checkpoints': checkpoint('of-a'),
        'GET /api/v1/train/x-2/checkpoints': checkpoint('of-a-at-6'),
        'GET /api/v1/train/x-3/checkpoints': checkpoint('of-b-at-c'),
      },
      ['b1', 'x-1', 'x-2', 'x-3'],
    );

  it.each([
    ['a@latest', 'of-a'],
    ['a@6@6', 'of-a-at-6'],
    ['b@c', 'of-b-at-c'],
  ])('%s is its checkpoint unless it is a name', async (word, id) => {
    const { cli } = await world();
    const { code, out, notes } = await cli('get', ['checkpoint', word, '--field', 'id']);
    expect([code, out.trim(), notes]).toEqual([0, id, '']);
  });

  it.each([
    ['get', ['checkpoint', 'a@6']],
    ['get', ['a@6']],
    ['tree', ['a@6']],
    ['deploy', ['a@6', '--slug', 's']],
    ['evaluate', ['alpha', '--checkpoint', 'a@6']],
  ])('%s refuses an ambiguous name (A6): %j', async (command, args) => {
    const { cli, requests } = await world();
    expect(await cli(command, args)).toMatchObject({ code: 2, notes: expect.stringContaining('a@6 has 2 meanings.') });
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  it('is read by its name', async () => {
    const { cli } = await world();
    expect(await cli('get', ['training', 'a@6', '--field', 'id'])).toMatchObject({ code: 0, out: 'x-2\n' });
    expect(await cli('get', ['training', 'b@c', '--field', 'id'])).toMatchObject({ code: 0, out: 'x-3\n' });
  });
});

describe('names seen earlier, on a service that does not list training runs (A6)', () => {
  const world = (routes: Routes = {}) =>
    lesser(
      {
        'GET /api/v1/benchmarks': benchmarks,
        'POST /api/v1/train': { training_run_id: 'x-1', bench_id: 'b1', status: 'pending' },
        'POST /api/v1/eval/b1/start': { eval_run_id: 'r1', bench_id: 'b1' },
        ...routes,
      },
      ['b1', 'x-1', 'c2'],
    );

  it.each([
    [{}, 'c2'],
    [
      {
        'GET /api/v1/train/x-1/progress': { training_run_id: 'x-1', status: 'completed', completed_steps: 1 },
        'GET /api/v1/train/x-1/checkpoints': { items: [{ checkpoint_id: 'of-x', step_index: 1 }] },
      },
      'of-x',
    ],
  ])('do not win over an id that only the service knows: %j', async (routes, id) => {
    const { cli, requests } = await world(routes);
    expect((await cli('train', ['alpha', '--model', 'm', '--name', 'c2'])).code).toBe(0);
    expect((await cli('evaluate', ['alpha', '--checkpoint', 'c2', '--name', 'ev'])).code).toBe(0);
    expect(JSON.parse(requests.at(-1)?.body ?? '')).toMatchObject({ checkpoint_id: id });
  });
});

it.each([
  [{}, 'ev is not in the tree: the service does not report its benchmark.'],
  [{ bench_id: 'b2' }, 'ev is not in the tree: the lists for its benchmark b2 do not have it.'],
])('tree says why it has no place for a run that is %j', async (more, words) => {
  const run = { eval_run_id: 'r1', display_name: 'ev', ...more };
  const routes = {
    'GET /api/v1/benchmarks': benchmarks,
    'GET /api/v1/eval/b1/runs': [run],
    'GET /api/v1/eval/r1': run,
    'GET /api/v1/eval/b2/runs': [],
    'GET /api/v1/train/b1/runs': [],
    'GET /api/v1/train/b2/runs': [],
    'GET /api/v1/deploy': { items: [], has_more: false, next_cursor: null },
  };
  const { cli } = await lesser(routes, ['b1', 'r1']);
  expect(await cli('tree', ['ev'])).toMatchObject({ code: 5, out: '', notes: expect.stringContaining(words) });
});

it('exits with 7 and doctor names what is not offered, even if the service answers that a resource is missing', async () => {
  const training = { training_run_id: 'train_1', status: 'succeeded', completed_steps: 3, total_steps: 3 };
  const world = answering({
    listBenchmarks: () => benchmarks,
    getTrainingProgress: ({ training_run_id }) => {
      if (training_run_id !== 'train_1') throw new Error('none');
      return training;
    },
  });
  const { url } = await hostileServer(world);
  const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  for (const [command, args, words] of [
    ['deploy', ['ckpt_1', '--slug', 'x'], 'does not start deployments. It answered: There is none.'],
    ['deploy', ['train_1', '--slug', 'x', '--dry-run'], 'does not list checkpoints'],
    ['list', ['images', '--benchmark', 'alpha'], "does not list a benchmark's images"],
  ] as const) {
    const { code, notes } = await cli(command, [...args]);
    expect([code, notes]).toEqual([7, expect.stringContaining(words)]);
  }
  const { out } = await cli('doctor', []);
  expect(out).toMatch(/it does not .*list a benchmark's images.*list checkpoints.*Only reads were tried/);
});
