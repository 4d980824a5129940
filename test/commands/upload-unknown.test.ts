/** `upload` of trajectories to a service that loses an answer: nothing that may be stored is sent again by itself. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRecord } from '../../src/base/own-property.ts';
import { exitCodes } from '../../src/commands/exit.ts';
import { apiKey, type Behaviour, hostileServer, resetAtOnce } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

/** A service that stores all but `bad`, and loses the answer to the second request. */
async function losing() {
  const stored: string[] = [];
  const store = (body: string): object[] => {
    const { trajectories } = JSON.parse(body) as { trajectories: { messages: { content: string }[] }[] };
    return trajectories.map(({ messages: [message] }, request_index) => {
      if (message?.content === 'bad') return { request_index, status: 'error', failure: { code: 'invalid' } };
      stored.push(String(message?.content));
      return { request_index, status: 'uploaded' };
    });
  };
  const answer: Behaviour = (response, { body }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ trajectories: store(body) }));
  };
  const lose: Behaviour = (response, request) => {
    store(request.body);
    return resetAtOnce(response, request);
  };
  const server = await hostileServer(answer, lose, answer);
  const path = join(testFolder(), 'many.jsonl');
  const contents = Array.from({ length: 250 }, (_, index) => (index === 5 ? 'bad' : `number ${index}`));
  writeFileSync(path, contents.map(content => JSON.stringify({ messages: [{ content }] })).join('\n'));
  const cli = cliOn({ baseUrl: server.url, apiKey });
  return { stored, upload: (...flags: string[]) => cli('upload', [path, '--dataset', 'd', ...flags]) };
}

it('holds back what may be stored, counts it as unknown and names the flag that sends it (A1)', async () => {
  const { stored, upload } = await losing();
  const first = await upload();
  expect(first).toMatchObject({ code: exitCodes.unreachable, out: '99 stored, 0 skipped, 1 failed, 100 unknown\n' });
  expect(first.notes).toContain('100 trajectories may or may not be stored: the service did not say.');
  expect(first.notes).toContain('--resend-unknown');
  const second = await upload('--json');
  const { trajectories, ...counts } = JSON.parse(second.out) as { trajectories: unknown[] };
  expect(counts).toEqual({ dataset: 'd', phase: 'done', stored: 149, skipped: 0, failed: 1, unknown: 100 });
  expect(trajectories.filter(each => isRecord(each) && each['status'] === 'unknown')).toHaveLength(100);
  expect([second.code, stored.length, new Set(stored).size]).toEqual([exitCodes.failed, 249, 249]);
  const third = await upload('--resend-unknown');
  expect(third.out).toBe('249 stored, 0 skipped, 1 failed\n');
  expect(stored).toHaveLength(349);
  // Only the rejected one is left.
  await upload();
  expect(stored).toHaveLength(349);
  const whole = await upload('--new');
  expect([whole.out, stored.length]).toEqual(['249 stored, 0 skipped, 1 failed\n', 598]);
});
