/** Line mode: asks until it has an answer, sends exactly the request the user wants, and stops on request. */

import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exitCodes, Interruption } from '../../src/commands/exit.ts';
import { answering } from '../answering.ts';
import { eventually } from '../eventually.ts';
import { pageOf } from '../queries/scripted-service.ts';
import { serviceDouble } from '../service/double.ts';
import { hostileServer, json, open, type SeenRequest, silent } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

/** The output and the requests of line mode for these lines. */
async function runLines(...lines: readonly string[]) {
  const { url, requests } = await serviceDouble();
  const { code, out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input: lines.join('\n') });
  expect(code).toBe(exitCodes.done);
  const sent = requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
  return { out, sent };
}

/** A service with one benchmark and no runs. */
const oneBenchmark = (response: ServerResponse, request: SeenRequest) => {
  const benchmark = { bench_id: 'bench_1', label: 't-words' };
  const list = request.url.includes('/runs') ? [] : { items: [benchmark], has_more: false };
  return json(/\/benchmarks\/bench_1$/.test(request.url) ? benchmark : list)(response, request);
};

describe('a question in line mode', () => {
  it('is asked again until the answer is one of the choices', async () => {
    const { out, sent } = await runLines('training', 'deploy 1', 'tutor', 'tset', 'Production!', 'test', 'quit');
    expect(out).toContain('tset is not test or production.');
    expect(out.match(/Role, test or production \(enter for test\):/g)).toHaveLength(3);
    expect(sent).toEqual([{ checkpoint_id: 'ckpt_1', model_slug: 'tutor', role: 'test' }]);
  });

  it('sends nothing to production unless the slug is typed again (W3)', async () => {
    const usual = await runLines('training', 'deploy 1', 'tutor', '', 'quit');
    expect(usual.sent).toMatchObject([{ model_slug: 'tutor', role: 'test' }]);
    const wrong = await runLines('training', 'deploy 1', 'tutor', 'production', 'y', 'quit');
    expect(wrong.out).toContain('Type tutor to confirm: Nothing was changed.');
    expect(wrong.sent).toEqual([]);
    const right = await runLines('training', 'deploy 1', 'tutor', 'production', 'tutor', 'quit');
    expect(right.sent).toMatchObject([{ model_slug: 'tutor', role: 'production' }]);
  });

  it('sends nothing if the input ends before the answer', async () => {
    const { out, sent } = await runLines('training', 'deploy 1', 'tutor', 'tset');
    expect(out).toContain('The input ended before the answer. Nothing was sent.');
    expect(sent).toEqual([]);
  });

  it('is asked again if it has no default and the answer is empty', async () => {
    const { out, sent } = await runLines('benchmarks', 'evaluate 1', '', ' ', 'acme/small', '', 'quit');
    expect(out.match(/Model: /g)).toHaveLength(3);
    // The same name as from `benchtop evaluate`, and on the screen.
    expect(sent).toMatchObject([{ model_slug: 'acme/small', display_name: 't-words small' }]);
  });

  it('is skipped if the command line answers it', async () => {
    const asked = await runLines('training', 'deploy 1 --slug tutor', 'benchmarks', 'train 1 -m acme/small', 'quit');
    expect(asked.out).not.toContain('enter for');
    expect(asked.sent).toMatchObject([{ model_slug: 'tutor', role: 'test' }, { display_name: 't-words small' }]);
  });

  it('repeats a start with a lost answer only with its key', async () => {
    const server = await hostileServer((response, request) =>
      request.method === 'POST' ? void response.destroy() : oneBenchmark(response, request),
    );
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const evaluate = ['evaluate 1', 'acme/small', ''];
    const { out } = await cli('--lines', [], { input: ['benchmarks', ...evaluate, ...evaluate, 'quit'].join('\n') });
    expect(out).toMatch(/Nothing was sent\. .*its response was lost: it may have succeeded\. benchtop list runs shows/);
    const key = /--idempotency-key (\S+?)[.:,]?(?=\s)/.exec(out)?.[1] ?? '';
    await cli('--lines', [], { input: `benchmarks\nevaluate 1 -m acme/small --idempotency-key ${key}\nquit` });
    const keys = server.requests.flatMap(({ method, headers }) =>
      method === 'POST' ? headers['idempotency-key'] : [],
    );
    expect(keys).toEqual([key, key]);
  });

  it('prints no control characters of a name', async () => {
    const benchmark = { bench_id: 'bench_1', label: 'a\u001b[2Jb\rc', created_at: '2026-03-04T05:06:07Z' };
    const { url } = await hostileServer(json({ items: [benchmark], has_more: false }));
    const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input: 'benchmarks\ndelete 1\n' });
    expect(out).toMatch(/^1\. ab c/m);
    expect(out).not.toMatch(/[\u001b\r]/);
  });
});

