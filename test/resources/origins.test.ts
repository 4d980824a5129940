/** The origins of deployed checkpoints: found with few requests, and shown to distinguish deployments. */
import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../src/contract/deployments.ts';
import { formatTrainingOrigin, knownOrigin } from '../../src/queries/checkpoint-memory.ts';
import { deploymentFacts, deployments } from '../../src/resources/deployments.ts';
import { originOf, servedBefore, withOrigins } from '../../src/resources/origins.ts';
import { replacedNow } from '../../src/resources/production.ts';
import { CapabilityMissingError } from '../../src/service/errors.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { cliOn } from '../commands/cli.ts';
import { type Answers, notFound, pageOf, scriptedService } from '../queries/scripted-service.ts';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';

const runIds = Array.from({ length: 15 }, (_, index) => `trn_${index}`);
const benchIds = ['b1', 'b2', 'b3'];
const runOf = (id: string) => ({
  ...{ training_run_id: id, display_name: `run ${id}`, status: 'succeeded', base_model_slug: 'acme/small' },
  ...{ bench_id: benchIds[Number(id.slice(4)) % 3], options: { num_steps: 20 }, created_at: '2026-11-01T00:00:00Z' },
});

/** 300 deployments of the checkpoints of 15 runs. */
const rows: readonly Deployment[] = Array.from({ length: 300 }, (_, index) => ({
  ...{ deployment_id: `dep_${index}`, model_slug: 'counter', status: 'DEPLOYED', is_active: index === 0 },
  ...{ checkpoint_id: `ckpt_${index % 15}_${(index % 20) + 1}`, checkpoint_step: (index % 20) + 1 },
  ...{ base_model_slug: 'acme/small', created_at: '2026-11-02T00:00:00Z' },
}));

const answers: Answers = {
  listBenchmarks: () =>
    pageOf(benchIds.map(bench_id => ({ bench_id, ...(bench_id === 'b1' && { label: 'label of b1' }) }))),
  listTrainingRuns: ({ bench_id }) => runIds.map(runOf).filter(run => run.bench_id === bench_id),
  listCheckpoints: ({ training_run_id: id = '' }) =>
    Array.from({ length: 20 }, (_, step) => ({
      checkpoint_id: `ckpt_${id.slice(4)}_${step + 1}`,
      step_index: step + 1,
    })),
  getHeldOutRewards: () => ({
    held_out_rewards: Array.from({ length: 20 }, (_, step) => ({
      ...{ step: step + 1, held_out_reward: (step + 1) / 40, completed_samples: 112 },
    })),
  }),
};

function service(more: Answers = {}, memory = RememberedStore.inMemory('test')) {
  const scripted = scriptedService({ ...answers, ...more });
  const context = { service: scripted.service, signal: AbortSignal.timeout(10_000), memory };
  const read = (some: readonly Deployment[], columns: readonly string[] = ['run', 'held-out', 'interval']) =>
    withOrigins(some, new Set(columns), context, {});
  return { read, memory, context, requests: scripted.requests, asked: scripted.asked };
}

