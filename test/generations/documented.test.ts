/**
 * Commands on a service with the endpoints of the document alone, which refuses unknown paths in every legal way. The
 * document's own lists are final.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliOn, testFolder, timeIsUp } from '../commands/cli.ts';
import { apiKey, type Behaviour, hostileServer, json, resetAtOnce } from '../service/hostile-server.ts';
import { documentedIds, refusals, startedRun, unknownId } from './documented.ts';
import { page } from './routes.ts';
import { standIn } from './stand-in.ts';

async function worldOf(refusal: string) {
  const service = await standIn('documented', { unknown: refusals.get(refusal) ?? json({}, 404) });
  return { ...service, cli: cliOn({ baseUrl: service.url, apiKey, home: testFolder() }) };
}

const model = ['--model', 'acme/small'];

/** Where a refused write is the service's last word: its refusal may mean what it says. */
const codesOfWrites: ReadonlyMap<string, number> = new Map([
  ['a 422 in the envelope', 2],
  ['the 403 of a gateway (B24)', 4],
  ['a 400 in the envelope (B24)', 2],
  ['a 410 (B24)', 1],
]);

describe.each([...refusals.keys()])('where an unknown path gets %s (C1)', refusal => {
  it.each<[string, readonly string[], number, string]>([
    ['evaluate', ['t-words', ...model], 0, startedRun],
    ['evaluate', ['{bench}', ...model], 0, startedRun],
    ['build', ['t-words'], 0, '{bench}'],
    ['get', ['benchmark', '{bench}'], 0, 'secrets missing +TOKEN'],
    ['get', ['t-words'], 0, 't-words'],
    ['get', ['run', '{run}'], 0, '0\\.500 over 4 rewards'],
    ['get', ['{run}'], 0, '0\\.500 over 4 rewards'],
    ['get', ['training', '{training}'], 0, '4 of 4'],
    ['get', ['{training}'], 0, '4 of 4'],
    ['get', ['trajectory', '{trajectory}'], 0, 'hello'],
    ['get', ['deployment', '{production}'], 0, 'talker'],
    ['get', ['{gone}'], 0, 'it broke'],
    ['get', ['runtime', 'an/image'], 0, 'an/image'],
    ['get', ['dataset', 'recorded'], 0, 'recorded'],
    ['get', ['model', 'acme/small'], 0, 'Small'],
    ['list', ['benchmarks'], 0, 't-words'],
    ['list', ['runs', '--json'], 0, '^\\[\\]$'],
    ['list', ['runs', '--benchmark', 't-words', '--json'], 0, '^\\[\\]$'],
    ['list', ['training', '--json'], 0, '^\\[\\]$'],
    ['list', ['trajectories', '--run', '{run}', '--ids'], 0, '{trajectory}'],
    ['list', ['deployments', '--json'], 0, '^\\[\\]$'],
    ['watch', ['training', '{training}'], 0, '4 of 4'],
    ['watch', ['{training}'], 0, '4 of 4'],
    ['watch', ['deployment', '{production}'], 0, 'deployed'],
    ['compare', ['{run}', '{oldRun}'], 0, '4'],
    ['export', ['trajectory', '{trajectory}'], 0, 'hello'],
    ['undeploy', ['{test}', '--yes'], 0, '{test}'],
    // Requests that only the document's endpoints can answer, and unknown ids.
    ['get', ['benchmark', unknownId], 5, 'There is no benchmark'],
    ['get', ['run', unknownId], 5, 'There is none|There is no'],
    ['get', ['training', unknownId], 5, 'There is none|There is no'],
    ['get', ['trajectory', unknownId], 5, 'There is none|There is no'],
    ['get', ['deployment', unknownId], 5, 'There is none|There is no'],
    ['get', [unknownId], 5, 'There is no'],
    ['watch', ['training', unknownId], 5, 'There is none|There is no'],
    ['list', ['secrets'], 7, 'does not list secrets'],
    [
      'train',
      ['t-words', ...model],
      codesOfWrites.get(refusal) ?? 7,
      'does not start training|This is no id|may not offer POST|Bad path|410 Gone',
    ],
    [
      'cancel',
      ['{training}', '--yes'],
      codesOfWrites.get(refusal) ?? 7,
      'does not cancel training runs|This is no id|may not offer POST|Bad path|410 Gone',
    ],
  ])('%s %j', async (command, args, wanted, words) => {
    const { cli, ids, refused } = await worldOf(refusal);
    const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);
    const { code, out, notes } = await cli(command, args.map(fill));
    expect([code, `${out}\n${notes}`]).toEqual([wanted, expect.stringMatching(new RegExp(fill(words), 'm'))]);
    expect(refused).toEqual([]);
  });
});

