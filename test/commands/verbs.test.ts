/** The commands that start and change something, on a real local service. */
import { existsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shellWords } from '../../src/base/shell-words.ts';
import { exitCodes } from '../../src/commands/exit.ts';
import { startService, type TestService } from '../local/server/running.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn, testFolder, timeIsUp } from './cli.ts';

let service: TestService;
let cli: ReturnType<typeof cliOn>;
let benchId: string;

const model = 'benchtop/tutor-base';
const quick = ['-o', 'num_steps=2', '-o', 'train_batch_size=2', '-o', 'samples_per_instance=2'];

beforeAll(async () => {
  service = await startService();
  cli = cliOn({ ...service, home: service.folder });
  benchId = await service.readyBenchmark('t-words');
  const { code } = await cli('train', ['t-words', '--model', model, '--name', 'first', ...quick, '--wait']);
  expect(code).toBe(exitCodes.done);
});
afterAll(() => service.end());

describe('evaluate', () => {
  it('starts a run of a named benchmark, waits, and prints one field of the result', async () => {
    const { code, out, notes } = await cli('evaluate', ['t-words', '-m', model, '--wait', '--field', 'id']);
    expect(code).toBe(exitCodes.done);
    expect(out).toMatch(/^evr_\w+\n$/);
    expect(notes).toContain('t-words tutor-base: completed, 28 of 28');
    const { out: mean } = await cli('get', [out.trim(), '--field', 'reward_mean']);
    expect(Number(mean)).toBeGreaterThanOrEqual(0);
  });

  it.each(['first@latest', 'first@best', 'first@2', 'first'])(
    'evaluates the checkpoint %s with its own base model',
    async word => {
      const { code, out } = await cli('evaluate', ['t-words', '--checkpoint', word, '--json']);
      expect(code).toBe(exitCodes.done);
      const started = JSON.parse(out);
      expect(started.display_name).toMatch(/^t-words.* first step 2( \d)?$/);
      const run = JSON.parse((await cli('get', [started.eval_run_id, '--json'])).out);
      expect(run).toMatchObject({ base_model_slug: model, parent_checkpoint_id: expect.stringMatching(/^ckpt_/) });
    },
  );

  it('warns if the service names another benchmark than the requested one, and records the run under it', async () => {
    const started = { eval_run_id: 'evr_78', bench_id: 'bench_c', display_name: 'zz' };
    const server = await hostileServer(json({ bench_id: 'bench_a', label: 'Alpha' }), json(started));
    const on = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const { notes } = await on('evaluate', ['bench_a', '--model', 'acme/m', '--name', 'zz', '--json']);
    expect(notes).toContain('its response names the benchmark bench_c, not bench_a.');
  });

  it('picks the checkpoint with the highest held-out reward for @best, and names its step', async () => {
    const started = async (rewards: readonly (number | null)[], more: object = {}, first = 2) => {
      const server = await hostileServer(
        json({ bench_id: 'bench_1', label: 'words' }),
        json({ training_run_id: 'trn_1', display_name: 'tuned', status: 'completed', base_model_slug: 'acme/m' }),
        json([2, 4, 6].map(step => ({ checkpoint_id: `ckpt_${step}`, step_index: step }))),
        json({
          held_out_rewards: rewards.map((held_out_reward, index) => ({
            ...{ step: 2 * index + first, held_out_reward },
            ...{ expected_samples: 100, completed_samples: 2, ...more },
          })),
        }),
      );
      const on = cliOn({ baseUrl: server.url, apiKey: 'key' });
      return on('evaluate', ['bench_1', '-c', 'trn_1@best', '--dry-run', '--json']);
    };
    const { out, notes } = await started([0.5, 0.9, 0.7]);
    const of2 = 'trn_1@best is step 4, held-out 0.900 from 2 of 100 samples';
    expect(notes).toContain(`${of2}; no round has finished yet.`);
    expect((await started([0.5, 0.9], { failed_samples: 98 })).notes).toContain(
      `${of2}, 98 failed; 1 other checkpoint is within its 95% CI.`,
    );
    expect((await started([0.5, 0.9], { completed_samples: 120 })).notes).toContain('held-out 0.900 from 120 samples.');
    const whole = { completed_samples: 100 };
    expect((await started([0.9, 0.9, 0.5], whole)).notes).toContain(
      'is step 4, held-out 0.900 from 100 samples; tied with step 2; the latest wins.',
    );
    const before = (await started([0.9, 0.5, 0.9], whole, 0)).notes;
    expect(before).toContain(
      'is step 4, held-out 0.900 from 100 samples; the model before training (step 0) scored 0.900, and no checkpoint beats it.',
    );
    expect((await started([0.8, 0.5, 0.9], whole, 0)).notes).not.toContain('before training');
    expect((await started([0.5, 0.6, 0.7, 0.8], whole)).notes).toContain(
      'is step 6, held-out 0.700 from 100 samples; step 8 had 0.800, but has no checkpoint.',
    );
    const best = JSON.parse(out);
    expect(JSON.stringify(best)).toMatch(/"words tuned step 4".*ckpt_4|ckpt_4.*"words tuned step 4"/);
    expect(await started([null, null])).toMatchObject({
      code: exitCodes.notFound,
      out: '',
      notes: expect.stringMatching(
        /trn_1 has no checkpoint best: no checkpoint's held-out .*; it has checkpoints at steps 2, 4, 6\./,
      ),
    });
  });

  it('sends options unchecked if the service does not list them, and says which ones it ignores', async () => {
    const server = await hostileServer(
      json({ bench_id: 'bench_1', label: 'words', created_at: '2026-01-01T00:00:00Z', rollout_ready: true }),
      refusal(404, 'not_found_error', 'not_found'),
      json({ eval_run_id: 'evr_1', status: 'pending', ignored_options: ['anything'] }),
    );
    const words = ['bench_1', '-m', 'acme/m', '--name', 'x', '-o', 'anything=3'];
    const started = await cliOn({ baseUrl: server.url, apiKey: 'key' })('evaluate', words);
    expect(started).toMatchObject({ code: exitCodes.done, out: 'evr_1\n' });
    expect(started.notes).toContain('The service does not list its options: --option is sent unchecked.');
    expect(started.notes).toContain('Ignored by the service: anything.');
    const inexact = ['bench_1', '-m', 'acme/m', '--name', 'x', '-o', 'anything=1e400'];
    const other = await hostileServer(
      json({ bench_id: 'bench_1', label: 'words' }),
      refusal(404, 'not_found_error', 'not_found'),
    );
    const refused = await cliOn({ baseUrl: other.url, apiKey: 'key' })('evaluate', inexact);
    expect(refused).toMatchObject({ code: exitCodes.usage, out: '' });
    expect(refused.notes).toContain(
      'anything=1e400 is not valid. A JSON number cannot hold this exactly. Nothing was started.',
    );
    // Two values of one option: it was not sent with the last of them (out31 C14).
    const twice = ['bench_1', '-m', 'acme/m', '-o', 'seed=1', '-o', 'seed=2'];
    const repeated = await cliOn({ baseUrl: other.url, apiKey: 'key' })('evaluate', twice);
    expect(repeated).toMatchObject({
      code: exitCodes.usage,
      notes: expect.stringContaining('Give the option seed once'),
    });
  });

  it('prints the warnings of the service about a completed run', async () => {
    const warning = 'Task odd has no grader that can rate it.';
    const run = { eval_run_id: 'evr_1', bench_id: 'bench_1', status: 'completed', warnings: [warning] };
    const benchmark = { bench_id: 'bench_1', label: 'words', rollout_ready: true };
    const { url } = await hostileServer((response, request) =>
      json(request.url.startsWith('/api/v1/benchmarks') ? benchmark : run)(response, request),
    );
    const words = ['bench_1', '-m', 'acme/m', '--name', 'x', '--wait'];
    const waited = await cliOn({ baseUrl: url, apiKey: 'key' })('evaluate', words);
    expect(waited).toMatchObject({ code: exitCodes.done, out: 'evr_1\n' });
    expect(waited.notes).toContain(`\nx: warning: ${warning}`);
    const inJson = await cliOn({ baseUrl: url, apiKey: 'key' })('evaluate', [...words, '--json']);
    expect(JSON.parse(inJson.out).warnings).toEqual([warning]);
    expect(JSON.parse(inJson.notes.split('\n').at(-1) ?? '')).toMatchObject({ id: 'evr_1', warning });
  });

  it('refuses a value outside the bounds of the service', async () => {
    const { code, notes } = await cli('evaluate', ['t-words', '-m', model, '-o', 'max_output_tokens_per_step=5000']);
    const words = `max_output_tokens_per_step=5000 is not valid. From 1 to 4096 for ${model}. Nothing was started.`;
    expect([code, notes]).toEqual([exitCodes.usage, `benchtop: ${words}`]);
  });

  it('prints the request instead of sending it', async () => {
    const before = (await cli('list', ['runs', '--ids', '--all'])).out;
    const dry = await cli('evaluate', ['t-words', '-m', model, '--name', 'x', '--dry-run']);
    expect(dry.code).toBe(exitCodes.done);
    expect(dry.notes).toMatch(
      /^Estimate: 1 run x 28 tasks x 1 sample = 28 rollouts(, about \d+ output tokens \(.*\))?; cost unknown: .*\.$/,
    );
    expect(dry.out).toMatch(new RegExp(`^POST /api/v1/eval/${benchId}/start\n`));
    expect(JSON.parse(dry.out.slice(dry.out.indexOf('{')))).toEqual({ display_name: 'x', model_slug: model });
    const asJson = JSON.parse((await cli('evaluate', ['t-words', '-m', model, '-n', '--json', '--read-only'])).out);
    expect(asJson).toMatchObject([{ method: 'POST', body: { model_slug: model } }]);
    expect((await cli('list', ['runs', '--ids', '--all'])).out).toBe(before);
  });

  it.each([
    [['t-words'], exitCodes.usage, /Specify what to evaluate/],
    [['nothing', '-m', model], exitCodes.notFound, /There is no benchmark nothing\./],
    [['', '-m', model], exitCodes.usage, /is empty/],
    [['evr_1', '-m', model], exitCodes.notFound, /There is no benchmark evr_1\. It looks like the id of a run\./],
    [['t-words', '-c', 'first@9'], exitCodes.notFound, /first has no checkpoint 9: it has .* at step.*2\./],
    [['t-words', '-c', 'first@'], exitCodes.usage, /first@ has no step/],
    [
      ['t-words', '-c', 'first@2', '-m', 'no/model'],
      exitCodes.usage,
      /first@2 is a checkpoint of .*tutor-base, not of no\/model\. Nothing was started\./,
    ],
    [['t-words', '-c', 'ckpt_none'], exitCodes.notFound, /If it is the name of a training run, give ckpt_none@latest/],
    [['t-words', '-c', 'nothing@latest'], exitCodes.notFound, /no training run nothing/],
    [['t-words', '-m', model, '--read-only'], exitCodes.usage, /read-only/],
    [['t-words', '-m', 'no/model'], exitCodes.notFound, /no\/model/],
    [['t-words', '-m', model, '--field', 'id', '--jq', '.'], exitCodes.usage, /--field cannot be used with --jq/],
  ])('explains what is wrong with %j', async (args, code, words) => {
    const outcome = await cli('evaluate', args);
    expect(outcome).toMatchObject({ code, out: '' });
    expect(outcome.notes).toMatch(words);
  });
});