it('line mode and doctor ask a deployment by its slug, like chat', async () => {
  const { url, requests } = await serviceDouble();
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  await cli('--lines', [], { input: 'chat dep_1\nhello\n\nquit\n' });
  await cli('doctor', ['--model', 'dep_1']);
  await cli('chat', ['dep_1', 'hello']);
  const asked = requests.filter(({ method, url: path }) => method === 'POST' && path.includes('chat/completions'));
  const [byLines, ...others] = asked.map(({ url: path, body }) => [path, JSON.parse(body).model]);
  expect(byLines?.[1]).not.toBe('dep_1');
  expect(others).toEqual([byLines, byLines]);
});

it.each([
  ['follow abc', /instead of abc\. It was not used\./],
  ['evaluate', /An argument is missing\. Usage: benchtop evaluate BENCHMARK/],
  ['evaluate 1', /evaluate is not for training\./],
  ['list trajectories --run 1', /--run is not for training\./],
  ['deploy 0x1 --role test', /instead of 0x1\. It was not used\./],
  ['open 1', /This is the workbench as plain lines/],
  ['--read-only', /This is the workbench as plain lines/],
  ["find 'a", /no closing '/],
  ['cancel 9', /There is no number 9 in the list\./],
  ['0', /There is no number 0 in the list\./],
])('explains what is wrong with %j', async (line, words) => {
  const { out, sent } = await runLines('training', line, 'quit');
  expect(out.split('> ').at(-2)).toMatch(words);
  expect(out).not.toContain('NaN');
  expect(sent).toEqual([]);
});

describe('a change in the line mode', () => {
  const changes = async (...lines: readonly string[]) => {
    const { url, requests } = await serviceDouble();
    const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input: lines.join('\n') });
    return {
      out,
      sent: requests.filter(({ method }) => method !== 'GET').map(({ method, url: at }) => `${method} ${at}`),
    };
  };

  it('comes from the declarations of resources, and says why it is not possible', async () => {
    const { out, sent } = await changes('runs', 'cancel 1', 'y', 'benchmarks', 'cancel 1', 'build 1', 'quit');
    expect(out).toMatch(/Cancel run baseline \(evr_1\)\? .*evr_1$/m);
    expect(out).toContain('cancel is not for benchmarks.');
    expect(out).toMatch(/^> bench_1$/m);
    expect(sent).toEqual([expect.stringMatching(/^POST .*evr_1/), expect.stringMatching(/^POST .*images\/build/)]);
  });

  it('asks again for the slug if the deployment went into production after it was listed (A1)', async () => {
    let reads = 0;
    const row = { deployment_id: 'dep_1', model_slug: 'tutor', status: 'DEPLOYED', role: 'test', is_active: false };
    const undeploying = async (...answers: readonly string[]) => {
      reads = 0;
      const server = await hostileServer((response, request) => {
        const isList = request.url.startsWith('/api/v1/deploy?');
        const now = { ...row, role: 'production', is_active: true };
        if (!isList) reads += 1;
        return json(isList ? { items: [row], has_more: false } : reads > 1 ? now : row)(response, request);
      });
      const input = ['deployments', 'undeploy 1', ...answers, 'quit'].join('\n');
      const { out } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], { input });
      return { out, deletions: server.requests.filter(({ method }) => method === 'DELETE').length };
    };
    const kept = await undeploying('yes', 'yes');
    expect(kept.out).toMatch(/Undeploy deployment tutor, dep_1.*\?.* \[y\/N\]/);
    expect(kept.out).toContain('This has changed since you were asked. Nothing was sent');
    expect(kept.out).toMatch(/In production: tutor\. .* Type tutor to confirm.*Nothing was changed\./s);
    expect(kept.deletions).toBe(0);
    expect((await undeploying('yes', 'tutor')).deletions).toBe(1);
  });

  it('names the origin of a deployment when it asks again too (attack33 C)', async () => {
    let reads = 0;
    const row = { deployment_id: 'dep_1', checkpoint_id: 'ckpt_1', model_slug: 'tutor', status: 'DEPLOYED' };
    const test = { ...row, role: 'test', is_active: false };
    const bodies = new Map<string, unknown>([
      ['benchmarks', pageOf([{ bench_id: 'bench_1', label: 'words' }])],
      ['train/bench_1/runs', [{ training_run_id: 'trn_1', bench_id: 'bench_1', display_name: 'adder' }]],
      ['train/trn_1/checkpoints', pageOf([{ checkpoint_id: 'ckpt_1', step_index: 4 }])],
      ['deploy', pageOf([test])],
    ]);
    const server = await hostileServer((response, request) => {
      const [path = ''] = request.url.replace('/api/v1/', '').split('?');
      if (path === 'deploy/dep_1') reads += 1;
      const now = reads > 1 ? { ...row, role: 'production', is_active: true } : test;
      const body = path === 'deploy/dep_1' ? now : bodies.get(path);
      if (body === undefined) return void response.writeHead(404).end();
      return json(body)(response, request);
    });
    const input = ['deployments', 'undeploy 1', 'yes', 'no', 'quit'].join('\n');
    const { out } = await cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], { input });
    const named = 'Undeploy deployment tutor, dep_1 (adder step 4)?';
    expect(out.match(/Undeploy deployment [^?]*\?/g)).toEqual([named, named]);
  });

  it('asks before a destructive change, and for the slug before production stops', async () => {
    const kept = await changes('secrets', 'delete 1', '', 'deployments', 'undeploy 1', 'no', 'quit');
    expect(kept.out).toContain('Delete secret TOKEN (sec_1)? Tasks that need it cannot run');
    expect(kept.out).toMatch(/In production: (\S+)\. .* Type \1 to confirm/);
    expect(kept.out).toMatch(/, dep_1.*\? .*Serving ends/);
    expect(kept.sent).toEqual([]);
    const [, slug = ''] = /Type (\S+) to confirm/.exec(kept.out) ?? [];
    const lost = await changes('secrets', 'delete 1', 'yes', 'deployments', 'undeploy 1', slug, 'quit');
    expect(lost.out).toMatch(/\[y\/N\] sec_1$/m);
    expect(lost.sent).toEqual([expect.stringMatching(/^DELETE .*sec_1/), expect.stringMatching(/^DELETE .*dep_1/)]);
  });
});

