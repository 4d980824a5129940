/**
 * Names, ids, statuses and messages of a service cannot swallow text of ours, and cannot begin a line of standard
 * error: in the log of a CI job that could be a command.
 */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { processIo } from '../../src/commands/io.ts';
import { hostileServer, json, refusal } from '../service/hostile-server.ts';
import { cliOn } from './cli.ts';

const evil = (name: string): string => `${name}\n::error::owned\r\n\u0085\u2028::warning::too\u001b[`;
const shown = (name: string): string => `${name} ::error::owned   ::warning::too`;

const deployment = {
  deployment_id: 'dep_1',
  model_slug: evil('talker'),
  role: 'production',
  status: 'DEPLOYED',
  is_active: true,
};
const run = { eval_run_id: 'evr_1', bench_id: 'b1', display_name: evil('first'), status: evil('odd') };

/** A service with one of each; it refuses every change. */
async function hostile() {
  const server = await hostileServer((response, request) => {
    const { method, url } = request;
    const answer = (body: unknown) => json(body)(response, request);
    if (method !== 'GET') return refusal(409, 'conflict_error', 'busy', { message: evil('Busy') })(response, request);
    if (url.startsWith('/api/v1/deploy?')) return answer({ items: [deployment], has_more: false });
    if (url.startsWith('/api/v1/deploy/')) return answer(deployment);
    if (url.startsWith('/api/v1/eval/runs?')) return answer({ items: [run], has_more: false });
    if (/\/evr_1$/.test(url)) return answer(run);
    return json({}, 404)(response, request);
  });
  return cliOn({ baseUrl: server.url, apiKey: 'key' });
}

describe('a hostile service', () => {
  const called = shown('talker').replaceAll(/ +/g, ' ');

  it.each([
    [['undeploy', 'dep_1'], `Undeploy deployment ${called}, dep_1? In production: `],
    [['promote', 'dep_1', '--undo'], `Unpromote deployment ${called}, dep_1? In production: `],
    [['undeploy', 'dep_1', '--yes'], `${shown('Busy')}.`],
    [['delete', 'evr_1'], `Delete run ${shown('first')} (evr_1)? The record, the rewards`],
  ])('loses no words of %j, and never starts a line', async ([command = '', ...args], words) => {
    const cli = await hostile();
    const { notes } = await cli(command, args);
    expect(notes.split(/[\n\r\u0085\u2028]/)).toContainEqual(expect.stringContaining(words));
    expect(notes).not.toMatch(/^\s*::/m);
  });

  it('never starts a line in the list of line mode', async () => {
    const cli = await hostile();
    const { out } = await cli('--lines', [], { input: 'deployments\n1\n' });
    expect(out).toContain(`1. ${shown('talker')}, deployed,`);
    expect(out).toContain(`slug: ${shown('talker')}\n`);
    expect(out).not.toMatch(/^\s*::/m);
  });
});

it('keeps a note on one line, whatever it says', () => {
  const written: unknown[] = [];
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation(text => written.push(text) > 0);
  onTestFinished(() => spy.mockRestore());
  processIo(false).note('one\n::error::two\r::three\u2028::four');
  expect(written).toEqual(['one ::error::two ::three ::four\n']);
});