describe('train', () => {
  it('prints the cost before it starts, with tokens estimated from the previous run', async () => {
    const { notes } = await cli('train', ['t-words', '-m', model, ...quick, '--dry-run']);
    expect(notes).toMatch(
      /2 steps x 2 tasks x 2 samples = 8 rollouts.*, about \d+ output and \d+ input tokens \(\d+ and \d+ each, as in step 2 of first\); cost unknown/,
    );
  });

  it('passes on options, starts from a checkpoint, and exits with 124 if it takes too long', async () => {
    const isUp = timeIsUp();
    const args = ['t-words', '-c', 'first@latest', '-o', 'num_steps=2000', '-w', '-t', '2'];
    const { code, out, notes } = await cli('train', args, { onNote: text => text.includes('running') && isUp() });
    expect({ code, notes }).toMatchObject({ code: exitCodes.timeout });
    expect(notes).toContain('is still running after 2 seconds');
    const id = out.trim();
    expect(JSON.parse((await cli('get', [id, '--json'])).out).options).toMatchObject({ num_steps: 2_000 });
    expect((await cli('cancel', [id])).notes).toContain('add --yes');
    expect(await cli('cancel', [id, '--yes'])).toEqual({ code: 0, out: `${id}\n`, notes: '' });
    // A cancelled run counts as failed.
    expect((await cli('watch', [id])).code).toBe(exitCodes.failed);
  });
});

