/**
 * Every command with good and bad input: its exit code, its streams, and the form of its JSON. What the table of
 * commands declares is tested automatically; the rest is a row below. A command without a row fails the type check.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { type CommandName, commands } from '../../src/commands/table/commands.ts';
import { type CommandSpec, flagTerm, longFlag } from '../../src/commands/table/spec.ts';
import { startService, type TestService } from '../local/server/running.ts';
import { cliOn, type Outcome } from './cli.ts';

const model = 'benchtop/tutor-base';
/** Options of a training run that ends soon. */
const quick = ['num_steps=1', 'train_batch_size=2', 'samples_per_instance=2'].flatMap(option => ['-o', option]);
const { done, failed, usage, unreachable, forbidden, notFound } = exitCodes;

/** An input to try. `%NAME%` in an argument stands for a value of the world below. */
interface Row {
  readonly args: readonly string[];
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly code: number;
  /** On standard output; nothing if missing. */
  readonly out?: RegExp;
  /** The JSON on standard output: a value or a function that returns it; for `lines`, a value per line. */
  readonly json?: unknown;
  readonly lines?: unknown;
  /** On standard error; nothing if missing. */
  readonly notes?: RegExp;
}

const ok = (args: readonly string[], out: RegExp, more: Partial<Row> = {}): Row => ({ args, code: done, out, ...more });
const asJson = (args: readonly string[], json: unknown, more: Partial<Row> = {}): Row => ({
  args: [...args, '--json'],
  code: done,
  json,
  ...more,
});
const bad = (args: readonly string[], code: number, notes: RegExp, more: Partial<Row> = {}): Row => ({
  args,
  code,
  notes,
  ...more,
});
const has = (fields: object) => expect.objectContaining(fields);
const some = (fields: object) => expect.arrayContaining([has(fields)]);
const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_\\w+$`));
const request = (method: string, path: RegExp) => [has({ method, path: expect.stringMatching(path) })];

const rows: { readonly [Name in CommandName]: readonly Row[] } = {
  list: [
    ok(['runs'], /^RUN\t.*\nfirst\t/),
    asJson(['runs'], some({ eval_run_id: id('evr'), display_name: 'first' })),
    ok(['runs', '--field', 'display_name'], /^first\n/m),
    ok(['checkpoints', '--training', 'trained', '--ids'], /^ckpt_\w+\n/),
    bad(['rnus'], usage, /There is no resource rnus\. Did you mean runs\?/),
    bad(['runs', '--benchmark', 'nope'], notFound, /no benchmark nope/),
    {
      args: ['training', '--filter', 'nothing'],
      code: done,
      out: /^/,
      notes: /^No training runs match\.$/,
    },
    bad(['runs', '--status', 'nope'], usage, /There is no status nope\. The statuses of runs are pending, running, /),
    bad(['runs', '--status', 'DEPLOYED'], usage, /There is no status DEPLOYED\. The statuses of runs are pending, /),
    bad(['deployments', '--status', 'faild'], usage, /Did you mean FAILED\? The statuses of deployments are PENDING, /),
    bad(['runs', '--status', 'CANCELED'], done, /^No runs match\.$/, { out: /^RUN/ }),
    ok(['runs', '--status', 'Completed', '--ids'], /^evr_\w+\n/),
    bad(['runs', '--columns', 'nope'], usage, /There is no column or field nope/),
    bad(['runs', '--filter', '/(/'], usage, /Not a regular expression/),
    bad(['runs', '--filter', 'stauts:failed'], usage, /There is no column stauts\. .* Columns: /),
    ...['tokens>15', '!tokens>15', 'reward:0 seconds<1'].map(filter =>
      bad(['trajectories', '--filter', filter], usage, /(TOKENS|SECONDS) is not in this list: .* reads it/),
    ),
    bad(['trajectories', '--sort', 'tokens'], usage, /TOKENS is not in this list: .* reads it/),
    ok(['runs', '--filter', 'status:completed first mean<2 age<2d', '--field', 'display_name'], /^first\n$/),
    bad([''], usage, /is empty\. The resources are benchmarks/),
    bad(['runs'], usage, /^benchtop: .*ENOENT.*Check the file.*BENCHTOP_CA_FILE names the file\.$/, {
      environment: { BENCHTOP_BASE_URL: 'https://127.0.0.1:9', BENCHTOP_CA_FILE: '/no/such/file' },
    }),
    bad(['checkpoints'], usage, /--training ID/),
    bad(['runs', '--api-key-file', '/nope'], forbidden, /nope/),
    bad(['runs', '--api-key-env', 'NOPE'], forbidden, /NOPE/),
    bad(['runs', '--ca-file', '/nope', '--base-url', 'https://127.0.0.1:9'], usage, /\/nope could not be read/),
    bad(
      ['runs', '--ca-file', '%trajectories%', '--base-url', 'https://127.0.0.1:9'],
      usage,
      /no certificate in PEM form/,
    ),
    bad(
      ['runs', '--base-url', 'https://127.0.0.1:9'],
      unreachable,
      /^SSL_CERT_FILE names \/nope, which cannot be read/m,
      {
        environment: { SSL_CERT_FILE: '/nope' },
      },
    ),
    bad(['runs', '--base-url', 'https://127.0.0.1:9'], unreachable, /^SSL_CERT_FILE names .*, which holds no cert/m, {
      environment: { SSL_CERT_FILE: new URL(import.meta.url).pathname },
    }),
    bad(['runs', '--base-url', 'http://127.0.0.1:9'], unreachable, /^The connection failed\. Retry 1 of 2\.\n/m),
    bad(
      ['runs', '--base-url', 'http://127.0.0.1:9', '--json'],
      unreachable,
      /^\{"note":"The conn[^}]*"retry":1,"retries":2,/m,
    ),
    bad(['runs', '--base-url', 'nope'], usage, /is not a URL/),
    bad(['runs', '--base-url', 'http://service.example'], usage, /in the clear/),
    bad(['runs', '--profile', 'nope'], usage, /no profile "nope"/),
    bad(['runs', '--profile', 'local'], usage, /The data folder \/dev\/null\/x cannot be used/, {
      environment: { BENCHTOP_BASE_URL: '', BENCHTOP_API_KEY: '', BENCHTOP_DATA_DIR: '/dev/null/x' },
    }),
    bad(['runs', '--benchmark', ''], usage, /empty/),
  ],
  get: [
    ok(['first'], /^started +\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/m),
    ok(['run', 'first'], /^name +first\nid +evr_/),
    asJson(['first'], has({ eval_run_id: id('evr'), display_name: 'first', status: 'completed' })),
    ok(['trained@latest', '--field', 'id'], /^ckpt_\w+\n$/),
    bad(['run', 'frist'], notFound, /no .*run frist/),
    bad(['evr_none'], notFound, /^benchtop: There is no evaluation run evr_none\. .* Nothing else was found/),
    bad(['rnu', 'first'], usage, /There is no resource rnu\. Did you mean/),
    ok(['training-runs', 'trained', '--field', 'display_name'], /^trained\n$/),
    bad(['first', '--field', 'nope'], usage, /There is no field nope/),
    bad(['run', ''], usage, /is empty/),
  ],
  watch: [
    ok(['first'], /^\d{4}-\d\d-\d\dT[\d:.]+Z {2}first {2}completed/),
    { args: ['first', '--json'], code: done, lines: [has({ kind: 'run', id: id('evr'), status: 'completed' })] },
    bad([], done, /Nothing is running/),
    bad(['frist'], notFound, /frist/),
    bad(['run', 'first', 'frist'], notFound, /frist/),
    bad([''], usage, /One of the ids is empty/),
  ],
  chat: [
    ok([model, 'opposite:', 'hot?', '--temperature', '0'], /^\w.*\n$/),
    asJson(
      [model, 'opposite:', 'hot?', '--temperature', '0'],
      has({ choices: [has({ message: has({ role: 'assistant' }) })] }),
    ),
    bad(['no/model', 'hello'], notFound, /no\/model/),
    bad(['', 'hello'], usage, /empty/),
    bad([model], usage, /nothing to ask/),
    bad([model, 'hello', '--top-p', '3'], usage, /top_p/),
  ],
  upload: [
    ok(['%benchmark%'], /^bench_\w+\n$/),
    asJson(['%benchmark%'], has({ bench_id: id('bench'), phase: 'done', failed_tasks: [], missing_secret_names: [] }), {
      notes: /^\{"note":"bench_\w+ is also named sent: this makes another benchmark\."\}$/,
    }),
    ok(['%trajectories%', '--dataset', 'sent'], /^1 stored, 0 skipped, 0 failed\n$/),
    asJson(['%trajectories%', '--dataset', 'sent'], has({ stored: 0, sent_before: 1, trajectories: [] }), {
      notes: /^\{"note":"This file was sent to sent before \(.*--new sends it again\."\}$/,
    }),
    asJson(
      ['%trajectories%', '--dataset', 'sent', '--new'],
      has({ skipped: 1, trajectories: [has({ line: 1, status: 'skipped' })] }),
    ),
    ok(['%verifiers%', '--dataset', 'sent'], /^1 stored, 0 skipped, 0 failed\n$/, {
      notes: /^Read 1 trajectory from a verifiers or prime-rl rollout\.$/,
    }),
    asJson(['%capitals%', '--wait'], has({ bench_id: id('bench'), status: 'secrets missing' }), {
      code: failed,
      notes:
        /"The secret ATLAS_KEY is missing\. Create it: benchtop secret set ATLAS_KEY".*"Capitals: secrets missing"/s,
    }),
    ok(['%benchmark%', '--wait'], /^bench_\w+\n$/, {
      notes: /^bench_\w+, bench_\w+ are also named sent: this makes another benchmark\.\n.*sent: ready$/s,
    }),
    bad(['%trajectories%', '--dataset', 'sent', '--wait'], usage, /--wait is for a benchmark folder/),
    bad(['%needing%'], usage, /no files except manifest\.json, where task one names data\/a\.txt/),
    bad(['/no/such/folder'], usage, /There is no file or folder \/no\/such\/folder\./),
    bad(['/dev/null/x'], usage, /cannot be read \(ENOTDIR\)/),
    bad(['%empty%'], usage, /manifest\.json/),
    bad(['%trajectories%'], usage, /add --dataset NAME/),
    bad(
      ['%trajectories%', '--dataset', 'sent', '--failures', '/no/such/folder/x'],
      usage,
      /cannot be written: the folder does not exist\. Name/,
    ),
    bad(['%trajectories%', '--dataset', ''], usage, /--dataset takes a value/),
    bad([''], usage, /empty/),
  ],
  api: [
    ok([], /^getEvalRun +GET/m),
    ok(['listBenchmarks', 'limit=1', '--field', 'items.0.bench_id'], /^bench_\w+\n$/),
    asJson(['GET', '/api/v1/benchmarks?limit=1'], has({ items: [has({ bench_id: id('bench') })], has_more: true })),
    ok(['listBenchmarks', '-i'], /^HTTP\/1\.1 200 OK\n.*\n\n\{/s),
    bad(['listBenchmark'], usage, /Did you mean listBenchmarks\?/),
    asJson(['listBenchmarks', '-f', 'limit=1'], has({ items: [has({ bench_id: id('bench') })], has_more: true })),
    bad(['listBenchmarks', 'limit=many'], usage, /Nothing was sent.*limit/),
    bad(['/no/such/path'], notFound, /no\/such\/path/),
    bad(['getEvalRun', 'eval_run_id=evr_none'], notFound, /evr_none/),
    bad(['createSecret', '--body', '{'], usage, /The body is not JSON/),
    bad([''], usage, /no operation/),
  ],
  evaluate: [
    ok(['t-words', '-m', model, '--name', 'waited', '--wait'], /^evr_\w+\n$/, { notes: /completed, 28 of 28/ }),
    asJson(['t-words', '-m', model, '--name', 'followed', '--wait'], has({ status: 'completed' }), {
      notes:
        /^\{"note":"followed: completed, 28 of 28[^"]*","id":"evr_\w+","status":"completed","done":28,"total":28,"mean":/m,
    }),
    asJson(['t-words', '-c', 'trained@latest', '--name', 'another'], has({ eval_run_id: id('evr') })),
    asJson(['t-words', '-m', model, '--dry-run'], request('POST', /^\/api\/v1\/eval\//), {
      notes:
        /^\{"note":"Estimate: 1 run x 28 tasks x 1 sample = 28 rollouts(, about \d+ output tokens \(\d+ each, as in [^)]+\))?; cost unknown: set priceUnit\."\}$/,
    }),
    bad(['t-wrods', '-m', model], notFound, /There is no benchmark t-wrods/),
    bad(['t-words'], usage, /--model MODEL, --checkpoint CHECKPOINT/),
    bad(['t-words', '-m', 'no/model'], notFound, /There is no model no\/model.*benchtop list models/),
    bad(['t-words', '-m', 'benchtop/tuter-base'], notFound, /Did you mean benchtop\/tutor-base\?/),
    bad(
      ['capitals', '-m', model],
      failed,
      /The secret ATLAS_KEY is missing\. Create it: benchtop secret set ATLAS_KEY/,
    ),
    bad(['t-words', '-m', ''], usage, /--model takes a value, not an empty string/),
    bad(['t-words', '-c', 'trained@99'], notFound, /no checkpoint 99/),
    bad(['t-words', '-m', model, '--timeout', '5'], usage, /--timeout needs --wait/),
  ],
  train: [
    ok(['t-words', '-m', model, '--name', 'short', ...quick, '-w'], /^trn_\w+\n$/, { notes: /succeeded/ }),
    asJson(['t-words', '-m', model, '-n'], request('POST', /\/train/), {
      notes:
        /^\{"note":"Estimate: rollouts and cost unknown: the service chooses num_steps; a rollout in step \d+ of \w+ took \d+ output and \d+ input tokens\."\}$/,
    }),
    asJson(['t-words', '-m', model, '-n', '-o', 'num_steps=2'], request('POST', /\/train/), {
      notes: /"Estimate: 2 steps x \d+ tasks x \d+ samples = [\d,]+ rollouts.*; cost unknown: set priceUnit\."/,
    }),
    bad(['t-wrods', '-m', model], notFound, /There is no benchmark t-wrods/),
    bad(['t-words'], usage, /--model MODEL, --checkpoint CHECKPOINT/),
    bad(
      ['t-words', '-m', model, '-o', 'num_step=3'],
      usage,
      /no option num_step\. Did you mean num_steps\? Nothing was st/,
    ),
    bad(['t-words', '-m', model, '-o', 'num_steps'], usage, /--option takes NAME=VALUE/),
    bad(['t-words', '-m', model, '-o', 'num_steps=many'], usage, /num_steps/),
  ],
  deploy: [
    ok(['trained@latest', '--slug', 'second', '--wait', '--field', 'status'], /^DEPLOYED\n$/, { notes: /deployed/ }),
    asJson(['trained@latest', '-n'], request('POST', /deploy/)),
    bad(['trained@latest', '--role', 'production'], usage, /goes into production as trained\..*add --yes/),
    bad(['trained@99'], notFound, /no checkpoint 99/),
    bad(['nothing'], notFound, /There is no training run nothing/),
    bad(['trained', '--slug', 'not a slug!'], usage, /--slug takes up to 32 letters, digits, - and _/),
    bad([''], usage, /empty/),
  ],
  build: [
    ok(['t-words'], /^bench_\w+\n$/),
    asJson(['t-words'], has({ bench_id: id('bench') })),
    asJson(['t-words', '-n'], request('POST', /images/)),
    bad(['t-wrods'], notFound, /There is no benchmark t-wrods/),
  ],
  cancel: [
    asJson(['%endless%', '--yes'], has({ id: id('trn'), kind: 'training-run', done: 'cancelled' })),
    asJson(['%endless%', '--yes', '--wait'], has({ id: id('trn'), done: 'cancelled', status: 'cancelled' }), {
      notes: /^\{"note":"endless: cancelled[^"]*","id":"trn_\w+","status":"cancelled"/m,
    }),
    ok(['first', '--yes', '--wait', '--field', 'done'], /^ended\n$/, {
      notes: /^run first \(evr_\w+\) has already ended: completed\.$/,
    }),
    bad(['first'], usage, /add --yes/),
    bad(['first', '--yes'], failed, /./),
    bad(['first', '--yes', '--field', 'status'], usage, /no field status/),
    bad(['first', '--yes', '--field', 'stauts'], usage, /no field stauts/),
    bad(['nothing', '--yes'], notFound, /There is no run or training run nothing/),
    bad(['first', 'nothing', '--yes'], notFound, /nothing/),
  ],
  delete: [
    bad(['first'], usage, /Delete run first.*add --yes/),
    ok(['another', '-n'], /^DELETE \/api\/v1\/.*evr_/),
    ok(['waited', '--yes', '--field', 'done'], /^deleted\n$/),
    bad(['waited', '--yes'], notFound, /There is no run/),
    bad(['', '--yes'], usage, /empty/),
  ],
  undeploy: [
    bad(['tutor'], usage, /Undeploy deployment tutor.*add --yes/),
    ok(['tutor', '-n'], /^DELETE \/api\/v1\/deploy\/dep_/),
    asJson(['second', '--yes', '--wait'], has({ id: id('dep'), done: 'undeployed', status: 'gone' }), {
      notes:
        /^\{"note":"second, dep_\w+ \(step \d+\): gone","id":"dep_\w+","status":"gone"\}\n\{"note":"Nothing serves second now\."\}$/,
    }),
    bad(['second', '--yes'], notFound, /There is no deployment second/),
  ],
  promote: [
    ok(['tutor', '--yes'], /^dep_\w+\n$/),
    asJson(['tutor', '--yes'], has({ deployment_id: id('dep'), is_active: true })),
    bad(['tutor'], usage, /add --yes/),
    bad(['nothing', '--yes'], notFound, /There is no deployment nothing/),
  ],
  reward: [
    ok(['%trajectory%', 'helpful', '0.5', '--reward-id', 'r1'], /^r1\n$/),
    asJson(['%trajectory%', 'helpful', '-1', '--weight', '0'], has({ reward_id: expect.any(String) })),
    ok(['%trajectory%', 'helpful', '1', '--reward-id', 'r2', '--field', 'reward_id'], /^r2\n$/),
    ok(['%trajectory%', 'helpful', '1', '--reward-id', 'r3', '--jq', '.reward_id'], /^r3\n$/),
    bad(['%trajectory%', 'helpful', '1', '--field', 'nope'], usage, /no field nope/),
    bad(['%trajectory%', 'helpful', 'much'], usage, /is a number, not much/),
    bad(['%trajectory%', 'helpful', 'Infinity'], usage, /is a number, not Infinity/),
    bad(['%trajectory%', 'helpful', '1e-400'], usage, /A number in the value cannot be sent exactly/),
    bad(['%trajectory%', '', '1'], usage, /./),
    bad(['traj_none', 'helpful', '1'], notFound, /./),
    bad(['%trajectory%', 'helpful', '1', '--token-env', 'NOT_SET'], forbidden, /NOT_SET is not set/),
  ],
  'secret set': [
    asJson(['TOKEN'], has({ secret_id: expect.any(String), name: 'TOKEN', byte_length: 5 }), { input: 'value\n' }),
    bad(['EMPTY'], usage, /is empty/, { input: '\n' }),
    bad([''], usage, /name/, { input: 'value' }),
  ],
  tasks: [
    {
      args: ['first'],
      code: done,
      out: /^TASK\tN\tMEAN\tMIN\tMAX\tPASS\n(.+\n){28}$/,
      notes: /^28 tasks: 28 of 28 rollouts have a reward\.\npassed \S+ \(reward at least 1\.00\)\.$/,
    },
    asJson(
      ['second', '--base', 'first', '--pass-at', '0.5'],
      has({ pass_at: 0.5, pass: [has({ k: 1, tasks: 28 })], tasks: expect.arrayContaining([has({ difference: 0 })]) }),
    ),
    bad(['nope'], notFound, /no run, training run or dataset nope/),
  ],
  failures: [
    ok(['first'], /^CLASS\tBY\tCOUNT\tSHARE\tMEAN\tREWARDS\ncompleted\tstatus\t28\t1\t\S+\t28\n/),
    asJson(['first'], has({ rollouts: 28, classes: expect.arrayContaining([has({ class: 'completed', count: 28 })]) })),
    bad(['nope'], notFound, /no run, training run or dataset nope/),
  ],
  regrade: [
    ok(
      ['first', '--with', 'word_share'],
      /^regraded\t28 of 28 rollouts\nmean\t(\S+) before, \1 now, over 28 tasks\ndifference\t0/,
    ),
    asJson(
      ['first', '--with', 'regex .'],
      has({
        rollouts: 28,
        graded: 28,
        failed: 0,
        not_gradable: 0,
        new_mean: 1,
        pass_at: 1,
        agreement: expect.any(Number),
      }),
    ),
    asJson(
      [
        'first',
        '--command',
        `${process.execPath} -e 'process.stdin.resume();process.stdin.on("end",()=>console.log("0.5 so so"))'`,
      ],
      has({ new_mean: 0.5, trajectories: some({ new_reward: 0.5, explanation: 'so so' }) }),
    ),
    bad(['first', '--with', 'exact'], failed, /28 rollouts could not be graded: the grader needs expected[^()]*\.$/, {
      out: /not gradable\t28/,
    }),
    bad(
      ['first', '--command', `${process.execPath} -e 'setInterval(String, 1e4)'`, '--limit', '0.2'],
      failed,
      /took longer than 0\.2 s/,
      {
        out: /not gradable\t28/,
      },
    ),
    bad(['first', '--command', '/no/such/grader'], failed, /was not found/),
    bad(['first'], usage, /Name one grader/),
    bad(['first', '--with', 'nope'], usage, /There is no grader nope\. The graders are exact, /),
    bad(['first', '--with', 'regex ('], usage, /pattern is not a regular expression/),
    bad(['first', '--with', 'number x'], usage, /takes a number and a tolerance/),
    bad(['nope', '--with', 'exact'], notFound, /no run, training run or dataset nope/),
  ],
  search: [
    ok(
      ['"begin with t"', '--in', 'first'],
      /^TASK\tREWARD\tROLE\tTEXT\tLINES\tSTEPS\t.*OTHER\tWHERE\tSTATUS\t.*\tID\n(\S.*\tsystem\t.*begin with t.*\t2\t1\t.*0\t.*\tcompleted\t.*\ttraj_\w+\n)+$/,
      {
        notes:
          /^\d+ lines in (\d+) trajectories · searched \1 of \1 trajectories( · \1 from the index)?\nBy reward: .*\nBy end: completed: \1 of \1$/,
      },
    ),
    asJson(
      ['"begin with t"', '--in', 'first'],
      has({
        query: '"begin with t"',
        hits: some({ role: 'system', line: 1, lines: 2, message: 1 }),
        unread: [],
        not_searched: 0,
      }),
      { notes: /./ },
    ),
    bad(
      ['xyzzy', '--in', 't-words'],
      notFound,
      /^0 lines in 0 trajectories · searched \d+ of .*\nbenchtop: No line matches/,
    ),
    bad(['word', '--in', 'trained', '--step', '1'], done, /searched \d+ of \d+ /, { out: /^TASK\t/ }),
    bad(['word', '--in', 'first', '--step', '1'], usage, /--step is for a training run/),
    bad(['word'], usage, /Name a run, .* to search, with --in/),
    bad(['--in', 'first'], usage, /Type words/),
    bad(['/(/', '--in', 'first'], usage, /Not a regular expression/),
    bad(['word', '--in', 'nope'], notFound, /no .* nope/),
    bad(['--forget'], done, /are deleted/),
    bad(['word', '--forget'], usage, /takes no words/),
  ],
  describe: [
    ok(['trained'], /^held-out reward: \d+ values, from \S+ at step 0 to .*\n {2}newest: .*\ntrainer reward: /s),
    ok(['trained'], /\nteaching signal: (\d+) of \1 steps read\nstep 1: \d+ groups, \d+ teach.*\nstep \d+: \d+ groups/),
    asJson(
      ['trained'],
      has({
        training_run_id: id('trn'),
        words: expect.arrayContaining([expect.any(String)]),
        teaching: has({ steps: expect.arrayContaining([has({ step: 1, teaches: expect.any(Number) })]) }),
      }),
    ),
    ok(['trained', '--audit'], /\((\d+) of \1 steps read, texts of \d+ rollouts, \d+ held-out rewards\)\n$/),
    asJson(['trained', '--audit'], has({ training_run_id: id('trn'), findings: expect.any(Array) })),
    bad(['nope'], notFound, /no training run nope/),
  ],
  tree: [
    ok(['t-words'], /^LINEAGE.*\nt-words\t.*\n {2}\S.*/s),
    asJson(['trained'], has({ tree: expect.arrayContaining([has({ kind: 'benchmark', depth: 0, parent: null })]) })),
    asJson(['trained'], has({ tree: expect.arrayContaining([has({ kind: 'checkpoint', depth: 2 })]) })),
    ok([], /^LINEAGE/),
    bad(['nope'], notFound, /no benchmark, training run, run or deployment nope/),
  ],
  compare: [
    bad(
      ['trained', 'first'],
      notFound,
      /training run trained \(trn_\w+\) is not an evaluation run: .* press i in their list/,
    ),
    ok(['first', 'first'], /^base\t.*\nnew\t.*\ndifference\t.*\nverdict\tthis is the same run twice\nwins\t0\n/s),
    bad(['first', 'first', '--fail-below', '-1'], failed, /^Undecided: this is the same run twice\.$/, {
      out: /\ngate\tUndecided: this is the same run twice\.\n/,
    }),
    asJson(
      ['second', 'first', '--fail-below', '-0.2', '--equal-within', '0.2'],
      has({ difference: 0, wins: 0, losses: 0, n: 28, verdict: 'equal', passed: true, gate: 'passed' }),
    ),
    ok(['second', 'first', '--fail-below', '-0.2'], /\ngate\tPassed\. The difference is between /),
    bad(['second', 'first', '--fail-below', '0.5'], failed, /^Too low\. The difference is between/, {
      out: /^base.*\ngate\tToo low\. The difference is between/s,
    }),
    bad(['second', 'first', '--fail-below', '0'], failed, /^Undecided whether the difference is at least 0: it is/, {
      out: /^base/,
    }),
    {
      args: ['second', 'first', '--fail-below', '0', '--undecided', 'pass', '--missing', 'ignore', '--field', 'gate'],
      code: done,
      out: /^undecided\n$/,
      notes: /^Undecided whether the difference is at least 0: it is/,
    },
    ok(
      ['second', 'first', '--markdown'],
      /^\| comparison \| result \|\n\|.*\n\| base \| .*\| verdict \| undecided: needs about /s,
    ),
    ok(
      ['second', 'first', '--markdown', '--fail-below', '-0.2'],
      /\n\| verdict \| .*\n\| answers \| .*\n\| gate \| Passed\. The difference is between .* Required: at least -0\.200\. \|\n/,
    ),
    bad(['first', 'first', '--markdown', '--json'], usage, /./),
    ok(['second', 'first', '--reward-range', '-1..2', '--field', 'reward_range.low'], /^-1\n$/),
    bad(['first', 'first', '--reward-range', '1..0'], usage, /takes two numbers, the lower one first/),
    bad(['first', 'first', '--equal-within', '-1'], usage, /--equal-within takes a number from 0/),
    bad(['first', 'frist'], notFound, /no .*run frist/),
    bad(['first', 'first', '--confidence', '2'], usage, /between 0 and 1/),
  ],
  export: [
    {
      args: ['run', 'first', '--json'],
      code: done,
      lines: some({ trajectory_id: id('traj') }),
      notes: /28 trajectories/,
    },
    bad(['run', 'first', '--jq', '.id'], usage, /This command has no --jq: pipe its JSON into jq/),
    bad(['run', 'frist'], notFound, /no .*run frist/),
    bad(['models', model], usage, /models have no trajectories/),
    {
      args: ['%trajectory%', '%trajectory%', 'first', '--json'],
      code: done,
      lines: some({ trajectory_id: id('traj') }),
      notes: /29 trajectories/,
    },
    bad([], usage, /Name what to export, or give --flagged/),
    bad(['--flag', 'nobody'], notFound, /No trajectory has the flag nobody/),
    bad(['first', '--flagged'], usage, /take no names/),
    bad(['first', '--output', '%trajectories%'], usage, /already exists\. Nothing was written/),
    bad(
      ['first', '--output', '/no/such/folder/x'],
      usage,
      /cannot be written: the folder does not exist\. Nothing was written/,
    ),
    bad([''], usage, /empty/),
  ],
  report: [
    ok(
      ['first'],
      /^<!doctype html>\n.*default-src 'none'.*<h2>Rewards<\/h2>.*<svg .*<h2>Worst: 3 traj.*<h2>Best: 3 traj.*<\/html>\n$/s,
    ),
    ok(
      ['trained', '--format', 'markdown', '--worst', '0'],
      /^# trained\n.*\n## Curves\n.*\n## Best: 3 traj.*Written by benchtop/s,
    ),
    ok(
      ['first', 'second', '--format', 'markdown'],
      /^# second compared with first\n.*## Tasks, flips first.*Written by benchtop/s,
    ),
    ok(['first', '--format', 'md'], /^# first\n/),
    bad(['first', 'first'], usage, /A run is named twice/),
    bad(['first', 'trained'], notFound, /training run trained .* is not an evaluation run/),
    bad([], usage, /Name a run, a training run or a dataset, or give --flagged/),
    bad(['first', '--flagged'], usage, /or give --flagged/),
    bad(['nope'], notFound, /no run, training run or dataset nope/),
    bad(['first', '--output', '%trajectories%'], usage, /already exists\. Nothing was written/),
  ],
  'notes set': [
    bad(['%trajectory%', '--flag', 'gamed', '--note', 'it prints the answer'], done, /^1 note by \S+$/),
    bad(['first', '--flag', 'good', '--json'], done, /"note":"1 note by/),
    bad(['nope', '--flag', 'good'], notFound, /no run or trajectory nope/),
    bad(['bench_1', '--flag', 'good'], usage, /is a benchmark: notes are only for trajectories and evaluation runs/),
    bad(['%trajectory%'], usage, /Give a flag or a note/),
  ],
  'notes list': [
    ok(
      ['--flag', 'gamed'],
      /^OF\tFLAG\tMESSAGE\tNOTE\tAUTHOR\tAT\tID\n.*\tgamed\t\tit prints the answer\t.*\ttraj_\w+\n$/,
    ),
    asJson([], { notes: some({ flag: 'gamed', kind: 'trajectory', message: 0 }) }),
    bad(['--field', 'nope'], usage, /no field nope/),
  ],
  'notes export': [
    {
      args: ['--json'],
      code: done,
      lines: some({ flag: 'gamed', text: 'it prints the answer', at: expect.stringMatching(/Z$/) }),
      notes: /2 notes/,
    },
    bad(['--output', '/no/such/folder/x'], usage, /cannot be written: the folder does not exist\. Nothing was written/),
  ],
  choices: [
    ok([], /^MODEL\tOTHER\tBETTER\tOTHER BETTER\tEQUAL\tBOTH BAD\tP\n$/),
    asJson([], { pairs: [], choices: [] }),
    bad(['--field', 'nope'], usage, /no field nope/),
  ],
  'notes import': [
    bad(['%notes%'], done, /^1 new, 0 newer, 0 unchanged$/),
    bad(['%notes%', '--json'], done, /0 new, 0 newer, 1 unchanged/),
    bad(['%trajectories%'], usage, /rollouts\.jsonl, line 1: this is not a note\. Nothing was merged/),
    bad(['%undated%'], usage, /line 1: the time of this note is not a date\. Nothing was merged/),
    bad(['%future%'], usage, /line 1: the time of this note is more than a day ahead of the clock here\. Nothing/),
    bad(['/no/such/file'], usage, /could not be read: .*Nothing was merged/),
  ],
  read: [
    ok(['%trajectories%'], /hello/),
    asJson(['%verifiers%'], has({ task_id: 'maths/1', reward: 1 }), {
      notes: /^\{"note":"Read 1 trajectory from a verifiers or prime-rl rollout\."\}$/,
    }),
    ok(['-'], /hello there/, {
      input: '{"messages":[{"role":"user","content":"hello there"}]}',
      notes: /OpenAI conversation/,
    }),
    bad(['/no/such/file'], usage, /cannot be read \(ENOENT\)/),
    bad(['-'], usage, /holds no trajectories/, { input: '\n' }),
    bad(['-'], failed, /line 1: It is not JSON/, { input: 'x' }),
  ],
  open: [
    bad(['first'], usage, /needs a terminal/),
    bad(['frist'], notFound, /frist/),
    bad(['rnu', 'first'], usage, /There is no resource rnu/),
  ],
  'profile add': [
    bad(['lab'], usage, /--base-url URL/),
    bad(['lab', '--base-url', 'no address'], usage, /--base-url cannot be used: it is not a URL/),
    bad(['', '--base-url', 'https://lab.example', '--unchecked'], usage, /name/),
    bad(
      ['lab', '--base-url', 'http://127.0.0.1:9', '--api-key-env', 'LAB_KEY'],
      unreachable,
      /127\.0\.0\.1:9 refuses connections/,
      {
        environment: { LAB_KEY: 'key-0123456789' },
      },
    ),
    bad(
      ['lab', '--base-url', 'https://lab.example', '--api-key-command', 'pass "show', '--unchecked'],
      usage,
      /quotes/,
    ),
    bad(['lab', '--base-url', 'https://lab.example', '--api-key-env', 'LAB_KEY', '--unchecked'], done, /lab is in /),
    bad(['lab', '--base-url', 'https://lab.example', '--unchecked'], usage, /There is already a profile lab/),
    bad(['filed', '--base-url', 'https://filed.example', '--api-key-file', 'kf', '--unchecked'], done, /filed is in /),
  ],
  'profile list': [
    ok([], /^PROFILE\tADDRESS\tKEY\tDEFAULT\n/),
    asJson([], some({ name: 'local', default: true })),
    ok(['--field', 'name'], /^local\n/m),
    ok(['--jq', '.[] | select(.default) | .name'], /^local\n$/),
    bad(['--field', 'nope'], usage, /no field nope/),
  ],
  'profile use': [
    bad(['lob'], notFound, /Did you mean lab\?/),
    bad(['lab'], done, /lab is the default profile now/),
    asJson(['lab'], { name: 'lab', default: true }),
    bad(['local'], done, /local is the default profile now/),
    bad([''], notFound, /There is no profile/),
  ],
  'profile remove': [
    bad(['lab'], usage, /add --yes/),
    bad(['lob', '--yes'], notFound, /Did you mean lab\?/),
    bad(['lab', '--yes'], done, /^Removed lab from \/.*config\.json\.$/),
    bad(['other', '--yes'], notFound, /no profile other/),
    bad(['local', '--yes'], usage, /cannot be removed/),
  ],
  'config path': [ok([], /^\/.*config\.json\n$/), asJson([], { path: expect.stringMatching(/config\.json$/) })],
  'config set': [
    { args: ['theme', 'dark'], code: done },
    asJson(['theme', 'dark'], { key: 'theme', value: 'dark' }),
    bad(['profiles.keyed.apiKey', 'hidden-0123456789'], usage, /^benchtop: A secret does not belong in the arguments/),
    asJson(['profiles.keyed.assumptions', '{}'], { key: 'profiles.keyed.assumptions', value: {} }),
    bad(['keys.list.down', '["jj"]'], usage, /^benchtop: The keys in the new settings cannot be used:/),
    bad(
      ['home', 'nonsense'],
      usage,
      /^benchtop: home in the new settings names no section: nonsense\. The sections are: watch, /,
    ),
    bad(['theme', 'mauve'], usage, /^benchtop: theme takes one of terminal, dark, light, high-contrast, plain\.$/),
    bad(['poll.focusedSeconds', '0'], usage, /^benchtop: poll\.focusedSeconds must be at least 1\.$/),
    bad(['profiles.x.apiKeyCommand', 'pass'], usage, /apiKeyCommand takes a list of a program and its arguments/),
    bad(['keys', '{"nope":["j"]}'], usage, /keys\.nope: there is no such command/),
    { args: ['keys.list.up', '["up"]'], code: done },
    bad(['keys.list.nope', '["k"]'], usage, /keys\.list\.nope: there is no such command/),
    bad(['profiles.x.baseUrl', 'http://x.example'], usage, /would send the key to x\.example in the clear/),
    {
      args: ['profiles.plain.baseUrl', 'http://x.example'],
      code: done,
      environment: { BENCHTOP_ALLOW_INSECURE_HTTP: '1' },
    },
    bad(['profiles.x.baseUrl', 'nope'], usage, /The address in profiles\.x\.baseUrl cannot be used: it is not a URL/),
    bad(['them', 'dark'], usage, /There is no setting them/),
    bad(['', 'dark'], usage, /There is no setting/),
  ],
  'config get': [
    ok(['theme'], /^dark\n$/),
    ok(['keys.list.up'], /^\[\s*"up"\s*\]\n$/),
    ok(['profiles.filed.apiKeyFile'], /^\/.*\/kf\n$/),
    { args: [], code: done, json: has({ theme: 'dark' }) },
    asJson([], has({ theme: 'dark' })),
    asJson(['theme'], 'dark'),
    ok(['mouse'], /^false\n$/, { notes: /mouse is not set: this is the default/ }),
    ok(['poll.focusedSeconds'], /^2\n$/, { notes: /this is the default/ }),
    ok(['keys.list.down'], /"j"/, { notes: /this is the default/ }),
    ok(['triage.author'], /^\S+@\S+\n$/, { notes: /this is the default/ }),
    bad(['home'], failed, /home is not set\. .*By default, Watch if something is running/),
    bad(['priceUnit'], failed, /priceUnit is not set\. .*no service states it/),
    bad(['them'], usage, /There is no setting them/),
    bad([''], usage, /There is no setting/),
  ],
  'config unset': [
    { args: ['keys.list.up'], code: done },
    bad(['keys.list.up'], failed, /keys\.list\.up is not set/),
    bad(['keys'], failed, /keys is not set/),
    asJson(['theme'], { key: 'theme', value: null }),
    bad(['profiles.keyed'], usage, /benchtop profile remove keyed/),
    bad(['them'], usage, /There is no setting them/),
  ],
  completion: [
    ok(['bash'], /complete -F _benchtop benchtop/),
    ok(['zsh'], /^#compdef benchtop/),
    ok(['fish'], /complete -c benchtop/),
    bad(['tcsh'], usage, /bash, zsh, fish/),
  ],
  version: [
    ok([], /^benchtop \d+\.\d+\.\d+\n$/),
    asJson([], { version: expect.any(String), node: process.versions.node }),
  ],
  doctor: [
    ok([], /^ok +service/m),
    asJson([], expect.objectContaining({ ok: true, findings: some({ about: 'service', state: 'ok' }) })),
    { args: ['--model', 'no/model'], code: failed, out: /^fail +inference/m },
    bad(['--alarms', 'nope'], notFound, /nope/),
  ],
  serve: [
    { args: ['--status', '--data', '%empty%'], code: failed, out: /^not running on \// },
    {
      args: ['--status', '--data', '%empty%', '--json'],
      code: failed,
      json: () => ({ running: false, data: world.get('empty'), others: [] }),
    },
    ok(['--stop', '--data', '%empty%'], /^not running on \//),
    asJson(['--stop', '--data', '%empty%'], () => ({ stopped: false, data: world.get('empty') })),
    bad(['--port', '70000'], usage, /0 to 65535/),
    bad(['--data', ''], usage, /--data takes a value/),
    bad(['--data', '%trajectories%'], failed, /cannot be used/),
    bad(['--api-key-env', 'NOPE', '--data', '%empty%'], forbidden, /NOPE, which is not set/),
    bad(['--api-key-file', '/nope', '--data', '%empty%'], forbidden, /\/nope does not exist; --api-key-file/),
    bad(['--api-key-file', '%trajectories%', '--data', '%empty%'], forbidden, /by other users.* chmod 600/),
  ],
};

let service: TestService;
let cli: ReturnType<typeof cliOn>;
const world = new Map<string, string>();

beforeAll(async () => {
  service = await startService();
  cli = cliOn({ ...service, home: service.folder });
  await service.readyBenchmark('t-words');
  const steps = ['-o', 'num_steps=2', '-o', 'train_batch_size=2', '-o', 'samples_per_instance=2'];
  const words = ['t-words', '-m', model, '--wait', '--name'];
  await cli('train', [...words, 'trained', ...steps]);
  for (const name of ['second', 'first']) await cli('evaluate', [...words, name]);
  await cli('deploy', ['trained', '--slug', 'tutor', '--role', 'production', '--yes', '--wait']);
  const folder = join(service.folder, 'of the user');
  const [benchmark, empty, trajectories] = ['benchmark', 'empty', 'rollouts.jsonl'].map(name => join(folder, name));
  mkdirSync(String(benchmark), { recursive: true });
  mkdirSync(String(empty));
  const task = { name: 'one', split: 'test', input_messages: [{ role: 'user', content: 'say yes' }], run_command: 'x' };
  const manifest = { name: 'sent', tasks: [{ ...task, grader: { kind: 'exact', expected: 'yes' } }] };
  writeFileSync(join(String(benchmark), 'manifest.json'), JSON.stringify(manifest));
  writeFileSync(join(String(benchmark), 'README.md'), 'hello');
  const alone = (name: string, more: object): string => {
    const folder = mkdtempSync(join(String(empty), '..', name));
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...manifest, ...more }));
    return folder;
  };
  const environment = { ATLAS_KEY: { secret_ref: 'ATLAS_KEY' } };
  const capitals = alone('capitals', { name: 'capitals', label: 'Capitals', tasks: [{ ...task, environment }] });
  const needing = alone('needing', { tasks: [{ ...task, files: ['data/a.txt'] }] });
  const verifiers = join(folder, 'verifiers.jsonl');
  const rollout = { prompt: 'hi', completion: 'ho', reward: 1, task: 'maths', example_id: 1 };
  writeFileSync(verifiers, JSON.stringify(rollout));
  world.set('verifiers', verifiers);
  writeFileSync(String(trajectories), '{"trace_id": "t1", "messages": [{"role": "user", "content": "hello"}]}\n');
  const trajectory = (await service.call('POST', '/api/v1/trajectories', { task_id: 'one' })).body.trajectory_id;
  const noteAt = (name: string, at: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, `${JSON.stringify({ kind: 'run', id: 'evr_9', author: 'ann', flag: 'bad', at })}\n`);
    return path;
  };
  const notes = noteAt('notes.jsonl', '2026-01-01T00:00:00Z');
  const undated = noteAt('undated.jsonl', 'tomorrow');
  const future = noteAt('future.jsonl', Number.MAX_SAFE_INTEGER);
  const values = { benchmark, capitals, needing, empty, trajectories, trajectory, notes, undated, future };
  for (const [name, value] of Object.entries(values)) {
    world.set(name, String(value));
  }
}, 60_000);
afterAll(() => service.end());

/** A training run that does not end by itself: only the command that cancels it starts one. */
const endless = ['t-words', '-m', model, '--name', 'endless', '-o', 'num_steps=2000'];

const placed = (text: string): string => text.replace(/^%(\w+)%$/, (_, name: string) => world.get(name) ?? '');
const parsed = (text: string): unknown => JSON.parse(text);

/** Errors and notes are JSON if the result is. */
function expectJsonNotes({ notes }: Outcome): void {
  for (const line of notes.split('\n').filter(Boolean)) {
    expect(parsed(line)).toEqual(
      expect.toSatisfy((each: object) => Object.hasOwn(each, 'note') || Object.hasOwn(each, 'error')),
    );
  }
}

describe.each(Object.entries(rows))('%s', (name, tried) => {
  it.each(tried.map(row => [row.args.join(' '), row] as const))('%s', async (_, row) => {
    const { input, environment = {} } = row;
    if (row.args.includes('%endless%')) world.set('endless', (await cli('train', endless)).out.trim());
    const outcome = await cli(name, row.args.map(placed), { ...(input !== undefined && { input }), environment });
    const { code, out, notes } = outcome;
    expect({ code, notes }).toEqual({ code: row.code, notes: row.notes ? expect.stringMatching(row.notes) : '' });
    if (row.json !== undefined) {
      expect(parsed(out)).toEqual(typeof row.json === 'function' ? row.json() : row.json);
    } else if (row.lines !== undefined) expect(out.trim().split('\n').map(parsed)).toEqual(row.lines);
    else expect(out).toEqual(row.out ? expect.stringMatching(row.out) : '');
    if (row.args.includes('--json')) expectJsonNotes(outcome);
    else if (row.code !== done && row.code !== failed) expect(notes).toMatch(/^benchtop: ./m);
  });
});

const all: readonly (readonly [CommandName, CommandSpec])[] = Object.entries(commands) as [CommandName, CommandSpec][];

/** Errors found by the table alone: the words after the command, and the message. */
function* wrongLines({ args = [], flags, exclusive = [] }: CommandSpec): Generator<[string[], RegExp]> {
  const words = args.filter(({ optional }) => !optional).map(({ choices }) => choices?.[0] ?? 'x');
  const describeFlag = (key: string): string[] => {
    const flag = flags[key];
    if (flag?.value === undefined) return [longFlag(key)];
    return [longFlag(key), flag.choices?.[0] ?? (flag.number ? '1' : 'x')];
  };
  yield [[...words, '--no-such-flag'], /Unknown option '--no-such-flag'/];
  if (words.length > 0) yield [words.slice(1), /An argument is missing\. Usage: benchtop /];
  if (!args.some(({ many }) => many)) yield [[...args.map(() => 'x'), 'y'], /One argument too many: y/];
  for (const [key, { value, number, choices, empty, needs }] of Object.entries(flags)) {
    const flag = longFlag(key);
    if (value === undefined) yield [[...words, `${flag}=x`], /./];
    else yield [[...words, flag], new RegExp(`${flag} needs a value`)];
    if (number) yield [[...words, flag, 'abc'], new RegExp(`${flag} takes a .*number.*, not abc`)];
    if (number) yield [[...words, flag, ''], new RegExp(`${flag} takes a .*number.*, not an empty string`)];
    if (value !== undefined && !number && !choices && !empty)
      yield [[...words, flag, ''], new RegExp(`${flag} takes a value, not an empty string`)];
    if (needs) yield [[...words, ...describeFlag(key)], new RegExp(`${flag} needs ${longFlag(needs)}`)];
    if (choices) yield [[...words, flag, 'no such'], new RegExp(`${flag} takes one of ${choices[0]}, .*not no such`)];
  }
  for (const group of exclusive) {
    for (const [one = '', other = ''] of group.flatMap((key, at) => group.slice(at + 1).map(later => [key, later]))) {
      if (one === 'json' && (other === 'jq' || other === 'field')) continue;
      yield [[...words, ...describeFlag(one), ...describeFlag(other)], /cannot be used with/];
    }
  }
}

describe('the table of commands', () => {
  it.each(all)('%s: refuses invalid arguments before any request, in words and as JSON', async (name, spec) => {
    // Nothing listens there: a request ends with 3.
    const nowhere = cliOn({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key-0123456789' });
    for (const [words, reason] of wrongLines(spec)) {
      const line = `${name} ${words.join(' ')}`;
      const { code, out, notes } = await nowhere(name, words);
      expect({ line, code, out, notes }).toEqual({ line, code: usage, out: '', notes: expect.stringMatching(reason) });
      expect(notes).toMatch(words.includes('--json') ? /^\{"error":/ : /^benchtop: /);
      const inJson = await nowhere(`--json ${name}`, words);
      expect([inJson.code, inJson.out]).toEqual([usage, '']);
      expect(parsed(inJson.notes)).toEqual({ error: has({ name: 'CommandError', message: expect.any(String) }) });
    }
  });

  it.each(all)('%s: has help for itself and its flags', async (name, { flags }) => {
    const { code, out, notes } = await cliOn({ baseUrl: '', apiKey: '' })(name, ['--help']);
    expect([code, notes]).toEqual([done, '']);
    for (const [key, flag] of Object.entries(flags)) {
      if (!flag.hidden && flag.group !== 'service') expect(out).toContain(flagTerm(key, flag));
    }
  });

  it.each(all.filter(([, { flags }]) => Object.hasOwn(flags, 'readOnly')))(
    '%s: has an exit code for a service that does not answer, and for a refused key',
    async (name, { args = [], flags }) => {
      const words = args.filter(({ optional }) => !optional).map(({ of }) => (of === 'resource' ? 'models' : 'x'));
      const needed = Object.hasOwn(flags, 'model') ? ['--model', 'm'] : name === 'api' ? ['listBenchmarks'] : [];
      const lines: Partial<Record<CommandName, string[]>> = {
        upload: [String(world.get('trajectories')), '--dataset', 'x'],
        reward: ['traj_1', 'good', '1'],
        get: ['run', 'x'],
        search: ['word', '--in', 'x'],
        regrade: ['x', '--with', 'exact'],
        export: ['x'],
        report: ['x'],
      };
      const line = lines[name] ?? [...words, ...needed, ...(Object.hasOwn(flags, 'yes') ? ['--yes'] : [])];
      const codes = [];
      for (const [baseUrl, apiKey] of [
        ['http://127.0.0.1:9', 'key-0123456789'],
        [service.baseUrl, 'wrong-key-0123456789'],
      ] as const) {
        const { code, notes } = await cliOn({ baseUrl, apiKey })(name, line, { input: 'value' });
        expect(notes).not.toContain(apiKey);
        codes.push(code);
      }
      // doctor reports what is wrong, and watch without an id sends nothing if nothing is known to run.
      if (name === 'doctor') expect(codes).toEqual([unreachable, failed]);
      else expect(codes).toEqual([unreachable, forbidden]);
    },
  );
});