it('failures reads each trajectory if rewards have no status, or says that their ends are unknown (B5)', async () => {
  const unknown = json({ detail: 'Not Found' }, 404);
  const ends = [
    { status: 'completed', termination_reason: 'MAX_STEPS' },
    { status: 'failed', error: 'no such tool 7' },
    { status: 'completed', steps: [{ messages: [{ role: 'assistant', content: 'a', finish_reason: 'length' }] }] },
  ];
  const { run, trajectory } = documentedIds;
  const idOf = (index: number) => trajectory.replace(/f1$/, `f${index + 1}`);
  const routes = Object.fromEntries(
    ends.map((end, index) => [
      `GET /api/v1/trajectories/${idOf(index)}`,
      { trajectory_id: idOf(index), created_at: '2026-03-04T05:06:07Z', ...end },
    ]),
  );
  const { url } = await standIn('documented', { unknown, routes });
  const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  const { code, out, notes } = await cli('failures', [run]);
  const unlisted = 'The service does not report how many rollouts the run has: it may not list failed ones.';
  expect([code, notes]).toEqual([1, `${unlisted}\n1 rollout could not be read.`]);
  expect(out).toMatch(/^failed\tstatus\t1\t0\.25\t0\.5\t1$/m);
  expect(out).toMatch(/^no such tool N\terror\t1\t/m);
  expect(out).toMatch(/^length\tfinish reason\t1\t/m);
  const report = await cli('report', [run, '--format', 'markdown', '--worst', '0', '--best', '0']);
  expect(report.out).toMatch(/^\| no such tool N +\| error +\| 1 /m);
  expect(report.out).toContain('1 rollout could not be read.');
  const silent = await standIn('documented', {
    unknown,
    routes: Object.fromEntries(
      Object.keys(routes).map(route => [route, { trajectory_id: route.slice(route.lastIndexOf('/') + 1) }]),
    ),
  });
  const unsaid = await cliOn({ baseUrl: silent.url, apiKey, home: testFolder() })('failures', [run, '--json']);
  expect([unsaid.code, unsaid.notes]).toEqual([
    6,
    expect.stringContaining('The service does not report how the 4 rollouts ended.'),
  ]);
  expect(JSON.parse(unsaid.out)).toMatchObject({ rollouts: 4, classes: [] });
});

it('does not count rollouts of other runs in a list of all trajectories whose rows name no run', async () => {
  const { run, trajectory } = documentedIds;
  const idOf = (index: number) => trajectory.replace(/f1$/, `f${index + 1}`);
  const rows = [0, 1, 2, 3, 4, 5].map(index => ({ trajectory_id: idOf(index), status: 'completed', reward: 0 }));
  const { url } = await standIn('documented', {
    unknown: json({ detail: 'Not Found' }, 404),
    routes: { 'GET /api/v1/trajectories': page(...rows) },
  });
  const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  const { code, out, notes } = await cli('tasks', [run]);
  expect([code, notes]).toEqual([0, expect.stringContaining('4 tasks: 4 rollouts have a reward')]);
  expect(notes).toContain('The listed rollouts do not fit the rewards of this run');
  expect(out.trim().split('\n')).toHaveLength(5);
});

