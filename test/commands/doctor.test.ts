/** The report of `doctor` on folders and the network. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { folderFindings, networkFindings } from '../../src/commands/doctor.ts';
import { resolveProfile } from '../../src/config/profile.ts';
import { apiKey, hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

vi.mock('node:fs', async original => {
  const fs = await original<typeof import('node:fs')>();
  return { ...fs, statfsSync: vi.fn(fs.statfsSync) };
});

function findingsFor(flags: Record<string, string>, environment: Record<string, string>) {
  const input = { flags, environment, secrets: new Set<string>(), settings: {}, settingsPath: '', settingsFolder: '/' };
  return [...networkFindings(resolveProfile(input), environment)].map(finding => Object.values(finding).join(' '));
}

describe('the way to the service', () => {
  it('names the proxy and its variable for each address, without the password', () => {
    const flags = { baseUrl: 'https://service.example', inferenceUrl: 'https://models.example' };
    const variables = { HTTPS_PROXY: 'http://user:hunter2@proxy.example:3128', NO_PROXY: 'models.example' };
    expect(findingsFor(flags, variables).slice(0, 2)).toEqual([
      'proxy ok service.example through proxy.example:3128, from HTTPS_PROXY',
      'proxy ok none for models.example',
    ]);
  });

  it('reports a proxy that cannot be used', () => {
    expect(findingsFor({ baseUrl: 'https://service.example' }, { ALL_PROXY: 'socks5://proxy.example' })[0]).toBe(
      'proxy fail ALL_PROXY names a socks5 proxy: set it to http://host:port',
    );
  });

  it('names the trusted certificates', () => {
    const flags = { baseUrl: 'https://service.example', caFile: '/etc/own.pem' };
    const [, words, ...others] = findingsFor(flags, { SSL_CERT_FILE: '/x.pem', NODE_EXTRA_CA_CERTS: '/y.pem' });
    expect(others).toEqual([
      'certificates warn SSL_CERT_FILE names /x.pem, which cannot be read (ENOENT): its certificates are not trusted.',
    ]);
    expect(words).toMatch(/from Node and NODE_EXTRA_CA_CERTS, \d+ more from SSL_CERT_FILE, and from \/etc\/own\.pem$/);
    expect(findingsFor({ baseUrl: 'https://service.example' }, {})[1]).toMatch(/from Node, \d+ more from the system$/);
  });

  it('prints nothing about it if the service is on this machine', () => {
    expect(findingsFor({}, { ALL_PROXY: 'socks5://proxy.example' })).toEqual([]);
    expect(findingsFor({ baseUrl: 'http://localhost:80' }, { ALL_PROXY: 'x' })).toEqual([
      'proxy ok none for localhost',
    ]);
  });
});

it('exits with 3 if only the service fails, like other commands (out26 C6)', async () => {
  const { url } = await hostileServer(refusal(500, 'api_error', 'internal_error'));
  const cli = cliOn({ baseUrl: url, apiKey });
  expect((await cli('doctor', [])).code).toBe(3);
  expect((await cli('list', ['benchmarks'])).code).toBe(3);
});

it('says that a running local service cannot save, not that it cannot start (out29 C6)', async () => {
  const cli = cliOn({ baseUrl: '', apiKey: '', home: testFolder() });
  const { promise: up, resolve } = Promise.withResolvers<string>();
  const serving = cli('serve', [], { onPrint: resolve });
  await up;
  const full = vi.mocked(statfsSync).mockReturnValue({ bavail: 0, bsize: 4096 } as ReturnType<typeof statfsSync>);
  const { out } = await cli('doctor', []);
  full.mockReset();
  expect(out).toContain('0 B free, so the local service is running but cannot save its work');
  expect(out).not.toContain('cannot start');
  await cli('serve', ['--stop']);
  await serving;
});

it('says how much text is stored, and deleting a run deletes its text (attack31 B3)', async () => {
  const run = { eval_run_id: 'evr_1', bench_id: 'b1', display_name: 'one', status: 'completed' };
  const of = { trajectory_id: 'traj_1', status: 'completed', eval_run_id: 'evr_1', num_steps: 1 };
  const steps = [{ step_index: 0, messages: [{ role: 'user', content: 'a secret word' }] }];
  const page = (items: readonly object[]) => ({ items, has_more: false });
  let isDeleted = false;
  const { url } = await hostileServer((response, request) => {
    if (request.method === 'DELETE') isDeleted = true;
    const answers: Readonly<Record<string, object | undefined>> = {
      '/api/v1/eval/evr_1': isDeleted ? undefined : run,
      '/api/v1/trajectories': page(isDeleted ? [] : [of]),
      '/api/v1/trajectories/traj_1': { ...of, steps },
    };
    const answer = request.method === 'DELETE' ? {} : answers[request.url.split('?')[0] ?? ''];
    return (answer ? json(answer) : refusal(404, 'not_found_error', 'resource_not_found'))(response, request);
  });
  const home = testFolder();
  const cli = cliOn({ baseUrl: url, apiKey, home });
  expect((await cli('doctor', [])).out).not.toContain('searched trajectories');
  expect(await cli('search', ['secret', '--in', 'evr_1'])).toMatchObject({
    out: expect.stringContaining('a secret word'),
  });
  expect((await cli('doctor', [])).out).toMatch(
    /note {2}texts +\S+texts\.db has \d+ KiB of texts of searched trajectories: benchtop search --forget deletes them/,
  );
  expect(await cli('delete', ['evr_1', '--yes'])).toMatchObject({ code: 0 });
  const file = readdirSync(home, { recursive: true, encoding: 'utf8' }).find(each => each.endsWith('texts.db')) ?? '';
  expect(readFileSync(join(home, file), 'latin1')).not.toContain('secret');
});

describe('a folder', () => {
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'benchtop-doctor-'));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  const findings = (path: string, otherwise: 'warn' | 'fail' = 'warn') =>
    [...folderFindings('state folder', { path, otherwise, lost: 'no history is kept' })].map(
      ({ state, words }) => `${state} ${words}`,
    );

  it('that is not writable is a warning if commands work without it (C19)', () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    expect(findings(join(file, 'state'))).toEqual([expect.stringMatching(/^warn .* cannot be written, so no history/)]);
    expect(findings(join(file, 'data'), 'fail')).toEqual([expect.stringMatching(/^fail .* cannot be written/)]);
  });

  it('on a full disk is as bad as one that is not writable', () => {
    const none = { bavail: 0, bsize: 4096 } as ReturnType<typeof statfsSync>;
    vi.mocked(statfsSync).mockReturnValueOnce(none).mockReturnValueOnce(none);
    const words = ', 0 B free, so no history is kept';
    expect(findings(folder())).toEqual([expect.stringMatching(new RegExp(`^warn .*${words}$`))]);
    expect(findings(folder(), 'fail')).toEqual([expect.stringMatching(new RegExp(`^fail .*${words}$`))]);
  });

  it('that others can change or see is named with the command that fixes it (X5)', () => {
    const path = folder();
    expect(findings(path)).toEqual([expect.stringMatching(/^ok .* free$/)]);
    chmodSync(path, 0o755);
    expect(findings(path)[0]).toContain(`Run: chmod go-rwx ${path}`);
    chmodSync(path, 0o777);
    expect(findings(path)[0]).toMatch(/^warn .* can be changed by other users \(mode 0777\)/);
  });
});