it('shows rewards with their intervals for a list and a number, as on screen', async () => {
  const training = {
    training_run_id: 'trn_1',
    bench_id: 'bench_1',
    status: 'succeeded',
    completed_at: '2020-01-02T03:04:05Z',
  };
  const run = { eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed', total_rollouts: 2 };
  const rewards = [0, 1].map(reward => ({ trajectory_id: `traj_${reward}`, task_id: `${reward}`, reward }));
  const round = { completed_samples: 20, expected_samples: 20 };
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1', label: 'sums' }]),
      listEvalRuns: () => [{ ...run, reward_mean: 0.5, reward_count: 2 }],
      getEvalProgress: () => run,
      getTrajectoryRewards: () => ({ trajectory_rewards: rewards }),
      listTrainingRuns: () => [training],
      getTrainingRun: () => training,
      getTrainingProgress: () => training,
      getHeldOutRewards: () => ({
        held_out_rewards: [0.7, 0.5].map((held_out_reward, step) => ({ ...round, step, held_out_reward })),
      }),
    }),
  );
  const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], {
    input: ['training', '1', 'runs', '1', 'quit'].join('\n'),
  });
  expect(out).toMatch(/^1\. trn_1, succeeded, held-out 0\.500, 95% ci 0\.\d+\.\.0\.\d+, .*best 0\.700/m);
  expect(out).toMatch(/^held-out reward: 0\.500 .*95% CI 0\.\d+ to 0\.\d+[\s\S]*^best held-out: 0\.700 /m);
  expect(out).toMatch(/^1\. evr_1, completed, mean 0\.500, 95% ci 0\.\d+\.\.0\.\d+/m);
  expect(out).toMatch(/^mean: 0\.500 over 2 rewards$[\s\S]*^interval: 95% CI 0\.\d+ to 0\.\d+/m);
});