describe('the origin of 300 deployments', () => {
  it('takes one request per list, and two per training run; then none', async () => {
    const { read, memory, asked, requests } = service();
    const traced = await read(rows);
    expect(traced[0]?.from_run).toMatchObject({ training_run_id: 'trn_0', display_name: 'run trn_0', step: 1 });
    const column = deployments.measures?.columns([], [0, 1]).find(({ id }) => id === 'benchmark');
    expect(traced.slice(0, 3).map(row => column?.value(row))).toEqual(['label of b1', 'b2', 'b3']);
    const [fact] = deploymentFacts(traced[0] as Deployment).filter(({ label }) => label === 'benchmark');
    expect(fact).toMatchObject({ value: 'label of b1', refers: { resource: 'benchmarks', id: 'b1' } });
    expect(traced.every(({ from_run: of }, index) => of?.held_out?.reward === ((index % 20) + 1) / 40)).toBe(true);
    expect([asked('listBenchmarks'), asked('listTrainingRuns')]).toEqual([1, 3]);
    expect([asked('listCheckpoints'), asked('getHeldOutRewards')]).toEqual([15, 15]);
    expect(requests).toHaveLength(34);
    const again = service({}, memory);
    expect(await again.read(rows)).toEqual(traced);
    expect(again.requests).toEqual([]);
  });

  it('reads no rewards for names alone, and no run that cannot have made the checkpoint', async () => {
    const { read, requests } = service({
      listTrainingRuns: ({ bench_id }) => [
        { ...runOf('trn_3'), bench_id, training_run_id: `${bench_id}_other`, base_model_slug: 'acme/large' },
        { ...runOf('trn_3'), bench_id, training_run_id: `${bench_id}_short`, options: { num_steps: 2 } },
        { ...runOf('trn_3'), bench_id, training_run_id: `${bench_id}_later`, created_at: '2026-11-03T00:00:00Z' },
        ...(bench_id === 'b1' ? [runOf('trn_3')] : []),
      ],
    });
    const [traced] = await read([rows[18] as Deployment], ['run']);
    const of = { bench_id: 'b1', benchmark: 'label of b1' };
    expect(traced?.from_run).toEqual({ training_run_id: 'trn_3', display_name: 'run trn_3', step: 19, ...of });
    expect(requests.filter(each => !each.startsWith('list')).concat(requests.slice(-1))).toEqual([
      'listCheckpoints trn_3',
    ]);
  });

  it('stays known after the run was deleted, without requests if the service names no checkpoint', async () => {
    const { read, memory } = service();
    await read(rows.slice(0, 1));
    memory.forget('training', 'trn_0');
    expect(knownOrigin('ckpt_0_1', memory)).toMatchObject({ display_name: 'run trn_0', step: 1 });
    const { read: readNone, requests } = service();
    const plain = { deployment_id: 'dep_1', model_slug: 'counter', checkpoint_step: 15 };
    expect(await readNone([plain])).toEqual([plain]);
    expect(requests).toEqual([]);
  });

  it('reads each run once for checkpoints that no run has', async () => {
    const lost = rows.map(row => ({ ...row, checkpoint_id: `lost_${row.deployment_id}` }));
    const { read, asked } = service();
    expect(await read(lost)).toEqual(lost);
    expect(asked('listCheckpoints')).toBe(15);
    const gone = service({ listCheckpoints: ({ training_run_id: id = '' }) => notFound(id) });
    expect(await gone.read(lost.slice(0, 2))).toEqual(lost.slice(0, 2));
    const without = service({
      listCheckpoints: () => {
        throw new CapabilityMissingError('listCheckpoints');
      },
    });
    expect(await without.read(lost.slice(0, 2))).toEqual(lost.slice(0, 2));
  });

  it('reads the checkpoints of at most 100 runs', async () => {
    const many = Array.from({ length: 110 }, (_, index) => `trn_${index}`).map(runOf);
    const of = service({ listTrainingRuns: ({ bench_id }) => many.filter(run => run.bench_id === bench_id) });
    const lost = [{ ...rows[0], deployment_id: 'dep_lost', checkpoint_id: 'lost' }];
    expect(await of.read(lost)).toEqual(lost);
    expect(of.asked('listCheckpoints')).toBe(100);
  });
});

it('is searched for once if two deployments leave production', async () => {
  const demoted = { ...(rows[0] as Deployment), is_active: false, model_slug: 'other', checkpoint_id: 'lost_1' };
  const serving = { ...(rows[1] as Deployment), is_active: true, checkpoint_id: 'lost_2' };
  const { context, asked } = service({ listDeployments: () => pageOf([demoted, serving]) });
  const { words } = await replacedNow({ slug: 'counter', demoted }, context);
  expect(words).toContain('dep_0');
  expect([asked('listTrainingRuns'), asked('listCheckpoints')]).toEqual([3, 15]);
});

it('names the checkpoint that a training run continues', async () => {
  const { context } = service();
  const from = await originOf({ checkpoint_id: 'ckpt_7_12' }, context);
  expect(from && formatTrainingOrigin(from)).toBe('run trn_7 step 12');
});