describe('an evaluation whose status the service never reports (C2)', () => {
  const reward = (index: number) => ({ reward: index / 2, trajectory_id: `t${index}`, task_id: `task ${index}` });
  /** Each read of its rewards finds one more, up to `most`. */
  async function rewarded(most: number) {
    let read = 0;
    const routes = {
      [`GET /api/v1/eval/${startedRun}/trajectory-rewards`]: () => {
        read = Math.min(most, read + 1);
        return {
          eval_run_id: startedRun,
          trajectory_rewards: Array.from({ length: read }, (_, index) => reward(index)),
        };
      },
    };
    const service = await standIn('documented', {
      unknown: refusals.get('the 404 of the document') ?? json({}),
      routes,
    });
    return cliOn({ baseUrl: service.url, apiKey, home: testFolder() });
  }
  const evaluate = ['t-words', ...model, '--name', 'ev', '--wait', '--timeout', '60'];

  it('ends the wait with its own exit code, and prints no status', async () => {
    const cli = await rewarded(2);
    const { code, out, notes } = await cli('evaluate', [...evaluate, '--json']);
    expect([code, JSON.parse(out)]).toEqual([
      6,
      expect.objectContaining({ eval_run_id: startedRun, status: null, reward_count: 2 }),
    ]);
    expect(notes).toContain('--until rewards=N');
    expect(`${out}${notes}`).not.toMatch(/pending|running"/);
    expect((await cli('watch', [startedRun])).code).toBe(6);
    expect(JSON.parse((await cli('list', ['runs', '--json'])).out)).toEqual([
      expect.objectContaining({ eval_run_id: startedRun, status: null }),
    ]);
    const listed = await cli('get', ['run', startedRun]);
    expect(listed.out).toMatch(/^status +not reported$/m);
  });

  it.each([
    ['evaluate', evaluate],
    ['watch', [startedRun, '--timeout', '60']],
  ])('reports the same end if the time expires first: %s', async (command, args) => {
    const words = 'the service reports no status for it, so its outcome is unknown.';
    const isUp = timeIsUp();
    /** Its first state. */
    const isSeen = (text: string): boolean => text.includes('no status, mean');
    const stopping = {
      onNote: (text: string) => isSeen(text) && isUp(),
      onPrint: (text: string) => isSeen(text) && isUp(),
    };
    const late = await (await rewarded(2))(command, args, stopping);
    const early = await (await rewarded(2))(command, args);
    expect([late.code, early.code]).toEqual([6, 6]);
    for (const { notes } of [late, early]) {
      expect(notes).toContain(words);
      expect(notes).toContain('It may still be running. --until rewards=N');
      expect(notes).not.toMatch(/is still running|keeps running/);
    }
  });

  it('is not called running if the time expires or the user interrupts', async () => {
    const cli = await rewarded(2);
    const watch = ['watch', [startedRun, '--until', 'rewards=9', '--timeout', '60']] as const;
    const late = await cli(...watch, { onPrint: timeIsUp() });
    expect([late.code, late.notes]).toEqual([
      124,
      `${startedRun} has not ended by --until rewards=9 after 60 seconds. The service does not report whether it is still running.`,
    ]);
    const stop = new AbortController();
    const stopped = await cli(...watch, { signal: stop.signal, onPrint: () => stop.abort() });
    expect([stopped.code, stopped.notes]).toEqual([
      130,
      `${startedRun} may still be running: the service reports no status for it.`,
    ]);
  });

  it('is not quiet before its first reward, and says so if the time expires', async () => {
    const service = await standIn('documented', {
      unknown: refusals.get('the 404 of the document') ?? json({}),
      routes: {
        [`GET /api/v1/eval/${startedRun}/trajectory-rewards`]: { eval_run_id: startedRun, trajectory_rewards: [] },
      },
    });
    const cli = cliOn({ baseUrl: service.url, apiKey, home: testFolder() });
    const args = [startedRun, '--until', 'quiet=1s', '--timeout', '60'];
    const { code, notes } = await cli('watch', args, { onPrint: timeIsUp() });
    expect([code, notes]).toEqual([
      124,
      `${startedRun} has not ended by --until quiet=1s after 60 seconds: it has no reward yet, and quiet= counts from the first one. The service does not report whether it is still running.`,
    ]);
  });

  it('lists how many of its rollouts have no reward', async () => {
    const getting = async (...values: (number | null)[]) => {
      const trajectory_rewards = values.map((value, index) => ({ ...reward(index), reward: value }));
      const routes = {
        [`GET /api/v1/eval/${startedRun}/trajectory-rewards`]: { eval_run_id: startedRun, trajectory_rewards },
      };
      const { url } = await standIn('documented', {
        unknown: refusals.get('the 404 of the document') ?? json({}),
        routes,
      });
      return (await cliOn({ baseUrl: url, apiKey, home: testFolder() })('get', ['run', startedRun])).out;
    };
    const words = await getting(null, null, null, null, null);
    expect(words).toMatch(/^mean +no reward; 5 rollouts without one$/m);
    expect(words).not.toMatch(/^no reward/m);
    const some = await getting(0.5, 0.5, null);
    expect(some).toMatch(/^mean so far +0\.500 over 2 rewards$/m);
    expect(some).toMatch(/^no reward +1 rollout$/m);
    expect(await getting()).toMatch(/^mean +no reward yet$/m);
  });

  it.each([
    ['evaluate', [...evaluate, '--until', 'rewards=4']],
    ['evaluate', [...evaluate, '--until', 'quiet=1s']],
  ])('ends by its rewards: %s %j', async (command, args) => {
    const cli = await rewarded(4);
    const { code, out, notes } = await cli(command, [...args, '--json']);
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ status: null, reward_count: 4 })]);
    expect(notes).toContain(`counts as ended by --until ${args.at(-1)}`);
    expect((await cli('watch', [startedRun, '--until', 'rewards=4', '--timeout', '60'])).code).toBe(0);
    expect((await cli('evaluate', [...evaluate, '--until', 'rewards=4', '--field', 'reward_mean'])).out).toBe('0.75\n');
  });

  it('gates a run it waited for by its rewards, if the user says that these are all (A2)', async () => {
    const cli = await rewarded(4);
    const { out } = await cli('evaluate', [...evaluate, '--until', 'rewards=4', '--field', 'id']);
    const gate = [
      'compare',
      [documentedIds.oldRun, out.trim(), '--reward-range', '-2..2', '--fail-below', '-4'],
    ] as const;
    const open = await cli(...gate);
    expect([open.code, open.out]).toEqual([1, expect.stringMatching(/^gate\tUndecided .* use --ended\.$/m)]);
    const ended = await cli(gate[0], [...gate[1], '--ended']);
    expect([ended.code, ended.out]).toEqual([0, expect.stringMatching(/^gate\tPassed\./m)]);
  });

  it.each([['runs'], []])('names what may still be running: watch %s', async (...args) => {
    const cli = await rewarded(2);
    const names = args.length > 0 ? 'runs' : 'runs, training runs or deployments';
    const seen = `This service does not list ${names}: only those seen on this machine are known.`;
    const nothing = `${seen}\nNothing is known to be running.`;
    expect(await cli('watch', args)).toEqual({ code: 0, out: '', notes: nothing });
    await cli('evaluate', ['t-words', ...model, '--name', 'ev']);
    const advice = (id: string) =>
      `To wait for one by its rewards: benchtop watch ${id} --until rewards=N, or --until quiet=60s.`;
    expect(await cli('watch', args)).toEqual({
      code: 6,
      out: '',
      notes: `The service does not report whether ev is still running. ${advice(startedRun)}\n${seen}`,
    });
    await cli('get', ['run', documentedIds.oldRun]);
    const unreported = {
      code: 6,
      out: '',
      notes: `The service does not report which of 2 runs are still running. ${advice('ID')}\n${seen}`,
    };
    expect(await cli('watch', args)).toEqual(unreported);
    // Neither was asked for: the old one may have ended with fewer rewards.
    expect(await cli('watch', [...args, '--until', 'rewards=2', '--timeout', '60'])).toEqual(unreported);
    const judged = await cli('watch', [startedRun, '--until', 'rewards=2', '--timeout', '60']);
    expect([judged.code, judged.notes.match(/counts as ended/g)]).toEqual([0, ['counts as ended']]);
  });

  it('refuses other conditions before it sends anything', async () => {
    const cli = await rewarded(1);
    for (const until of ['rewards=0', 'quiet', 'quiet=5d', 'status=done']) {
      expect(await cli('evaluate', [...evaluate, '--until', until])).toMatchObject({ code: 2, out: '' });
    }
  });
});

