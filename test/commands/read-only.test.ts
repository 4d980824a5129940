/** With --read-only, no command sends a write. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { type Endpoint, isWrite } from '../../src/contract/common.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import { resources } from '../../src/resources/catalogue.ts';
import { serviceDouble } from '../service/double.ts';
import { cliOn, testFolder } from './cli.ts';

async function double() {
  const service = await serviceDouble();
  return { ...service, cli: cliOn({ baseUrl: service.url, apiKey: 'key-0123456789' }) };
}

const writes = (Object.values(endpoints) as Endpoint[]).filter(isWrite);

describe('api', () => {
  it.each(writes.map(endpoint => [endpoint.operation, endpoint] as const))('%s', async (operation, endpoint) => {
    const { cli, requests } = await double();
    const ids = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}=an_id`);
    const path = endpoint.path.replaceAll(/\{\w+\}/g, 'an_id');
    for (const words of [
      [operation, ...ids],
      [endpoint.method, path],
    ]) {
      const { code, out, notes } = await cli('api', [...words, '--read-only']);
      expect([code, out]).toEqual([exitCodes.usage, '']);
      expect(notes).toContain('read-only');
    }
    expect(requests).toEqual([]);
  });

  it('writes without --read-only', async () => {
    const { cli, writes: written } = await double();
    expect(await cli('api', ['cancelEval', 'eval_run_id=evr_1'])).toMatchObject({ code: exitCodes.done });
    expect(written()).toEqual(['POST /api/v1/eval/evr_1/cancel']);
  });
});

it('upload sends neither a folder nor trajectories', async () => {
  const { cli, requests } = await double();
  const folder = testFolder();
  mkdirSync(join(folder, 'benchmark'));
  writeFileSync(join(folder, 'benchmark', 'manifest.json'), '{"tasks": []}');
  writeFileSync(join(folder, 'benchmark', 'a.txt'), 'a');
  writeFileSync(join(folder, 'talk.jsonl'), '{"messages": []}\n');
  for (const words of [[join(folder, 'benchmark')], [join(folder, 'talk.jsonl'), '--dataset', 'talks']]) {
    const { code, notes } = await cli('upload', [...words, '--read-only']);
    expect(code).toBe(exitCodes.usage);
    expect(notes).toContain('read-only');
  }
  expect(requests).toEqual([]);
});

it('line mode acts on no row of any list, and offers no actions', async () => {
  const { cli, writes: written } = await double();
  const listed = resources.filter(({ needs }) => !needs).map(({ names: [name] }) => name);
  const each = ['evaluate', 'train', 'deploy', 'build', 'cancel', 'delete', 'undeploy', 'promote'] as const;
  const said = listed.flatMap(name => [name, ...each.map(verb => `${verb} 1`)]);
  const environment = { BENCHTOP_READ_ONLY: '1' };
  const { out } = await cli('--lines', ['--lines'], { input: [...said, 'help', 'quit', ''].join('\n'), environment });
  expect(out.match(/did not work: Nothing was sent|is not for/g)).toHaveLength(listed.length * each.length);
  expect(out).not.toMatch(/(Model|Slug|confirm|\[y\/N\]):? /);
  expect(written()).toEqual([]);
  const help = out.slice(out.indexOf('Type one of'));
  for (const verb of each) expect(help).not.toContain(`${verb} 3`);
});

describe('the commands that write', () => {
  it.each([
    ['evaluate', ['bench_1', '-m', 'm']],
    ['train', ['bench_1', '-m', 'm']],
    ['deploy', ['ckpt_1', '--slug', 's']],
    ['build', ['bench_1']],
    ['cancel', ['evr_1', '--yes']],
    ['delete', ['evr_1', '--yes']],
    ['undeploy', ['dep_1', '--yes']],
    ['promote', ['dep_1', '--yes']],
    ['reward', ['traj_1', 'good', '1']],
    ['secret set', ['NAME']],
  ])('%s sends no write', async (command, args) => {
    const { cli, writes: written } = await double();
    const { code, out } = await cli(command, [...args, '--read-only'], { input: 'value' });
    expect(code).not.toBe(exitCodes.done);
    expect(out).toBe('');
    expect(written()).toEqual([]);
  });
});
