/** The command line of the built program, in a shell and a terminal. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prebuiltTexts } from '../../src/commands/help.ts';
import { prebuiltFile, prebuiltName } from '../../src/commands/prebuilt.ts';
import { selfSigned } from '../service/certificate.ts';
import { type PopulatedHome, populatedHome } from './populated.ts';
import { openSession, program, programLine, run } from './session.ts';

let home: PopulatedHome;
beforeAll(async () => {
  home = await populatedHome();
});
afterAll(() => home.remove());

const shell = (line: string): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)('bash', ['-o', 'pipefail', '-c', line], { env: home.env });

describe('the command line', () => {
  it('pipes: only results on standard output, and a reader that closes early is not a failure', async () => {
    const { stdout } = await shell(`${programLine} list benchmarks --format csv --columns label | sort | head -2`);
    expect(stdout.split(/\r?\n/).slice(0, 2)).toEqual(['benchmark', 'letter-words']);
    const early = await shell(`${programLine} list images --benchmark t-words --json --all | head -1`);
    expect(early).toEqual({ stdout: '[\n', stderr: '' });
  });

  it('composes: ids that one command prints are arguments of the next', async () => {
    const ids = `$(${programLine} list trajectories --run baseline --sort reward --ids --limit 2)`;
    const { stdout } = await shell(`for id in ${ids}; do ${programLine} get $id --json; done`);
    expect(stdout.match(/"trajectory_id": "traj_/g)).toHaveLength(2);
  });

  it('prints help as the build has formatted it, and in shorter lines in a narrow terminal', async () => {
    const written = JSON.parse(readFileSync(join(dirname(program), prebuiltFile), 'utf8'));
    expect(written).toEqual(await prebuiltTexts());
    for (const words of [['--help'], ['help', 'list'], ['secret', '-h'], ['--version']]) {
      expect(await run(words, home.env)).toEqual({ code: 0, output: written[prebuiltName(words)] });
    }
    const wide = openSession(home.env, { columns: 120, rows: 130, args: ['--help'] });
    await wide.ended;
    await wide.waitFor('benchtop COMMAND --help explains a command.');
    expect(wide.text().trimEnd()).toBe(written['--help'].trimEnd());
    const narrow = openSession(home.env, { columns: 60, rows: 120, args: ['list', '--help'] });
    await narrow.ended;
    await narrow.waitFor('trajectory');
    expect(narrow.text()).toMatch(/^Usage: benchtop list WHAT/);
    expect(narrow.text()).toContain('WHAT is one of:');
  });

  it('sends a question as given, even with a flag in it', async () => {
    // At another temperature it may answer with nothing, which is an error.
    const args = ['chat', 'benchtop/tutor-base', '--temperature', '0', 'what', 'does', '-h', 'do'];
    const { code, output } = await run(args, home.env);
    expect(code).toBe(0);
    expect(output).not.toContain('Usage: benchtop chat');
  });

  it('lists what exists if a word is unknown', async () => {
    expect(await run(['lsit'], home.env)).toEqual({
      code: 2,
      output: "benchtop: Unknown command 'lsit'. Did you mean list?\n",
    });
    expect((await run(['get', 'evr_nothing'], home.env)).code).toBe(5);
    const noService = { ...home.env, BENCHTOP_BASE_URL: 'http://127.0.0.1:9' };
    expect((await run(['list', 'runs'], noService)).code).toBe(3);
  });

  it('opens the workbench on one resource', async () => {
    const session = openSession(home.env, { args: ['open', 'run', 'baseline'] });
    await session.waitFor('28 of 28 rollouts');
    session.press('q');
    expect((await session.ended).exitCode).toBe(0);
  });

  it('ends with one line if the disk is full, and silently if the reader closes', async () => {
    const full = await shell(`${programLine} --help > /dev/full`).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(full).toMatchObject({ code: 1, stderr: 'benchtop: The output is incomplete: the disk is full (ENOSPC).\n' });
    const asJson = await shell(`${programLine} version --json > /dev/full`).catch(
      (error: { code: number; stderr: string }) => error,
    );
    expect(asJson).toMatchObject({ code: 1 });
    expect(JSON.parse(asJson.stderr).error).toMatchObject({
      code: 'ENOSPC',
      message: expect.stringContaining('the disk is full'),
    });
    // The same without a readable error.
    await expect(shell(`${programLine} list nope 2> /dev/full`)).rejects.toMatchObject({ code: 2 });
    for (const words of ['--help', 'serve --status', 'serve --help', 'list runs']) {
      const { stderr } = await shell(`set +o pipefail; ${programLine} ${words} | true`);
      expect(stderr).toBe('');
    }
  });

  it('finds nothing wrong on a fresh machine', async () => {
    const { code, output } = await run(['doctor'], home.env);
    expect(output).not.toMatch(/^(fail|warn)/m);
    expect(code).toBe(0);
  });

  // The build changes how the client's libraries load TLS and decompression.
  it('speaks TLS with a service whose certificate is configured, and no other; unpacks compressed answers', async () => {
    const pair = selfSigned('service.example');
    const server = createServer({ cert: pair.certificate, key: pair.key }, (_request, response) => {
      const body = { items: [{ bench_id: 'bench_1', label: 'far away' }], has_more: false, next_cursor: null };
      response.setHeader('content-type', 'application/json');
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(JSON.stringify(body)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const caFile = join(home.home, 'ca.pem');
    writeFileSync(caFile, pair.certificate);
    const { port } = server.address() as AddressInfo;
    const variables: Record<string, string> = {};
    const listAt = (host: string, ...flags: string[]) => {
      const env = {
        ...home.env,
        ...variables,
        BENCHTOP_BASE_URL: `https://${host}:${port}`,
        BENCHTOP_API_KEY: 'key-key-key-key',
      };
      return run(['list', 'benchmarks', '--columns', 'label', ...flags], env);
    };
    expect(await listAt('127.0.0.1', '--ca-file', caFile)).toEqual({ code: 0, output: 'BENCHMARK\nfar away\n' });
    const unknown = { code: 1, output: expect.stringMatching(/certificate/i) };
    expect(await listAt('127.0.0.1')).toEqual(unknown);
    // Trusted, but for another name.
    expect(await listAt('localhost', '--ca-file', caFile)).toEqual(unknown);
    // The system's certificates count too.
    variables['SSL_CERT_FILE'] = caFile;
    expect(await listAt('127.0.0.1')).toEqual({ code: 0, output: 'BENCHMARK\nfar away\n' });
    await new Promise(resolve => server.close(resolve));
  });

  it('prints warnings of Node, except the two it expects (V18)', async () => {
    const expected = `process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning');`;
    const warns = `process.once('beforeExit', () => { ${expected} process.emitWarning('another one'); })`;
    const env = {
      ...home.env,
      ...{
        NO_COLOR: '1',
        FORCE_COLOR: '1',
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(warns)}`,
      },
    };
    const { stderr } = await promisify(execFile)('bash', ['-c', `${programLine} list benchmarks`], { env });
    expect(stderr.match(/Warning: .*/g)).toEqual(['Warning: another one']);
  });

  it('fits its tables to the terminal', async () => {
    const session = openSession(home.env, { columns: 60, rows: 15, args: ['list', 'runs', '--wide'] });
    await session.ended;
    await session.waitFor('baseline');
    const [header = '', row = ''] = session.text().split('\n');
    expect(header).toMatch(/^RUN +STATUS/);
    expect(row).toMatch(/^baseline +completed/);
  });

  it('chats in a terminal, until ctrl-c', async () => {
    const args = ['chat', 'benchtop/tutor-base', '--max-tokens', '6', '--temperature', '0'];
    const session = openSession(home.env, { columns: 80, rows: 15, args });
    await session.waitFor('you: ');
    session.type('opposite: hot?\r');
    await session.waitFor(/you: opposite: hot\?\n.+\n(?:.+\n)?you: $/m);
    session.press('ctrl-c');
    expect((await session.ended).exitCode).toBe(0);
    // The shell's prompt begins a line of its own.
    expect(session.sent()).toMatch(/\n$/);
  });

  it('asks for a secret without showing it; ctrl-c sends nothing', async () => {
    const set = (name: string) => openSession(home.env, { args: ['secret', 'set', name] });
    const session = set('TYPED');
    await session.waitFor('Value of TYPED (not shown):');
    session.type('s3cretvalue\r');
    expect((await session.ended).exitCode).toBe(0);
    expect(session.sent()).not.toContain('s3c');
    expect((await run(['get', 'secret', 'TYPED', '--field', 'byte_length'], home.env)).output).toBe('11\n');
    const left = set('LEFT');
    await left.waitFor('Value of LEFT (not shown):');
    left.press('ctrl-c');
    expect((await left.ended).exitCode).toBe(130);
    expect((await run(['get', 'secret', 'LEFT'], home.env)).code).toBe(5);
  });

  it('changes nothing if its question is answered with ctrl-c, and says so', async () => {
    // On one line: at 120 columns, the terminal breaks it inside the brackets.
    const session = openSession(home.env, { columns: 200, args: ['delete', 'baseline'] });
    await session.waitFor('[y/N]');
    session.press('ctrl-c');
    expect((await session.ended).exitCode).toBe(130);
    await session.waitFor('Nothing was changed.');
  });

  it('stops watching on ctrl-c, with an exit code that says so', async () => {
    const { training_run_id: id } = await home.call('POST', 'train', {
      bench_id: home.benchId,
      base_model_slug: 'benchtop/tutor-base',
      display_name: 'endless',
      options: { num_steps: 2_000, train_batch_size: 2, samples_per_instance: 2 },
    });
    const session = openSession(home.env, { columns: 80, rows: 15, args: ['watch', String(id)] });
    await session.waitFor('running');
    session.press('ctrl-c');
    expect((await session.ended).exitCode).toBe(130);
    await home.call('POST', `train/${id}/cancel`);
  });
});
