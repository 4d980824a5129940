import { expect, it } from 'vitest';
import { apiKey, hostileServer, json } from '../service/hostile-server.ts';
import { cliOn, testFolder } from './cli.ts';

it('names the command that deletes a run whose benchmark is unknown', async () => {
  const { url, requests } = await hostileServer((response, request) => {
    const rewards = { eval_run_id: 'evr_1', trajectory_rewards: [] };
    if (request.url.endsWith('/trajectory-rewards')) return json(rewards)(response, request);
    if (request.url.startsWith('/api/v1/benchmarks')) {
      return json({ items: [{ bench_id: 'b1' }], has_more: false, next_cursor: null })(response, request);
    }
    return json({ detail: 'Not Found' }, 404)(response, request);
  });
  const { code, notes } = await cliOn({ baseUrl: url, apiKey, home: testFolder() })('delete', ['evr_1', '--yes']);
  expect(code).toBe(2);
  expect(notes).toMatch(/^benchtop: Nothing was deleted\. The benchmark of evr_1 is unknown/);
  expect(notes).toContain('benchtop api deleteEvalRun bench_id=ID eval_run_id=evr_1');
  expect(requests.some(({ method }) => method === 'DELETE')).toBe(false);
});