it('shows alarm, model, benchmark and changed options on the line of a training run, and of an evaluation (B3, B4)', async () => {
  const training = (id: string, options: object) => ({
    ...{ training_run_id: id, bench_id: 'bench_1', status: 'succeeded', completed_at: '2020-01-02T03:04:05Z' },
    ...{ base_model_slug: 'acme/small', options: { learning_rate: 0.1, ...options } },
  });
  const runs = [training('trn_1', { seed: 1, rank: 8 }), training('trn_2', { seed: 2, rank: 16 })];
  const round = { completed_samples: 100, expected_samples: 100 };
  const run = { eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed', base_model_slug: 'acme/small' };
  const { url } = await hostileServer(
    answering({
      listBenchmarks: () => pageOf([{ bench_id: 'bench_1', label: 'sums' }]),
      listEvalRuns: () => [run],
      getEvalProgress: () => run,
      listTrainingRuns: () => runs,
      getTrainingProgress: ({ training_run_id }) => ({ training_run_id, status: 'succeeded' }),
      getHeldOutRewards: ({ training_run_id }) => ({
        held_out_rewards: [0.7, training_run_id === 'trn_1' ? 0 : 0.7].map((held_out_reward, step) => ({
          ...{ ...round, step: step + 1, held_out_reward },
        })),
      }),
    }),
  );
  const cli = cliOn({ baseUrl: url, apiKey: 'key' });
  // The second time, the rewards are remembered.
  const { out } = await cli('--lines', [], { input: ['training', 'training', 'runs', 'quit'].join('\n') });
  const alarm = 'alarm held-out 0 is below its best 0.700 at step 1 by more than the';
  const first = new RegExp(`^1\\. trn_1, succeeded, ${alarm}.*seed 1, rank 8, model acme/small, benchmark sums$`, 'gm');
  expect(out.match(first)).toHaveLength(2);
  expect(out).toMatch(/^2\. trn_2, succeeded, held-out 0\.700.*seed 2, rank 16, model acme\/small, benchmark sums$/m);
  expect(out).toMatch(/^1\. evr_1, completed, .*benchmark sums, model acme\/small/m);
  expect(out).not.toContain('learning_rate');
  const { out: csv } = await cli('list', ['runs', '--format', 'csv']);
  expect(csv).toContain('bench_1');
});

it('says that a start may have happened if a signal ends line mode during it', async () => {
  const stop = new AbortController();
  let stopsOnSignals = false;
  const server = await hostileServer((response, request) => {
    if (request.method !== 'POST') return oneBenchmark(response, request);
    if (stopsOnSignals) stop.abort(new Interruption(exitCodes.terminated));
    else response.destroy();
  });
  const ended = await cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], {
    input: 'benchmarks\nevaluate 1\nacme/small\n\n',
    signal: stop.signal,
    onStopOnSignals: () => {
      stopsOnSignals = true;
    },
  });
  expect(ended.code).toBe(exitCodes.terminated);
  expect(ended.out).toMatch(/It may have happened anyway: check before you repeat it.*benchtop list runs shows/);
});