describe('deploy, promote and undeploy', () => {
  it('take names, wait, and ask first', async () => {
    const { code, out } = await cli('deploy', [
      'first@latest',
      '--slug',
      'tutor',
      '--role',
      'test',
      '--wait',
      '--field',
      'status',
    ]);
    expect([code, out]).toEqual([exitCodes.done, 'DEPLOYED\n']);
    const promoted = await cli('promote', ['tutor', '--yes', '--field', 'is_active']);
    expect([promoted.code, promoted.out]).toEqual([exitCodes.done, 'true\n']);
    const refused = await cli('undeploy', ['tutor']);
    expect([refused.code, refused.out]).toEqual([exitCodes.usage, '']);
    expect(refused.notes).toMatch(
      /Undeploy deployment tutor, dep_\w+ \(first step 2, held-out [\d.]+ on t-words\)\?.*add --yes/,
    );
    expect((await cli('undeploy', ['tutor', '-n'])).out).toMatch(/^DELETE \/api\/v1\/deploy\/dep_/);
    expect((await cli('undeploy', ['tutor', '--yes'])).code).toBe(exitCodes.done);
    expect((await cli('get', ['deployment', 'tutor'])).code).toBe(exitCodes.notFound);
  });
});

describe('production', () => {
  it.each(['', ' ', '\u200b', '\u001b[31m'])('needs more than Enter if the slug is %j', async model_slug => {
    const row = { deployment_id: 'dep_1', model_slug, role: 'production', status: 'DEPLOYED', is_active: true };
    const server = await hostileServer((response, request) => {
      const isList = request.url.startsWith('/api/v1/deploy?');
      return json(isList ? { items: [row], has_more: false } : row)(response, request);
    });
    const on = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const answered = (input: string) => ({ input: `${input}\n`, asked: true });
    for (const words of [
      ['undeploy', 'dep_1'],
      ['promote', 'dep_1', '--undo'],
    ]) {
      const [command = '', ...args] = words;
      expect((await on(command, args, answered(''))).code).toBe(exitCodes.failed);
    }
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
    expect((await on('promote', ['dep_1', '--undo'], answered('dep_1'))).code).toBe(exitCodes.done);
  });

  it.each([
    ['undeploy', 'y', 'DELETE'],
    ['promote', 'tutor', 'POST'],
    ['promote --undo', 'y', 'POST'],
  ])('is confirmed again if the facts change before the answer: %s', async (words, first, method) => {
    const [command = '', ...flags] = words.split(' ');
    const isEntry = words === 'promote';
    const row = { deployment_id: 'dep_1', model_slug: 'tutor', status: 'DEPLOYED', role: 'test', is_active: false };
    const active = { ...row, role: 'production', is_active: true };
    const answering = async (second: string) => {
      let reads = 0;
      const server = await hostileServer((response, request) => {
        const isList = request.url.startsWith('/api/v1/deploy?');
        const isRead = request.method === 'GET' && isEntry === isList;
        if (isRead) reads += 1;
        const items = reads > 1 ? [row, { ...active, deployment_id: 'dep_2' }] : [row];
        const one = reads > 1 && !isEntry ? active : row;
        return json(isList ? { items, has_more: false } : one)(response, request);
      });
      const input = new PassThrough();
      input.write(`${first}\n`);
      const onNote = (text: string): void => void (text.startsWith('This has changed') && input.write(`${second}\n`));
      const options = { input, asked: true, onNote };
      const { code } = await cliOn({ baseUrl: server.url, apiKey: 'key' })(command, ['dep_1', ...flags], options);
      return { code, sent: server.requests.filter(request => request.method === method).length };
    };
    expect(await answering('y')).toEqual({ code: exitCodes.failed, sent: 0 });
    expect(await answering('tutor')).toEqual({ code: exitCodes.done, sent: 1 });
  });

  it('is confirmed with the name of the action, and looks up only what is replaced', async () => {
    const row = { deployment_id: 'dep_1', model_slug: 'talker', status: 'DEPLOYED' };
    const server = await hostileServer((response, request) => {
      const isList = request.url.startsWith('/api/v1/deploy?');
      return json(isList ? { items: [row], has_more: false } : row)(response, request);
    });
    const on = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const { notes } = await on('promote', ['dep_1', '--undo']);
    const stops =
      'Unpromote deployment talker, dep_1? May be in production: talker. If so, nothing answers there until another deployment is promoted. It stays deployed, and can be reached by its id. There is no';
    expect(notes).toContain(stops);
    expect(server.requests.filter(({ url }) => url.startsWith('/api/v1/deploy?'))).toEqual([]);
    const replaced = 'This makes dep_1 serve talker. Nothing serves talker now. There is no terminal';
    expect((await on('promote', ['dep_1'])).notes).toContain(replaced);
  });

  it('is entered and left only by typing the slug, or with --yes (W3, W43)', async () => {
    const slug = ['--slug', 'teacher', '--role', 'production', '--wait', '--field', 'role'];
    const byNobody = await cli('deploy', ['first@latest', ...slug]);
    expect([byNobody.code, byNobody.out]).toEqual([exitCodes.usage, '']);
    expect(byNobody.notes).toMatch(
      /Step 2 of first \(ckpt_\w+\), held-out \d\.\d+ from \d+ samples on \S+, goes into production as teacher\. Nothing serves teacher now\. (?:Not audited: describe trn_\w+ --audit|Audit of its curves: .*)\./,
    );
    // The audit that it names is remembered (out30 B1).
    expect((await cli('describe', ['first', '--audit'])).code).toBe(exitCodes.done);
    expect((await cli('deploy', ['first@latest', ...slug])).notes).toMatch(/ Audit findings: .*\./);
    const answered = (input: string) => ({ input: `${input}\n`, asked: true });
    expect(await cli('deploy', ['first@latest', ...slug], answered('y'))).toMatchObject({
      code: exitCodes.failed,
      out: '',
      notes: expect.stringContaining('Nothing was changed.'),
    });
    expect(await cli('deploy', ['first@latest', ...slug], answered('teacher'))).toMatchObject({
      code: exitCodes.done,
      out: 'production\n',
    });
    const { out } = await cli('deploy', ['first@latest', '--slug', 'teacher', '--wait', '--field', 'deployment_id']);
    const origin = String.raw`first step 2, held-out \d\.\d+ on [^)]+`;
    expect((await cli('promote', [out.trim()])).notes).toMatch(
      new RegExp(
        String.raw`${out.trim()} \(${origin}\) serve teacher\. dep_\w+ \(${origin}\) serves teacher now and is replaced\. Audit findings: `,
      ),
    );
    expect((await cli('undeploy', [out.trim(), '--yes'])).code).toBe(exitCodes.done);
    expect((await cli('undeploy', ['teacher'], answered('y'))).code).toBe(exitCodes.failed);
    expect((await cli('promote', ['teacher', '--undo'], answered('y'))).code).toBe(exitCodes.failed);
    expect((await cli('promote', ['teacher', '--undo'], answered('teacher'))).code).toBe(exitCodes.done);
    // It is a test deployment now.
    expect((await cli('undeploy', ['teacher'], answered('y'))).code).toBe(exitCodes.done);
  });

  it('is not the default (W3)', async () => {
    const { out } = await cli('deploy', ['first@latest', '--slug', 'teacher', '-n']);
    expect(out).toContain('"role": "test"');
  });
});