it('says that nothing was seen here, not that nothing exists, for what the service does not list', async () => {
  const { cli, ids } = await worldOf('the 404 of the document');
  for (const [list, words] of [
    ['runs', 'No runs have been seen here yet.'],
    ['training', 'No training runs have been seen here yet.'],
  ] as const)
    expect((await cli('list', [list])).notes).toContain(words);
  await cli('get', ['run', ids.run]);
  const { out } = await cli('list', ['runs', '--json']);
  const seen = JSON.parse(out)[0].remembered_at;
  expect((await cli('list', ['runs'])).out).toContain(`\t${seen}\t`);
  expect((await cli('list', ['runs'], { columns: 120 })).out).toMatch(/MEAN +SEEN[\s\S]*0\.500 n=4\+ +\d+s ago/);
});

it('doctor names everything that the document does not list', async () => {
  const { cli } = await worldOf('the 404 of the document');
  const { out } = await cli('doctor', []);
  for (const words of ['list evaluation runs', 'list training runs', 'list deployments']) expect(out).toContain(words);
});

it('finds an id that looks like another resource, and says that a training run has no status (B1)', async () => {
  const routes = {
    'GET /api/v1/train/tr_2/progress': { training_run_id: 'tr_2', completed_steps: 1, total_steps: 4 },
    'GET /api/v1/trajectories/tr_3': { trajectory_id: 'tr_3', status: 'completed', reward: 0.25, steps: [] },
  };
  const unknown = refusals.get('the 404 of the document') ?? json({});
  const { url, requests } = await standIn('documented', { unknown, routes });
  const cli = cliOn({ baseUrl: url, apiKey, home: testFolder() });
  const other = await cli('get', ['tr_1']);
  expect([other.code, other.notes]).toEqual([
    5,
    expect.stringMatching(/^benchtop: There is no training run tr_1: .*Nothing else was found with this id or name\.$/),
  ]);
  const before = requests.length;
  expect((await cli('get', ['tr_2'])).out).toMatch(/^status +not reported$/m);
  expect(
    requests
      .slice(before)
      .map(({ url: asked }) => asked)
      .join('\n'),
  ).not.toMatch(/trajectories|deploy|eval|datasets/);
  expect((await cli('get', ['tr_3'])).out).toMatch(/^reward +0\.250$/m);
  expect(JSON.parse((await cli('export', ['tr_3'])).out)).toMatchObject({ trajectory_id: 'tr_3' });
  expect(await cli('notes set', ['tr_3', '--flag', 'good'])).toMatchObject({ code: 0 });
});

