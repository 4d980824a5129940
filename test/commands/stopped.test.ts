/** A stopped command leaves no files behind, and reports what may have changed. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { exitCodes, Interruption } from '../../src/commands/exit.ts';
import { eventually } from '../eventually.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

it('an export removes its unfinished file on SIGTERM and SIGHUP (R17)', async () => {
  const folder = testFolder();
  const stop = new AbortController();
  let stopsOnSignals = false;
  const ids = Array.from({ length: 9 }, (_, index) => `traj_${index}`);
  const server = await hostileServer(async (response, { url }) => {
    const answer = (body: unknown) =>
      json(body)(response, { method: 'GET', url, headers: {}, body: '', closed: Promise.resolve() });
    if (url.startsWith('/api/v1/eval/evr_1')) return answer({ eval_run_id: 'evr_1', status: 'completed' });
    if (url.includes('eval_run_id=evr_1'))
      return answer({ items: ids.map(trajectory_id => ({ trajectory_id, eval_run_id: 'evr_1' })) });
    if (!url.includes('traj_8')) return answer({ trajectory_id: url.replace(/.*\/|\?.*/g, '') });
    // The last one is never answered: the signal comes while the file is written.
    await eventually(() => expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.part$/)]));
    if (stopsOnSignals) stop.abort(new Interruption(exitCodes.terminated));
    else response.destroy();
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code } = await cli('export', ['evr_1', '-o', join(folder, 'all.jsonl')], {
    signal: stop.signal,
    onStopOnSignals: () => {
      stopsOnSignals = true;
    },
  });
  expect(code).toBe(exitCodes.terminated);
  expect(readdirSync(folder)).toEqual([]);
});

it('an upload removes its copy of standard input on SIGTERM and SIGHUP (R17)', async () => {
  const folder = testFolder();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stop = new AbortController();
  let stopsOnSignals = false;
  let isCopied = false;
  const copies = (): string[] => readdirSync(folder).filter(name => name.startsWith('benchtop-upload-'));
  const server = await hostileServer(async (response, { method }) => {
    if (method !== 'POST')
      return json({ items: [] })(response, { method, url: '', headers: {}, body: '', closed: Promise.resolve() });
    isCopied = copies().length === 1;
    if (stopsOnSignals) stop.abort(new Interruption(exitCodes.hungUp));
    else response.destroy();
  });
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code } = await cli('upload', ['-', '--dataset', 'd'], {
    input: '{"messages":[{"role":"user","content":"hello"}]}\n',
    signal: stop.signal,
    onStopOnSignals: () => {
      stopsOnSignals = true;
    },
  });
  expect([isCopied, code, copies()]).toEqual([true, exitCodes.hungUp, []]);
});

it.each([
  ['SIGTERM', exitCodes.terminated],
  ['SIGHUP', exitCodes.hungUp],
  ['SIGQUIT', exitCodes.quit],
  ['SIGINT', exitCodes.interrupted],
])('a write in flight says on %s that it may have happened, and how to repeat it', async (name, code) => {
  const stopped = async (command: string, words: readonly string[]) => {
    const stop = new AbortController();
    let stopsOn: readonly string[] = ['SIGINT'];
    const server = await hostileServer((response, { method, url }) => {
      if (method === 'POST' && stopsOn.includes(name)) return stop.abort(new Interruption(code));
      if (method === 'POST') return void response.destroy();
      return json(url.includes('/train/') ? { training_run_id: 'trn_1' } : { bench_id: 'bench_1', label: 'b' })(
        response,
        { method, url, headers: {}, body: '', closed: Promise.resolve() },
      );
    });
    const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
    const onStopOnSignals = () => {
      stopsOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
    };
    const ended = await cli(command, words, { signal: stop.signal, onStopOnSignals, input: 'secret' });
    expect([ended.code, ended.out]).toEqual([code, '']);
    return ended.notes;
  };
  const mayHaveHappened = /It may have happened anyway[:.] (check before you repeat it|It is safe to repeat)/;
  const ofModel = ['bench_1', '--model', 'acme/small', '--name', 'x'];
  for (const [command, words] of [
    ['evaluate', ofModel],
    ['train', ofModel],
    ['deploy', ['ckpt_1', '--slug', 's']],
  ] as const) {
    const notes = await stopped(command, words);
    expect(notes).toMatch(mayHaveHappened);
    if (command !== 'deploy') expect(notes).toMatch(/--idempotency-key \S+/);
  }
  const notes = await stopped('reward', ['traj_1', 'quality', '0.4']);
  expect(notes).toMatch(mayHaveHappened);
  expect(notes).toMatch(/--reward-id \S+/);
  for (const [command, words] of [
    ['api', ['createSecret', 'name=A', 'value=b']],
    ['secret set', ['A']],
  ] as const)
    expect(await stopped(command, words)).toMatch(mayHaveHappened);
});
