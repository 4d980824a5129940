/**
 * The package as users install it: its content, and that it works in an empty environment, on the oldest and the newest
 * Node.
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { examples } from '../readme.ts';
import { selfSigned } from '../service/certificate.ts';
import { nodeRelease, nodeReleases, type Packed, pack, pathWith } from './packed.ts';
import { freshHome, openSession, program } from './session.ts';
import { goWay } from './views.ts';

const execute = promisify(execFile);

let packed: Packed;
beforeAll(async () => {
  packed = await pack();
});
afterAll(() => packed.remove());

describe('the package', () => {
  it('contains the program and nothing else', () => {
    const folders = new Set(packed.files.map(path => path.split('/')[0]));
    expect([...folders].sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
    expect(packed.files).toEqual(
      expect.arrayContaining([
        'dist/main.js',
        'dist/worker.js',
        'dist/THIRD_PARTY_LICENSES',
        'dist/benchtop.1',
        'dist/config.schema.json',
        'dist/help.json',
      ]),
    );
    expect(packed.files.filter(path => /\.(map|ts|tsx)$/.test(path))).toEqual([]);
    expect(packed.size).toBeLessThan(2_750_000);
  });

  it('needs no other package, and runs no install scripts', () => {
    const { dependencies, optionalDependencies, scripts } = packed.manifest;
    expect([dependencies, optionalDependencies]).toEqual([undefined, undefined]);
    expect(Object.keys(scripts).filter(name => /install$/.test(name))).toEqual([]);
  });
});

describe('an old Node, or a clone without its packages', () => {
  const [oldest] = nodeReleases;
  const asIfOld = ['--import', `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.5.0"})`];
  const said = (words: string) => ({ code: 2, stdout: '', stderr: `${words}\n` });

  it('gets one line of advice from the program', async () => {
    await expect(execute(process.execPath, [...asIfOld, program, 'list', 'runs'])).rejects.toMatchObject(
      said(`benchtop needs Node ${oldest.replace(/\.0$/, '')} or newer; this is 22.5.0.`),
    );
  });

  it('gets one line of advice from `npm start`', async () => {
    const start = join('tools', 'start.mjs');
    await expect(execute(process.execPath, [...asIfOld, start])).rejects.toMatchObject(
      said(
        `benchtop needs Node ${oldest.replace(/\.0$/, '')} or newer; this is 22.5.0. \`npm ci\` installs one, unless scripts are switched off.`,
      ),
    );
    const clone = mkdtempSync(join(tmpdir(), 'benchtop-clone-'));
    onTestFinished(() => rmSync(clone, { recursive: true }));
    for (const name of ['start', 'unready']) {
      cpSync(join('tools', `${name}.mjs`), join(clone, 'tools', `${name}.mjs`));
    }
    await expect(execute(process.execPath, [start], { cwd: clone })).rejects.toMatchObject(
      said('benchtop is not installed yet: run `npm ci` in this folder first.'),
    );
  });
});

describe.each(nodeReleases)('installed for Node %s', version => {
  let home: ReturnType<typeof freshHome>;
  let folder: string;
  let node: string;
  beforeAll(async () => {
    node = await nodeRelease(version);
    home = freshHome();
    home.env['PATH'] = pathWith(node);
    folder = await packed.install(home.env);
  });
  afterAll(() => home.remove());

  /** Runs the command that the package puts on the path. */
  const benchtop = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    execute(join(folder, 'node_modules/.bin/benchtop'), [...args], {
      cwd: folder,
      env: { ...home.env, ...environment },
    });

  it('is one package, and runs on the Node it was installed for', async () => {
    expect(readdirSync(join(folder, 'node_modules')).filter(name => !name.startsWith('.'))).toEqual(['benchtop']);
    const { stdout, stderr } = await benchtop(['doctor']);
    expect(stdout).toContain(`benchtop ${packed.manifest.version} on Node ${version}`);
    expect(stdout).not.toMatch(/^(fail|warn)/m);
    const [, schema = ''] = /"\$schema" for editors: (\S+)/.exec(stdout.replaceAll(/\n {24}/g, '')) ?? [];
    expect(JSON.parse(readFileSync(schema, 'utf8'))).toHaveProperty('properties.profiles');
    expect(stderr).toBe('');
  });

  it('goes from a benchmark to your own model, as in README', async () => {
    const installed = join(folder, 'node_modules/benchtop/dist/main.js');
    const session = openSession(home.env, { columns: 120, rows: 40, cwd: folder, program: installed, node });
    onTestFinished(async () => {
      session.signal('SIGTERM');
      await session.ended;
    });
    await session.waitFor('▸ t-words');
    await session.waitFor('ready to launch');
    await goWay(session, ['e', { see: 'aesop-small' }, 'right', 'right', { see: 'benchtop/tutor-base' }, 'enter']);
    await session.waitFor('28 of 28 rollouts');
    await session.waitFor('✓ completed');
    // The benchmark: the tasks of the run are called t-words-… too.
    await goWay(session, ['esc', { see: '▸ t-words ' }, 't', { see: 'num_steps' }, 'right', 'right']);
    // Fewer steps than by default, which takes a minute.
    await goWay(session, ['tab', 'tab', { type: '6' }, 'tab', { type: '4' }, 'tab', { type: '4' }, 'enter']);
    await session.waitFor('step 6 of 6');
    await session.waitFor('✓ succeeded');
    await goWay(session, [
      { see: '▸ step 6' },
      { see: 'final' },
      'D',
      { see: '<enter> send' },
      'enter',
      { see: '✓ deployed' },
      't',
    ]);
    await session.waitFor('<enter> send');
    await goWay(session, [{ type: 'tell me about tea' }, 'enter', { see: 'output tokens' }]);
    await goWay(session, ['esc', { see: '<i> write' }, 'q']);
    expect((await session.ended).exitCode).toBe(0);
    expect(session.leftOn()).toEqual([]);
  });

  /** Runs a script of README with the command on the path. */
  const shell = (script: string, environment: Readonly<Record<string, string>> = {}) => {
    const PATH = `${join(folder, 'node_modules/.bin')}:${home.env['PATH']}`;
    const run = execute('bash', ['-euc', script], { cwd: folder, env: { ...home.env, ...environment, PATH } });
    // Text piped into a chat belongs to its message.
    run.child.stdin?.end();
    return run;
  };

  // test/e2e/readme.test.ts runs it on another Node.
  it.runIf(version === nodeReleases[0])('does the same as a script', async () => {
    const script = examples.find(({ language, text }) => language === 'sh' && text.includes('benchtop train'))?.text;
    const { stdout } = await shell(script ?? 'false');
    const [before, after, deployment, answer] = stdout.split('\n');
    expect(Number(after)).toBeGreaterThan(Number(before));
    expect(deployment).toMatch(/^dep_/);
    expect(answer).toMatch(/\w/);
  });

  it.runIf(version === nodeReleases[0])('works as a gate, with the workflow of README', async () => {
    const workflow = examples.find(
      ({ language, text }) => language === 'yaml' && text.includes('benchtop compare'),
    )?.text;
    const [, gate = 'false'] = /run: \|\n((?: {10}.*\n)+)/.exec(workflow ?? '') ?? [];
    const script = gate.replaceAll('first@latest', 'words@latest');
    const idOf = async (name: string) => (await benchtop(['get', 'run', name, '--field', 'id'])).stdout.trim();
    expect((await shell(script, { BASE: await idOf('before') })).stdout).toMatch(/won|wins/);
    // Comparing in the opposite direction fails.
    const worse = script.replace('--checkpoint words@latest', '');
    await expect(shell(worse, { BASE: await idOf('after') })).rejects.toMatchObject({ code: 1 });
  });

  it('reaches a service through a proxy, and trusts the certificates of the system', async () => {
    const pair = selfSigned('service.example');
    const server = createServer({ cert: pair.certificate, key: pair.key }, (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: [{ bench_id: 'bench_1', label: 'far away' }], has_more: false }));
    });
    const asked: string[] = [];
    const proxy = createHttpServer().on('connect', (request, socket) => {
      asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
      const onward = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        onward.pipe(socket).pipe(onward);
      });
      for (const end of [onward, socket]) end.on('error', () => {});
    });
    await Promise.all([server, proxy].map(each => new Promise<void>(resolve => each.listen(0, '127.0.0.1', resolve))));
    onTestFinished(() => {
      for (const each of [server, proxy]) {
        each.closeAllConnections();
        each.close();
      }
    });
    const caFile = join(home.home, 'company.pem');
    writeFileSync(caFile, pair.certificate);
    const { stdout } = await benchtop(['list', 'benchmarks', '--columns', 'label'], {
      BENCHTOP_BASE_URL: 'https://service.example',
      BENCHTOP_API_KEY: 'key-key-key-key',
      HTTPS_PROXY: `http://user:word@127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      SSL_CERT_FILE: caFile,
    });
    expect(stdout).toContain('far away');
    expect(new Set(asked)).toEqual(new Set([`service.example:443 Basic ${btoa('user:word')}`]));
  });

  it('says in one line that a proxy refuses, without its password', async () => {
    const proxy = createHttpServer().on('connect', (_, socket) => socket.end('HTTP/1.1 407 No\r\n\r\n'));
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const refused = benchtop(['list', 'benchmarks'], {
      BENCHTOP_BASE_URL: 'https://service.example',
      BENCHTOP_API_KEY: 'key-key-key-key',
      HTTPS_PROXY: `http://user:hunter2@127.0.0.1:${port}`,
    });
    const line = `benchtop: The proxy 127.0.0.1:${port} (HTTPS_PROXY) asks for a user and a password. Nothing was sent. `;
    await expect(refused).rejects.toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) });
    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining(line) });
    await expect(refused).rejects.toMatchObject({ stderr: expect.not.stringContaining('hunter2') });
  });
});