it('looks up a run that it finds by its rewards as nothing else', async () => {
  const { cli, ids, requests } = await worldOf('a 501');
  const { code, notes } = await cli('cancel', [ids.run, '--yes']);
  expect([code, notes]).toEqual([7, expect.stringContaining('does not cancel evaluation runs')]);
  expect(requests.some(({ url }) => url.includes(`/train/${ids.run}`))).toBe(false);
});

it('keeps the model, checkpoint and start of a run that this machine started', async () => {
  const { cli } = await worldOf('the 404 of the document');
  await cli('evaluate', ['t-words', ...model, '-c', 'ckpt_1', '--name', 'after']);
  const started = {
    eval_run_id: startedRun,
    base_model_slug: 'acme/small',
    parent_checkpoint_id: 'ckpt_1',
    created_at: expect.stringMatching(/^\d{4}-/),
  };
  expect(JSON.parse((await cli('list', ['runs', '--json'])).out)).toEqual([expect.objectContaining(started)]);
  expect(JSON.parse((await cli('get', ['run', startedRun, '--json'])).out)).toMatchObject(started);
  expect((await cli('list', ['runs'])).out).toMatch(/\tBENCHMARK\tMODEL\tCHECKPOINT\tSTARTED\t/);
  expect((await cli('list', ['runs'])).out).toMatch(/\t0+-0000-4000-8000-0+b1\tacme\/small\tckpt_1\t\d{4}-/);
});

