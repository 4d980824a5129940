/** Standard output that fails: a reader that closes it early, and a file that does not take all; and their exit codes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes } from '../../src/commands/exit.ts';
import { hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

/** The exit code of a program that prints once nobody reads. */
async function codeOf(said: string): Promise<unknown> {
  const io = new URL('../../src/commands/io.ts', import.meta.url);
  const script = `
    const { processIo } = await import('${io}');
    const io = processIo(false);
    ${said}
    process.stdin.resume().once('end', () => void io.print('result'));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'pipe' });
  const exit = once(child, 'exit');
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end();
  const [code] = await exit;
  return code;
}

it('is not a failure, unless the exit code is the result', async () => {
  expect(await codeOf('')).toBe(exitCodes.done);
  expect(await codeOf(`io.exitUnread(${exitCodes.endUnseen});`)).toBe(exitCodes.endUnseen);
});

it.each([
  ['-1', exitCodes.done],
  ['0.9', exitCodes.failed],
])('is passed to compare --fail-below %s before anything is printed', async (least, expected) => {
  const rewards = [{ reward: 1, trajectory_id: 'traj_1', task_id: 'one' }];
  const server = await hostileServer((response, request) => {
    const eval_run_id = request.url.includes('evr_1') ? 'evr_1' : 'evr_2';
    const run = { eval_run_id, status: 'completed', total_rollouts: 1 };
    return json(request.url.endsWith('rewards') ? { eval_run_id, trajectory_rewards: rewards } : run)(
      response,
      request,
    );
  });
  const order: unknown[] = [];
  const cli = cliOn({ baseUrl: server.url, apiKey: 'key' });
  const { code } = await cli('compare evr_1 evr_2 --fail-below', [least], {
    onExitUnread: each => order.push(each),
    onPrint: () => order.push('printed'),
  });
  expect([code, ...order]).toEqual([expected, expected, 'printed']);
});

it('is reported to waiting commands if the end was not seen', async () => {
  const server = await hostileServer(json({ eval_run_id: 'evr_1', status: 'completed' }));
  const order: unknown[] = [];
  await cliOn({ baseUrl: server.url, apiKey: 'key' })('watch evr_1', [], {
    onExitUnread: each => order.push(each),
    onPrint: () => order.push('printed'),
  });
  expect(order).toEqual([exitCodes.endUnseen, 'printed']);
});

it.each([
  ['a result', 'io.ts', 'processIo(false).print(text)'],
  ['help', 'prebuilt.ts', "printPrebuilt(['--help'], new URL('file:' + process.cwd() + '/'))"],
])('of %s in a file is reported if only its beginning fits', (_, file, print) => {
  const cwd = testFolder();
  const text = 'x'.repeat(6_000);
  writeFileSync(join(cwd, 'help.json'), JSON.stringify({ '--help': text }));
  const module = new URL(`../../src/commands/${file}`, import.meta.url);
  const script = `const text = '${text}'; (await import('${module}')).${print};`;
  // Files of at most 2 blocks of 1024 bytes, as a disk that is nearly full.
  const line = 'ulimit -f 2; exec "$0" --input-type=module --eval "$1" > out';
  const { status, stderr } = spawnSync('bash', ['-c', line, process.execPath, script], { cwd, encoding: 'utf8' });
  expect(stderr).toMatch(/^benchtop: The output is incomplete: .*EFBIG\)\.\n$/);
  expect(status).toBe(exitCodes.failed);
  expect(readFileSync(join(cwd, 'out'), 'utf8')).toBe(text.slice(0, 2_048));
});