describe('delete and cancel', () => {
  it('refuse an ambiguous name, and list the matches', async () => {
    const twice = ['t-words', '-m', model, '--name', 'twice', '--wait'];
    const ids = [await cli('evaluate', twice), await cli('evaluate', twice)].map(({ out }) => out.trim());
    const { code, notes } = await cli('delete', ['twice', '--yes']);
    expect(code).toBe(exitCodes.usage);
    for (const id of ids) expect(notes).toMatch(new RegExp(`[:,] ${id} \\(run, `));
    expect(notes).toContain('2 runs are named twice. Give the id of one: ');
    const gone = await cli('delete', [...ids, '--yes', '--json']);
    expect(gone.code).toBe(exitCodes.done);
    expect(
      gone.out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toMatchObject(ids.map(id => ({ eval_run_id: id, id, kind: 'run', done: 'deleted' })));
    expect((await cli('get', [ids[0] ?? ''])).code).toBe(exitCodes.notFound);
  });

  it('suggest arguments for an ambiguous name that work when pasted (attack24 A1)', async () => {
    const named = ['t-words', '-m', model, '--wait', '--name'];
    const id = (await cli('evaluate', [...named, 'first'])).out.trim();
    const adviceOf = (notes: string) =>
      (/Give the id of one: (.*)\.$/m.exec(notes)?.[1] ?? '').split(/, (?=evr_|trn_)/);
    for (const command of ['delete', 'tasks', 'tree', 'get', 'export']) {
      const flags = command === 'delete' ? ['-n'] : [];
      const { code, notes } = await cli(command, ['first', ...flags]);
      const advice = adviceOf(notes);
      expect([command, code, advice.length]).toEqual([command, exitCodes.usage, 2]);
      for (const words of advice) {
        expect(words).toMatch(/^\w+ \((run|training run)[,)]/);
        const pasted = await cli(command, [...shellWords(words.replace(/ \(.*$/, '')), ...flags]);
        expect([command, words, pasted.code]).toEqual([command, words, exitCodes.done]);
      }
    }
    const other = (await cli('evaluate', [...named, 'run'])).out.trim();
    const { code, out, notes } = await cli('delete', ['run', id, '--yes']);
    expect({ code, out }).toEqual({ code: exitCodes.usage, out: '' });
    expect(notes).toContain(`run is the word for a kind, but also names run run (${other}): give its id`);
    expect((await cli('delete', ['run', '-n'])).out).toContain(other);
    expect((await cli('delete', [id, other, '--yes'])).code).toBe(exitCodes.done);
  });

  it('count a resource named twice once, and one that is already gone as done', async () => {
    const [run = '', other = ''] = await Promise.all(
      ['a', 'b'].map(async name =>
        (await cli('evaluate', ['t-words', '-m', model, '--name', name, '--wait'])).out.trim(),
      ),
    );
    expect(await cli('delete', [run, 'a', run, '--yes'])).toEqual({ code: exitCodes.done, out: `${run}\n`, notes: '' });
    // Deleted by another program at the same moment.
    const { url } = await hostileServer(
      json({ eval_run_id: other, bench_id: benchId, status: 'completed' }),
      refusal(404, 'not_found_error', 'eval_run_not_found'),
    );
    const raced = await cliOn({ baseUrl: url, apiKey: 'key' })('delete', [other, '--yes']);
    expect(raced).toEqual({ code: exitCodes.done, out: `${other}\n`, notes: '' });
  });

  it('say which failed, and continue with the others', async () => {
    const run = (await cli('evaluate', ['t-words', '-m', model, '--name', 'over', '--wait'])).out.trim();
    const outcome = await cli('cancel', [run, '--yes']);
    expect(outcome.code).not.toBe(exitCodes.done);
    expect(outcome).toMatchObject({ out: '', notes: expect.not.stringContaining('Refresh') });
    expect((await cli('cancel', ['nothing', '--yes'])).notes).toMatch(/There is no run or training run nothing/);
  });
});

describe('output options', () => {
  const start = ['t-words', '-m', model, '--name', 'printed'];
  const runs = async () => (await cli('list', ['runs', '--ids', '--all'])).out;

  it.each([
    ['evaluate', [...start, '--field', 'eval_run_idd']],
    ['evaluate', [...start, '--field', 'status']],
    ['evaluate', [...start, '--wait', '--field', 'failure.cod']],
    ['api', ['startEval', 'display_name=printed', 'model_slug=m', 'bench_id=b', '--field', 'eval_run_idd']],
    ['secret set', ['PRINTED', '--field', 'valu']],
  ])('are checked before anything is sent: %s %j', async (command, words) => {
    const before = await runs();
    const outcome = await cli(command, words, { input: 'value' });
    expect(outcome).toMatchObject({ code: exitCodes.usage, out: '' });
    expect(outcome.notes).toMatch(/There is no field \S+ in the output\. Nothing was sent\./);
    expect(await runs()).toBe(before);
  });

  it('do not lose the id if they fail later', async () => {
    const folder = testFolder();
    // Compiles any filter, and fails on every input.
    writeFileSync(join(folder, 'jq'), '#!/bin/sh\n[ -z "$(cat)" ] || { echo "jq: error: no" >&2; exit 5; }\n', {
      mode: 0o755,
    });
    const environment = { PATH: `${folder}:/usr/bin:/bin` };
    const { code, out, notes } = await cli('evaluate', [...start, '--jq', '.x'], { environment });
    expect([code, out]).toEqual([exitCodes.failed, '']);
    expect(notes).toMatch(/printed is (evr_\w+)\nbenchtop: jq failed: jq: error: no/);
    expect((await cli('evaluate', [...start, '--wait', '--field', 'failure'])).code).toBe(exitCodes.done);
  });
});

describe('secret set', () => {
  it('reads the value from standard input, and never shows it', async () => {
    const dry = await cli('secret set', ['HF_TOKEN', '--dry-run'], { input: 's3cret' });
    expect(dry.out).not.toContain('s3cret');
    const made = await cli('secret set', ['HF_TOKEN', '--json'], { input: 's3cret\n' });
    expect(made.code).toBe(exitCodes.done);
    expect(made.out).not.toContain('s3cret');
    expect(JSON.parse(made.out)).toMatchObject({ name: 'HF_TOKEN', byte_length: 6 });
    expect((await cli('secret set', ['EMPTY'], { input: '\n' })).code).toBe(exitCodes.usage);
    const binary = await cli('secret set', ['BINARY'], {
      input: Readable.from([Buffer.from([0xff, 0x00, 0xc3])]),
    });
    expect(binary).toMatchObject({ code: exitCodes.usage, notes: expect.stringContaining('is not UTF-8') });
    expect((await cli('delete', ['HF_TOKEN', '--yes'])).code).toBe(exitCodes.done);
    expect((await cli('get', ['secret', 'HF_TOKEN'])).code).toBe(exitCodes.notFound);
  });
});

describe('reward', () => {
  it('takes numbers only, and shows its request', async () => {
    expect((await cli('reward', ['traj_1', 'good', 'much'])).notes).toContain('is a number, not much');
    const dry = await cli('reward', ['traj_1', 'good', '-0.5', '--weight', '2', '--reward-id', 'r1', '-n']);
    expect(dry.out).toContain('POST /api/v1/trajectories/traj_1/rewards');
    expect(JSON.parse(dry.out.slice(dry.out.indexOf('{')))).toMatchObject({ reward_id: 'r1', value: -0.5, weight: 2 });
    expect((await cli('reward', ['traj_1', 'good', '1', '--token-env', 'NOT_SET'])).code).toBe(exitCodes.forbidden);
    expect((await cli('reward', ['traj_none', 'good', '1'])).code).toBe(exitCodes.notFound);
  });
});

it('get shows the measurements of a checkpoint that lists have (out34 B3)', async () => {
  const best = JSON.parse((await cli('get', ['first@best', '--json'])).out);
  const listed = await cli('list', ['checkpoints', '--training', 'first', '--wide', '--json']);
  const same = JSON.parse(listed.out).find((row: typeof best) => row.checkpoint_id === best.checkpoint_id);
  expect(best).toEqual({ ...same, training_run_id: best.training_run_id });
  expect(best.held_out).toMatchObject({ reward: expect.any(Number), step: best.step_index });
  expect(best.evaluations).toMatchObject({ mean: expect.any(Number) });
  const { out } = await cli('get', ['first@best']);
  expect(out).toMatch(/^held-out +\d.*\nbest .*\nevaluated +\d/m);
});

it('get reads a checkpoint by id, and by run and step', async () => {
  const byStep = JSON.parse((await cli('get', ['first@latest', '--json'])).out);
  const byId = await cli('get', [byStep.checkpoint_id, '--field', 'step_index']);
  expect(byId.out).toBe(`${byStep.step_index}\n`);
  expect((await cli('get', ['ckpt_none'])).code).toBe(exitCodes.notFound);
});

describe('--jq', () => {
  it('runs the jq on the PATH, and prints its errors', async () => {
    const folder = testFolder();
    // The message of jq 1.6, which takes `--` for an unknown option.
    const script = `#!/bin/sh
case "$2" in
  -*) echo "Unknown arguments" >&2; exit 2;;
  *"["*) echo "jq: error: syntax" >&2; exit 3;;
esac
echo "$@"
cat
`;
    writeFileSync(join(folder, 'jq'), script, { mode: 0o755 });
    const environment = { PATH: `${folder}:/usr/bin:/bin` };
    const filtered = (filter: string) => cli('get', ['t-words', '--jq', filter], { environment });
    expect((await filtered('.label')).out).toMatch(/^-r \.label\n\{.*"label":"t-words"/);
    expect((await filtered('-1')).out).toMatch(/^-r {2}-1\n/);
    const listed = await cli('list', ['training', '--wide', '--jq', '.', '--limit', '1'], { environment });
    expect(listed).toMatchObject({ code: exitCodes.done, out: expect.stringContaining('"failed_rounds":') });
    expect(await filtered('.[')).toEqual({
      code: exitCodes.usage,
      out: '',
      notes: 'benchtop: jq refuses the filter: jq: error: syntax',
    });
    const without = await cli('get', ['t-words', '--jq', '.label'], { environment: { PATH: '/nowhere' } });
    expect(without.notes).toContain('--jq needs the program jq');
    const before = (await cli('list', ['runs', '--ids', '--all'])).out;
    const start = ['t-words', '-m', model, '--jq', '.['];
    expect(await cli('evaluate', start, { environment })).toMatchObject({ code: exitCodes.usage, out: '' });
    expect((await cli('list', ['runs', '--ids', '--all'])).out).toBe(before);
  });

  // jq is not a dependency of benchtop: tested if it is installed.
  const { PATH = '' } = process.env;
  const real = PATH.split(delimiter).filter(folder => existsSync(join(folder, 'jq')));
  it.each(real.slice(0, 1))('prints what the jq in %s makes of the JSON', async folder => {
    const filtered = (filter: string) =>
      cli('get', ['t-words', '--jq', filter], { environment: { PATH: `${folder}:${PATH}` } });
    expect(await filtered('.label')).toEqual({ code: 0, out: 't-words\n', notes: '' });
    expect((await filtered('-(.label | length)')).out).toBe('-7\n');
    expect((await filtered('.[')).notes).toMatch(/^benchtop: jq refuses the filter: jq: error/);
  });
});