it('exits with the code of the worst end of several, in every order', async () => {
  const { cli, ids } = await worldOf('the 404 of the document');
  const codeOf = async (...watched: string[]) => (await cli('watch', watched)).code;
  expect(await codeOf(ids.gone, ids.oldRun)).toBe(1);
  expect(await codeOf(ids.oldRun, ids.gone)).toBe(1);
  expect(await codeOf(ids.oldRun, ids.production)).toBe(6);
});

it('sends a start with a lost answer once, and says how to check and how to repeat it (C3)', async () => {
  let starts = 0;
  const server = await hostileServer((response, request) => {
    const isList = request.url.startsWith('/api/v1/benchmarks?');
    if (isList) return json({ items: [{ bench_id: 'b1', label: 't-words' }], has_more: false })(response, request);
    if (request.method !== 'POST') return json({}, 405)(response, request);
    starts += 1;
    return resetAtOnce(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const { code, out, notes } = await cli('evaluate', ['t-words', ...model, '--idempotency-key', 'mine']);
  expect([code, out, starts]).toEqual([6, '', 1]);
  expect(notes).toMatch(/It may have happened anyway.*--idempotency-key mine/);
  expect(server.requests.findLast(({ method }) => method === 'POST')?.headers['idempotency-key']).toBe('mine');
});

it.each<[string, Behaviour, RegExp, RegExp]>([
  ['lists runs', json([]), /anyway.* benchtop list runs shows whether it has started\. If/, /does not/],
  [
    'does not',
    json({ detail: 'Not Found' }, 404),
    /This service does not list runs\. t-words had 3 runs before: benchtop get benchmark b1 --field eval_run_count shows/,
    /list runs shows/,
  ],
  [
    'gives no answer',
    resetAtOnce,
    /If this service lists runs, benchtop list runs shows whether it has started/,
    /does not list/,
  ],
])('looks for a lost start wherever it can be seen, if a service %s (B6)', async (_, listed, words, never) => {
  const server = await hostileServer((response, request) => {
    const items = [{ bench_id: 'b1', label: 't-words', eval_run_count: 3 }];
    if (request.url.startsWith('/api/v1/benchmarks?')) return json({ items, has_more: false })(response, request);
    if (request.url.startsWith('/api/v1/eval/b1/runs')) return listed(response, request);
    if (request.method === 'POST') return resetAtOnce(response, request);
    return json({}, 405)(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const { code, notes } = await cli('evaluate', ['t-words', ...model]);
  expect([code, notes]).toEqual([6, expect.stringMatching(words)]);
  expect(notes).not.toMatch(never);
  expect(server.requests.filter(({ url }) => url.startsWith('/api/v1/eval/b1/runs'))).toHaveLength(1);
});

it('does not call a later count the one before a lost start', async () => {
  let starts = 0;
  const server = await hostileServer((response, request) => {
    const items = [{ bench_id: 'b1', label: 't-words', eval_run_count: starts }];
    if (request.url.startsWith('/api/v1/benchmarks?')) return json({ items, has_more: false })(response, request);
    if (request.method !== 'POST') return json({}, 405)(response, request);
    starts += 1;
    return resetAtOnce(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const evaluate = ['t-words', ...model, '--name', 'nightly'];
  expect((await cli('evaluate', evaluate)).notes).toMatch(/t-words had 0 runs before: .*whether there is one more/);
  const notBefore = /t-words had 1 run when last read, including the earlier one if it started: .*how many there are/;
  const { notes } = await cli('evaluate', evaluate);
  expect([notes, starts]).toEqual([expect.stringMatching(notBefore), 1]);
  const [, key = ''] = /--idempotency-key (\S+)/.exec(notes) ?? [];
  const again = await cli('evaluate', [...evaluate, '--idempotency-key', key]);
  expect([again.notes, starts]).toEqual([expect.stringMatching(notBefore), 2]);
});

it('repeats a lost start only with its key, and the next start is new', async () => {
  let starts = 0;
  const server = await hostileServer((response, request) => {
    const isList = request.url.startsWith('/api/v1/benchmarks?');
    if (isList) return json({ items: [{ bench_id: 'b1', label: 't-words' }], has_more: false })(response, request);
    if (request.method !== 'POST') return json({}, 405)(response, request);
    starts += 1;
    if (starts === 1) return resetAtOnce(response, request);
    return json({ eval_run_id: `evr_${starts}` })(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const evaluate = ['t-words', ...model, '--name', 'nightly'];
  expect((await cli('evaluate', evaluate)).code).toBe(6);
  const { code, notes } = await cli('evaluate', evaluate);
  expect([code, starts]).toEqual([6, 1]);
  expect(notes).toMatch(
    /Nothing was sent\. The same request was sent at \S+, but its response was lost.*does not list runs/,
  );
  const [, key = ''] = /--idempotency-key (\S+)/.exec(notes) ?? [];
  expect(await cli('evaluate', [...evaluate, '--idempotency-key', key])).toMatchObject({ code: 0, notes: '' });
  expect(await cli('evaluate', evaluate)).toMatchObject({ code: 0, notes: '' });
  const sent = server.requests.flatMap(({ method, headers }) =>
    method === 'POST' ? [headers['idempotency-key']] : [],
  );
  expect(sent).toEqual([key, key, expect.any(String)]);
  expect(sent[2]).not.toBe(key);
});

it('does not repeat a lost start without a name under another name if its run is listed meanwhile', async () => {
  const run = {
    eval_run_id: 'evr_1',
    bench_id: 'b1',
    display_name: 't-words small',
    created_at: '2026-03-04T05:06:07Z',
  };
  const older = { ...run, eval_run_id: 'evr_0', created_at: '2026-03-04T05:06:06Z' };
  let starts = 0;
  const server = await hostileServer((response, request) => {
    const items = [{ bench_id: 'b1', label: 't-words' }];
    if (request.url.startsWith('/api/v1/benchmarks?')) return json({ items, has_more: false })(response, request);
    if (request.url.startsWith('/api/v1/eval/b1/runs')) return json([older, run])(response, request);
    if (request.method !== 'POST') return json({}, 405)(response, request);
    starts += 1;
    return resetAtOnce(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const newest = expect.stringMatching(
    /The newest run with that name is evr_1, created at 2026-03-04 .*benchtop list runs/,
  );
  expect(await cli('evaluate', ['t-words', ...model])).toMatchObject({ code: 6, notes: newest });
  expect(await cli('evaluate', ['t-words', ...model])).toMatchObject({ code: 6, notes: newest });
  expect(starts).toBe(1);
});

it('repeats a lost start at once if the service honours its key', async () => {
  let starts = 0;
  const server = await hostileServer((response, request) => {
    const isList = request.url.startsWith('/api/v1/benchmarks?');
    if (isList) return json({ items: [{ bench_id: 'b1', label: 't-words' }], has_more: false })(response, request);
    if (request.method !== 'POST') return json({}, 405)(response, request);
    starts += 1;
    return starts === 1 ? resetAtOnce(response, request) : json({ eval_run_id: 'evr_1' })(response, request);
  });
  const settings = testFolder();
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const evaluate = (assumptions: object) => {
    const lab = { baseUrl: server.url, apiKey, assumptions };
    writeFileSync(join(settings, 'config.json'), JSON.stringify({ profiles: { lab } }), { mode: 0o600 });
    const environment = { BENCHTOP_CONFIG_DIR: settings };
    return cli('evaluate', ['t-words', ...model, '--profile', 'lab'], { environment });
  };
  expect((await evaluate({})).code).toBe(6);
  const { code, notes } = await evaluate({ honoursIdempotencyKey: 'yes' });
  expect([code, notes]).toEqual([0, expect.stringMatching(/same idempotency key, so it cannot start a second one/)]);
  const keys = server.requests.flatMap(({ method, headers }) => (method === 'POST' ? headers['idempotency-key'] : []));
  expect(keys[1]).toBe(keys[0]);
});

it('reports a start that the service calls failed like a lost one', async () => {
  const failed = { error: { type: 'api_error', code: 'internal_error', message: 'Out of luck' } };
  const server = await hostileServer((response, request) => {
    const isList = request.url.startsWith('/api/v1/benchmarks?');
    if (isList) return json({ items: [{ bench_id: 'b1', label: 't-words' }], has_more: false })(response, request);
    return json(failed, request.method === 'POST' ? 500 : 405)(response, request);
  });
  const cli = cliOn({ baseUrl: server.url, apiKey, home: testFolder() });
  const { code, notes } = await cli('evaluate', ['t-words', ...model, '--idempotency-key', 'mine']);
  expect(code).toBe(6);
  expect(notes).toMatch(/Out of luck\. The service failed\. It may have happened anyway.*--idempotency-key mine/);
});

it('undeploy takes no name that only this machine knows (C7)', async () => {
  const { cli, ids, requests } = await worldOf('the 404 of the document');
  expect((await cli('get', ['deployment', ids.test])).code).toBe(0);
  const { code, notes } = await cli('undeploy', ['talker', '--yes']);
  expect([code, notes]).toEqual([2, expect.stringContaining('give the id. Nothing was changed.')]);
  expect(requests.some(({ method }) => method === 'DELETE')).toBe(false);
  expect((await cli('undeploy', [ids.test, '--yes'])).code).toBe(0);
});

it.each([[['--wait', '--timeout', '20'], 1] as const, [[], 0] as const])(
  'build %j prints why each image failed, which only its answer says (C14)',
  async (flags, wanted) => {
    const images = [
      { task_id: 'one', build_status: 'failed', failure_message: 'no such base image' },
      { task_id: 'two', build_status: 'pending', failure_message: null },
      { task_id: 'three', build_status: 'failed', failure_message: 'disk full' },
    ];
    const { bench } = documentedIds;
    const routes = { [`POST /api/v1/benchmarks/${bench}/images/build`]: { bench_id: bench, images } };
    const service = await standIn('documented', { unknown: json({ detail: 'Not Found' }, 404), routes });
    const cli = cliOn({ baseUrl: service.url, apiKey, home: testFolder() });
    const { code, notes } = await cli('build', ['t-words', ...flags]);
    expect(code).toBe(wanted);
    expect(notes.split('\n').filter(line => line.includes('the image of'))).toEqual([
      't-words: the image of one failed: no such base image',
      't-words: the image of three failed: disk full',
    ]);
  },
);

it('build --wait says why it is not ready if images are not listed (C13)', async () => {
  const { cli } = await worldOf('the 404 of the document');
  const { code, notes } = await cli('build', ['t-words', '--wait', '--timeout', '20']);
  expect(code).toBe(1);
  expect(notes).toMatch(/1 image failed/);
  expect(notes).toMatch(/the secret TOKEN is missing/);
});
