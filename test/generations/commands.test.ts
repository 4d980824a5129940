/** Every command on both generations of the service: nothing is lost silently, and no request is wrong. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { resources } from '../../src/resources/catalogue.ts';
import { cliOn, testFolder } from '../commands/cli.ts';
import { apiKey } from '../service/hostile-server.ts';
import { smallFolder } from '../uploads/small-folder.ts';
import { standIn } from './stand-in.ts';

async function worldOf(generation: 'document' | 'newest') {
  const service = await standIn(generation);
  const home = testFolder();
  const cli = cliOn({ baseUrl: service.url, apiKey, home });
  // The field that names its models reveals the generation.
  expect(await cli('list', ['models', '--ids'])).toMatchObject({ code: 0, out: 'acme/small\n' });
  return { ...service, cli };
}

describe.each(['document', 'newest'] as const)('on a service of generation %s', generation => {
  const isNewest = generation === 'newest';

  it.each(resources.map(({ names: [name], needs }) => [name, needs] as const))('list %s', async (name, needs) => {
    const { cli, refused, ids } = await worldOf(generation);
    const scope = needs === 'benchmark' ? ['--benchmark', ids.bench] : needs ? [`--${needs}`, ids.training] : [];
    const { code, out, notes } = await cli('list', [name, ...scope, '--json']);
    expect([code, refused]).toEqual([0, []]);
    expect(JSON.parse(out)).not.toEqual([]);
    const isShort = name === 'benchmarks' || (isNewest && name === 'runs');
    expect(notes.includes('could not be read')).toBe(isShort || name === 'runs' || name === 'training');
  });

  it('get what is listed, by id', async () => {
    const { cli, refused, ids } = await worldOf(generation);
    const wanted = [
      ['benchmark', ids.bench, 't-words'],
      ['benchmark', ids.bench, /^ready +no\nsecrets missing +TOKEN\nimages +1 failed$/m],
      ['run', ids.run, isNewest ? 'algorithm grpo' : 'baseline'],
      ['run', ids.oldRun, '0.500 over 6 rewards'],
      ['training', ids.training, 'first'],
      ['training', ids.training, '0.400 at step 2, from 14 of 16 samples'],
      ['trajectory', ids.trajectory, isNewest ? 'the harness hung' : 'hello'],
      ['deployment', ids.test, 'talker'],
    ] as const;
    for (const [kind, id, words] of wanted) {
      const { code, out } = await cli('get', [kind, id]);
      expect([kind, code, out]).toEqual([kind, 0, expect.stringMatching(words)]);
    }
    const { notes } = await cli('get', ['trajectory', ids.trajectory, '--json']);
    expect(notes).toBe(isNewest ? '{"note":"1 row in the response could not be read."}' : '');
    expect(refused).toEqual([]);
  });

  it('watch ends with completed runs', async () => {
    const { cli, ids } = await worldOf(generation);
    const run = await cli('watch', ['run', ids.oldRun]);
    expect([run.code, run.out]).toEqual(
      isNewest ? [6, expect.stringContaining('no status')] : [1, expect.stringContaining('failed')],
    );
    const deployment = await cli('watch', ['deployment', ids.gone]);
    expect(deployment.code).toBe(1);
    expect(deployment.out).toContain(isNewest ? 'cancelled' : 'failed');
    // Without its kind it is found among the listed resources.
    expect((await cli('watch', [ids.gone])).code).toBe(1);
    expect(await cli('list', ['runs', '--ids'])).toMatchObject({ out: expect.stringContaining(ids.oldRun) });
    expect(await cli('watch', [ids.oldRun])).toMatchObject({ code: run.code, out: expect.stringContaining('before') });
  });

  it('chat with a model, and with a deployment that does not answer under its slug', async () => {
    const { cli, requests, refused, ids } = await worldOf(generation);
    expect(await cli('chat', ['acme/small', 'hello'])).toMatchObject({ code: 0, out: 'hi there\n' });
    await cli('get', ['deployment', ids.test]);
    expect(await cli('chat', [ids.test, 'hello'])).toMatchObject({ code: 0, out: 'hi there\n' });
    expect(requests.at(-1)?.url).toBe(
      isNewest ? `/v1/playground/${ids.test}/chat/completions` : `/playground/${ids.test}/v1/chat/completions`,
    );
    expect(refused).toEqual([]);
  });

  it.each<[string, readonly string[]]>([
    ['evaluate', ['t-words', '--model', 'acme/small', '--name', 'again']],
    ['train', ['t-words', '--model', 'acme/small', '--name', 'again', '--option', 'num_steps=3']],
    ['build', ['t-words']],
    ['cancel', ['baseline', '--yes']],
    ['delete', ['before', '--yes']],
    ['promote', ['{test}', '--yes']],
    ['promote', ['{production}', '--undo', '--yes']],
    ['undeploy', ['{production}', '--yes']],
    ['deploy', ['first', '--slug', 'talker']],
    ['compare', ['{oldRun}', '{oldRun}']],
    ['export', ['run', '{run}']],
    ['export', ['trajectory', '{trajectory}']],
    ['export', ['dataset', 'recorded']],
    ['cancel', ['{training}', '--yes']],
    ['delete', ['{training}', '--yes']],
    ['delete', ['TOKEN', '--yes']],
    ['reward', ['{trajectory}', 'helpful', '0.5']],
    ['secret set', ['NAME']],
    ['api', ['getTrainingOptions']],
  ])('%s', async (command, args) => {
    const { cli, refused, ids } = await worldOf(generation);
    const filled = args.map(arg => arg.replace(/^\{(\w+)\}$/, (_, name: keyof typeof ids) => ids[name]));
    const words = command === 'api' && isNewest ? [...filled, `bench_id=${ids.bench}`] : filled;
    const { code, notes } = await cli(command, words, { input: 'value' });
    // One of its messages there is null.
    const isIncomplete = command === 'export' && isNewest;
    expect([code, notes, refused]).toEqual([isIncomplete ? 1 : 0, notes, []]);
  });

  it('deploy leaves out checkpoints that the service would not deploy', async () => {
    const { cli, requests, refused } = await worldOf(generation);
    const { code, notes } = await cli('deploy', ['first', '--slug', 'talker', '--role', 'test']);
    expect([code, JSON.parse(requests.at(-1)?.body ?? '')]).toEqual([
      0,
      { checkpoint_id: isNewest ? 'c-1' : 'ckpt_1', model_slug: 'talker', role: 'test' },
    ]);
    // The row of a benchmark cannot be read, and its training runs are unknown.
    expect(notes.split('\n')).toEqual([
      expect.stringMatching(
        /^training run first .* was found by its name, but another .*: 1 row could not be read\. The training runs of 1 unreadable benchmark are missing\.$/,
      ),
      isNewest
        ? 'The newest checkpoint, step 3, cannot be deployed: using step 2 instead.'
        : 'first is step 2, the latest checkpoint so far.',
    ]);
    for (const checkpoint of isNewest ? ['first@3', 'c-2'] : []) {
      const said = await cli('deploy', [checkpoint, '--slug', 'talker']);
      expect([said.code, said.notes]).toEqual([1, expect.stringContaining('cannot be deployed')]);
    }
    expect((await cli('deploy', [isNewest ? 'c-1' : 'ckpt_1', '--slug', 'talker'])).code).toBe(0);
    // A word that may be a run's name is looked up as one first.
    expect(refused.filter(request => !/GET \/api\/v1\/train\/c-[12](\/progress)? /.test(request))).toEqual([]);
  });

  it('promote asks for the deployment to demote, if the service does', async () => {
    const { cli, requests, ids } = await worldOf(generation);
    const args = [ids.test, '--demote', ids.production, '--yes'];
    expect((await cli('promote', args)).code).toBe(isNewest ? 0 : exitCodes.usage);
    const sent = requests.find(({ url }) => url.endsWith('/promote'));
    expect(JSON.parse(sent?.body ?? '')).toEqual({ demote_deployment_id: ids.production });
  });

  it('evaluate sends options by the name of the generation', async () => {
    const { cli, requests, refused } = await worldOf(generation);
    const args = ['t-words', '--model', 'acme/small', '--option', 'evaluation_max_samples=3'];
    expect((await cli('evaluate', args)).code).toBe(0);
    const body = JSON.parse(requests.at(-1)?.body ?? '') as Record<string, unknown>;
    expect(body[isNewest ? 'options' : 'eval_options']).toEqual({ evaluation_max_samples: 3 });
    expect(refused).toEqual([]);
  });

  it.each([
    ['countTasks', ['bench_id={bench}'], '3'],
    ['getEvalOptions', ['bench_id={bench}'], 'evaluation_max_samples'],
    ['listAgents', [], 'agent-1'],
    ['listModels', [], 'acme/small'],
  ])('api %s', async (operation, args, words) => {
    const { cli, ids } = await worldOf(generation);
    const filled = args.map(arg => arg.replace('{bench}', ids.bench));
    const { code, out, notes } = await cli('api', [operation, ...filled]);
    if (isNewest || operation === 'listModels') expect([code, out]).toEqual([0, expect.stringContaining(words)]);
    else expect([code, notes]).toEqual([exitCodes.unsupported, expect.stringMatching(/does not|404/)]);
  });

  it('line mode lists, opens, starts, stops, follows and talks', async () => {
    const { cli, requests, refused, ids } = await worldOf(generation);
    const lists = resources.filter(({ needs }) => !needs).flatMap(({ names: [name] }) => [name, '1']);
    const starts = ['benchmarks', 'evaluate 1', 'acme/small', 'again', 'train 1', 'acme/small', 'again'];
    // The newest generation says no status of this old run: following it would have no end.
    const follow = isNewest ? [] : ['follow 2'];
    const runs = ['runs', 'cancel 1', 'y', ...follow, 'training', 'deploy 1', 'talker', 'test', 'cancel 1', 'y'];
    const talks = [`chat acme/small`, 'hello', '', 'deployments', `chat ${ids.test}`, 'hello', ''];
    const input = [...lists, ...starts, ...runs, ...talks, 'quit', ''].join('\n');
    const { code, out } = await cli('--lines', [], { input });
    expect([code, out.match(/^.*(did not work|is not for).*$/m)?.[0], refused]).toEqual([0, undefined, []]);
    expect(out.match(/hi there/g)).toHaveLength(2);
    const sent = requests.filter(({ method }) => method === 'POST').map(({ url }) => url.replace(/^\/api\/v1/, ''));
    expect(sent).toEqual([
      isNewest ? '/eval' : `/eval/${ids.bench}/start`,
      '/train',
      `/eval/${ids.run}/cancel`,
      '/deploy',
      `/train/${ids.training}/cancel`,
      '/v1/chat/completions',
      isNewest ? `/v1/playground/${ids.test}/chat/completions` : `/playground/${ids.test}/v1/chat/completions`,
    ]);
  });

  it('compare counts every reward', async () => {
    const { cli, ids } = await worldOf(generation);
    const { code, out } = await cli('api', ['getTrajectoryRewards', `eval_run_id=${ids.run}`]);
    const { trajectory_rewards } = JSON.parse(out) as { trajectory_rewards: { reward: number }[] };
    const values = trajectory_rewards.map(({ reward }) => reward);
    expect([code, values.length, values.reduce((sum, value) => sum + value, 0) / values.length]).toEqual([0, 6, 0.5]);
  });

  it('upload a benchmark', async () => {
    const { cli, refused } = await worldOf(generation);
    const folder = smallFolder();
    const without = await cli('upload', [folder]);
    if (!isNewest) {
      expect([without.code, without.out]).toEqual([0, 'b-new\n']);
      return;
    }
    expect([without.code, without.notes]).toEqual([
      expect.any(Number),
      expect.stringContaining('as agent in the profile'),
    ]);
    expect(refused).toHaveLength(1);
    // By its name, as the service lists it.
    const { code, out, notes } = await cli('upload', [folder, '--agent', 'me']);
    // It exists, without one of its tasks.
    expect([code, out]).toEqual([1, 'b-new\n']);
    expect(notes).toContain('Not accepted: two, no image');
    expect(notes).toContain('The service warns: tags ignored');
    expect(refused).toHaveLength(1);
  });

  it('upload trajectories', async () => {
    const { cli, refused, requests } = await worldOf(generation);
    const folder = testFolder();
    const [file, failures] = [join(folder, 'three.jsonl'), join(folder, 'failed.jsonl')];
    const line = (text: string) => JSON.stringify({ messages: [{ role: 'user', content: text }] });
    writeFileSync(file, ['a', 'b', 'c'].map(line).join('\n'));
    const agent = isNewest ? ['--agent', 'name:me'] : [];
    const { code, out } = await cli('upload', [file, '--dataset', 'd', '--failures', failures, ...agent]);
    expect([code, out, refused]).toEqual([1, '1 stored, 1 skipped, 1 failed\n', []]);
    if (isNewest) expect(JSON.parse(requests.at(-1)?.body ?? '')).toMatchObject({ agent_id: 'agent-1' });
    expect(readFileSync(failures, 'utf8')).toBe(`${line('b')}\n`);
  });

  it('doctor finds nothing wrong, and names the generation', async () => {
    const { cli } = await worldOf(generation);
    const { out } = await cli('doctor', ['--json']);
    const { findings } = JSON.parse(out) as { findings: { about: string; state: string; words: string }[] };
    const wrong = findings.filter(({ state, about }) => state === 'fail' && about !== 'terminal');
    expect(wrong).toEqual([]);
    const { words = '' } = findings.find(({ about }) => about === 'generation') ?? {};
    expect(words).toContain(`API generation: ${generation} (its benchmarks have`);
    expect(words).toMatch(/; seen \d+s ago/);
  });
});