describe('ctrl-c in the line mode', () => {
  const page = json({ items: [], has_more: false });
  const isChat = ({ url }: SeenRequest): boolean => url.endsWith('/chat/completions');

  it.each([
    ['while an answer is written', 'chat acme/small\nhello\n', isChat],
    ['while a list is read', 'secrets\n', ({ url }: SeenRequest) => url.includes('/secrets')],
  ])('ends it %s, and its request', async (_, typed, isAwaited) => {
    const writing = open(['data: {"choices":[{"index":0,"delta":{"content":"one"}}]}\n\n']);
    const server = await hostileServer((response, request) => {
      if (!isAwaited(request)) return page(response, request);
      return isChat(request) ? writing(response, request) : silent(response, request);
    });
    const stop = new AbortController();
    const input = new PassThrough();
    input.write(typed);
    const ended = cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], { input, signal: stop.signal });
    await eventually(() => expect(server.requests.some(isAwaited)).toBe(true));
    stop.abort();
    const { code, out } = await ended;
    expect(code).toBe(exitCodes.interrupted);
    expect(out).not.toContain('This did not work');
    await server.requests.find(isAwaited)?.closed;
  });

  it('ends the running command but not line mode, and at the prompt line mode', async () => {
    const server = await hostileServer((response, request) =>
      request.url.includes('/secrets') ? silent(response, request) : page(response, request),
    );
    const stop = new AbortController();
    let stops = (): boolean => false;
    const interrupt = (): void => void (stops() || stop.abort());
    const input = new PassThrough();
    let printed = '';
    const ended = cliOn({ baseUrl: server.url, apiKey: 'key' })('--lines', [], {
      input,
      signal: stop.signal,
      onInterrupt: listener => {
        stops = listener;
      },
      onPrint: text => {
        printed += text;
      },
    });
    input.write('secrets\n');
    await eventually(() => expect(server.requests.some(({ url }) => url.includes('/secrets'))).toBe(true));
    interrupt();
    await server.requests.find(({ url }) => url.includes('/secrets'))?.closed;
    await eventually(() => expect(printed).toMatch(/Stopped\.\n> $/));
    input.write('evaluate words\n');
    await eventually(() => expect(printed).toMatch(/Model: $/));
    interrupt();
    await eventually(() => expect(printed).toMatch(/\nStopped\.\n> $/));
    input.write('models\n');
    await eventually(() => expect(printed).toMatch(/There are no models\.\n> $/));
    interrupt();
    expect((await ended).code).toBe(exitCodes.interrupted);
    expect(printed).not.toContain('This did not work');
  });
});

describe('a number in the line mode', () => {
  it('stands for a row in every command that takes a name, and for itself elsewhere', async () => {
    const { url, requests } = await serviceDouble();
    const input = [
      'benchmarks',
      'runs --benchmark 1 --limit 1',
      'find base',
      'find',
      'get run 1',
      'reward traj_1 ok 1',
      'list runs --json --limit 1',
      'compare 1 2',
      'quit',
    ];
    const { out } = await cliOn({ baseUrl: url, apiKey: 'key' })('--lines', [], { input: input.join('\n') });
    expect(out.match(/^1\. baseline/gm)).toHaveLength(3);
    expect(out).toMatch(/^> name: baseline\nid: evr_1$/m);
    expect(out).toContain('"eval_run_id": "evr_1"');
    expect(out).toContain('There is no number 2 in the list.');
    const [sent] = requests.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body));
    expect(JSON.stringify(sent)).toContain('"value":1');
  });

  it('is sent to the service of its list', async () => {
    const home = testFolder();
    const [listed, usual] = [await serviceDouble(), await serviceDouble()];
    const cli = cliOn({ baseUrl: usual.url, apiKey: 'key', home });
    const input = [`secrets --base-url ${listed.url}`, 'delete 1', 'y', 'quit'].join('\n');
    await cli('--lines', [], { input });
    expect([listed.writes().length, usual.writes().length]).toEqual([1, 0]);
  });

  it('means nothing after a switch to another service', async () => {
    const { out, sent } = await runLines('secrets', 'config set theme dark', 'delete 1', 'quit');
    expect(out).toMatch(/Ask for a list first\.\n> $/);
    expect(sent).toEqual([]);
  });
});