it('tells deployments of one slug apart in the list on the command line, narrow or wide', async () => {
  const two = ['0', '1'].map(run => ({
    ...{ ...rows[14], deployment_id: `dep_${run}`, checkpoint_id: `ckpt_${run}_15`, checkpoint_step: 15 },
  }));
  const { url, requests } = await hostileServer((response, request) => {
    const path = request.url.split('?')[0] ?? '';
    const [, id = ''] = /train\/([^/]+)/.exec(path) ?? [];
    const answer = path.endsWith('/deploy')
      ? { items: two, has_more: false }
      : path.endsWith('/benchmarks')
        ? { items: [{ bench_id: 'b1' }], has_more: false }
        : path.endsWith('/runs')
          ? ['trn_0', 'trn_1'].map(runOf)
          : path.endsWith('/checkpoints')
            ? answers.listCheckpoints?.({ training_run_id: id })
            : path.includes('held-out')
              ? answers.getHeldOutRewards?.({})
              : path.endsWith('/train/trn_2')
                ? { ...runOf('trn_2'), parent_checkpoint_id: 'ckpt_1_15' }
                : two[0];
    return json(answer)(response, request);
  });
  const cli = cliOn({ baseUrl: url, apiKey });
  const list = await cli('list', ['deployments'], { columns: 120 });
  expect(list.out).toMatch(/counter .*run trn_0 .* 15 +0\.375/);
  expect(list.out).toMatch(/counter .*run trn_1 .* 15 +0\.375/);
  expect((await cli('list', ['deployments'], { columns: 60 })).out).toMatch(
    /counter .*run trn_0(.*\n)+.*counter .*run trn_1/,
  );
  const before = requests.length;
  const named = await cli('list', ['deployments', '--columns', 'run,held-out']);
  expect(named.out).toContain('run trn_1');
  // All of it is remembered.
  expect(requests.length - before).toBe(1);
  expect((await cli('get', ['training', 'trn_2'])).out).toMatch(/from +run trn_1 step 15/);
});

describe('the previous deployment', () => {
  const at = (deployment_id: string, updated_at: string, is_active = false): Deployment => {
    return { deployment_id, model_slug: 'counter', status: 'DEPLOYED', is_active, updated_at };
  };
  const now = at('dep_3', '2026-11-03T10:00:00.000Z', true);

  it('is the one that left at the moment this one was promoted', () => {
    const left = at('dep_2', '2026-11-03T10:00:00.000Z');
    expect(servedBefore(now, [at('dep_1', '2026-11-02T10:00:00Z'), left, now])).toBe(left);
  });

  it('is unknown if it is gone, if two changed at once, or for one that does not answer', () => {
    const left = at('dep_2', '2026-11-03T10:00:00.000Z');
    expect(servedBefore(now, [at('dep_1', '2026-11-02T10:00:00Z'), now])).toBeUndefined();
    expect(servedBefore(now, [left, { ...left, deployment_id: 'dep_4' }])).toBeUndefined();
    expect(servedBefore(left, [left, now])).toBeUndefined();
    expect(servedBefore(now, [{ ...left, model_slug: 'other' }])).toBeUndefined();
  });
});

it('prints the origin among the facts on the command line, with the previous deployment', async () => {
  const [first, second] = rows as readonly [Deployment, Deployment];
  const updated_at = '2026-11-03T10:00:00Z';
  const before = { ...second, updated_at };
  const active = { ...first, updated_at };
  const { context } = service({ listDeployments: () => pageOf([active, before]) });
  const { facts = [] } = (await deployments.wholeFacts?.(active, context)) ?? {};
  const factOf = (name: string) => facts.find(({ label }) => label === name)?.value;
  expect(factOf('training run')).toBe('run trn_0');
  expect(factOf('held-out')).toMatch(/^0\.025\d* at step 1, from 112 samples, 95% CI \S+ to \S+ on these tasks$/);
  expect(factOf('replaced')).toBe('run trn_1 step 2, dep_1');
});
