/** The local service over HTTP: authentication, envelopes, lists, evaluations, inference. */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/contract/common.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import type { RunningService } from '../../src/local/daemon/daemon.ts';
import { AlreadyRunning, serve } from '../../src/local/daemon/serve.ts';
import { foreignOperations } from '../../src/local/server/handlers.ts';
import { createService, type Service } from '../../src/service/index.ts';
import { readPages } from '../../src/service/pagination.ts';
import { eventually } from '../eventually.ts';

let folder: string;
let local: RunningService;
let service: Service;
let benchId: string;

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the test is about the body
  body: any;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fetch(local.baseUrl + path, {
    method,
    headers: { 'X-API-Key': local.apiKey, ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.json().catch(() => undefined) };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'benchtop-local-'));
  local = await serve({ dataFolder: folder });
  const key = async () => local.apiKey;
  service = createService({ baseUrl: local.baseUrl, apiKey: key, inferenceToken: key, userAgent: 'test' });
  benchId = (await service.call('listBenchmarks')).items[0]?.bench_id ?? '';
  await eventually(async () =>
    expect((await service.call('getBenchmarkReadiness', { params: { bench_id: benchId } })).ready).toBe(true),
  );
});
afterAll(async () => {
  await service.close();
  await local.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('every endpoint of the contract', () => {
  const filled = (path: string) => path.replace(/\{\w+\}/g, 'x');

  it.each(Object.values<Endpoint>(endpoints).filter(({ operation }) => !foreignOperations.has(operation)))(
    '$operation needs a credential and answers with an envelope',
    async endpoint => {
      const body = endpoint.method === 'GET' ? undefined : '{}';
      for (const headers of [{}, { 'X-API-Key': '' }, { 'X-API-Key': 'made up', Authorization: 'Bearer made-up' }]) {
        const answer = await fetch(local.baseUrl + filled(endpoint.path), {
          method: endpoint.method,
          headers,
          ...(body && { body }),
        });
        expect(answer.status).toBe(401);
        expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
        const { error } = (await answer.json()) as { error: Record<string, unknown> };
        expect(error).toMatchObject({ type: 'authentication_error', code: 'authentication_required' });
        expect('doc_url' in error).toBe(!endpoint.path.startsWith('/v1/'));
      }
    },
  );
});

describe('invalid requests', () => {
  it('get the name of the field that is out of bounds', async () => {
    for (const limit of ['0', '201', '1.5', 'many']) {
      const { status, body } = await call('GET', `/api/v1/benchmarks?limit=${limit}`);
      expect([status, body.error.code, body.error.param]).toEqual([422, 'validation_error', 'limit']);
    }
    for (const display_name of ['', 'x'.repeat(257), 5]) {
      const { body } = await call('POST', `/api/v1/eval/${benchId}/start`, {
        display_name,
        model_slug: 'benchtop/tutor-base',
      });
      expect(body.error.param).toBe('display_name');
    }
  });

  it('include unknown sorts, foreign cursors and broken JSON', async () => {
    expect((await call('GET', '/api/v1/benchmarks?sort=colour')).body.error.param).toBe('sort');
    expect((await call('GET', '/api/v1/benchmarks?cursor=nonsense')).body.error.param).toBe('cursor');
    expect((await call('POST', `/api/v1/eval/${benchId}/start`, '{"display')).status).toBe(400);
  });

  it('get 404 and 405 by route and method', async () => {
    expect((await call('GET', '/api/v1/nothing')).body.error.code).toBe('unknown_route');
    const wrong = await call('PUT', '/api/v1/benchmarks');
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('include those from a browser page, and with a foreign host name', async () => {
    expect((await call('GET', '/api/v1/benchmarks', undefined, { Origin: 'https://evil.example' })).status).toBe(403);
    const status = await new Promise(resolve => {
      request(`${local.baseUrl}/api/v1/benchmarks`, { headers: { Host: 'evil.example' } }, answer =>
        resolve(answer.statusCode),
      ).end();
    });
    expect(status).toBe(403);
  });

  it('get different errors for an unknown resource and an unknown route', async () => {
    for (const path of [
      '/api/v1/benchmarks/bench_none',
      '/api/v1/eval/evr_none/progress',
      '/api/v1/trajectories/traj_none',
    ]) {
      const { status, body } = await call('GET', path);
      expect([status, body.error.type, body.error.code]).toEqual([404, 'invalid_request_error', 'resource_not_found']);
    }
  });
});

describe('lists', () => {
  it('pages by cursor without repeats, in either order', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const pages: string[][] = [];
      const query = { limit: 2, sort: 'label', order };
      for await (const page of readPages(cursor => service.call('listBenchmarks', { query: { ...query, cursor } }))) {
        pages.push(page.items.map(item => item.label ?? ''));
      }
      const labels = pages.flat();
      expect(pages.map(page => page.length)).toEqual([2, 2, 2, 1]);
      expect(new Set(labels).size).toBe(7);
      expect(labels).toEqual([...labels].sort((left, right) => (order === 'asc' ? 1 : -1) * (left < right ? -1 : 1)));
    }
  });

  it('searches case-insensitively', async () => {
    const { items } = await service.call('listBenchmarks', { query: { search: 'OPPOS' } });
    expect(items.map(item => item.label)).toEqual(['opposites']);
  });

  it('has at least four benchmarks with splits of 16 to 128 tasks, and one that lacks a secret', async () => {
    const { items } = await service.call('listBenchmarks');
    expect(items.length).toBeGreaterThanOrEqual(4);
    const missing = await Promise.all(
      items.map(
        async item =>
          (await service.call('getBenchmarkReadiness', { params: { bench_id: item.bench_id } })).missing_secret_names,
      ),
    );
    expect(missing.flat()).toEqual(['QUIZ_API_KEY']);
  });
});

describe('an evaluation', () => {
  const start = (name: string, options = {}) =>
    service.call(
      'startEval',
      { params: { bench_id: benchId }, body: { display_name: name, model_slug: 'benchtop/reader-large' } },
      options,
    );
  const ended = (runId: string) =>
    eventually(async () => {
      const run = await service.call('getEvalRun', { params: { eval_run_id: runId } });
      expect(run.status).toBe('completed');
      return run;
    });

  it('records every rollout, and its mean is the mean of its rewards', async () => {
    const { eval_run_id } = await start('whole');
    const run = await ended(eval_run_id);
    const { trajectory_rewards } = await service.call('getTrajectoryRewards', { params: { eval_run_id } });
    expect(trajectory_rewards).toHaveLength(28);
    const mean =
      trajectory_rewards.reduce((sum, { reward }) => sum + (reward ?? Number.NaN), 0) / trajectory_rewards.length;
    expect(run.reward_mean).toBeCloseTo(mean, 12);
    const progress = await service.call('getEvalProgress', { params: { eval_run_id } });
    expect([progress.terminal_rollouts, progress.total_rollouts, progress.live?.failed_rollouts]).toEqual([28, 28, 0]);
    const { snapshots } = await service.call('getRolloutStatistics', { params: { eval_run_id } });
    const rewards = snapshots.filter(each => each.knob_name === 'reward').flatMap(each => each.samples ?? []);
    expect(rewards.reduce((sum, value) => sum + value, 0) / rewards.length).toBeCloseTo(mean, 12);
    expect(snapshots.every(each => each.sample_count === each.samples?.length)).toBe(true);
  });

  it('keeps its messages, with token counts', async () => {
    const { eval_run_id } = await start('said');
    await ended(eval_run_id);
    const { items } = await service.call('listTrajectories', { query: { eval_run_id, limit: 5 } });
    let tokens = 0;
    for (const { trajectory_id } of items) {
      const { steps } = await service.call('getTrajectory', {
        params: { trajectory_id },
        query: { include_steps: true },
      });
      const messages = steps?.[0]?.messages ?? [];
      expect(messages.map(message => message.role)).toEqual(['system', 'user', 'assistant', 'grader']);
      expect(['stop', 'length']).toContain(messages[2]?.finish_reason);
      tokens += messages[2]?.completion_tokens ?? 0;
    }
    // A model may answer with nothing, but hardly five times.
    expect(tokens).toBeGreaterThan(0);
    expect(
      (
        await service.call('getTrajectory', {
          params: { trajectory_id: items[0]?.trajectory_id ?? '' },
          query: { include_steps: false },
        })
      ).steps,
    ).toBeNull();
  });

  it('is started once per idempotency key, and refuses the key for another request', async () => {
    const first = await start('once', { idempotencyKey: 'k1' });
    const again = await start('once', { idempotencyKey: 'k1' });
    expect(again.eval_run_id).toBe(first.eval_run_id);
    await expect(start('other', { idempotencyKey: 'k1' })).rejects.toMatchObject({
      status: 409,
      code: 'idempotency_key_reused',
    });
  });

  it('is refused for an unknown model, an unknown checkpoint and a benchmark that is not ready', async () => {
    const refused = (body: object, id = benchId) =>
      call('POST', `/api/v1/eval/${id}/start`, { display_name: 'x', ...body });
    expect((await refused({ model_slug: 'nobody' })).body.error.param).toBe('model_slug');
    expect((await refused({})).body.error.param).toBe('model_slug');
    expect((await refused({ model_slug: 'benchtop/tutor-base', checkpoint_id: 'ckpt_1' })).status).toBe(404);
    const locked = (await service.call('listBenchmarks', { query: { search: 'what-is-it' } })).items[0]?.bench_id ?? '';
    const answer = await refused({ model_slug: 'benchtop/tutor-base' }, locked);
    expect([answer.status, answer.body.error.context.missing_secret_names]).toEqual([409, ['QUIZ_API_KEY']]);
  });

  it('accepts the newer names of the model field', async () => {
    const { status } = await call('POST', `/api/v1/eval/${benchId}/start`, {
      display_name: 'x',
      base_model_slug: 'benchtop/tutor-base',
    });
    expect(status).toBe(200);
  });

  it('is deleted with everything it has', async () => {
    const { eval_run_id } = await start('gone');
    await ended(eval_run_id);
    expect(await service.call('deleteEvalRun', { params: { bench_id: benchId, eval_run_id } })).toMatchObject({
      bench_id: benchId,
      eval_run_id,
    });
    await expect(service.call('getEvalRun', { params: { eval_run_id } })).rejects.toMatchObject({ kind: 'not_found' });
    expect((await service.call('listTrajectories', { query: { eval_run_id } })).items).toEqual([]);
  });

  it('cannot be cancelled once it has ended', async () => {
    const { eval_run_id } = await start('late');
    await ended(eval_run_id);
    await expect(service.call('cancelEval', { params: { eval_run_id } })).rejects.toMatchObject({
      status: 409,
      code: 'run_already_terminal',
    });
  });
});

describe('inference', () => {
  const ask = { model: 'benchtop/tutor-base', messages: [{ role: 'user', content: 'say hello' }] };

  it('counts tokens exactly and answers the same at temperature 0', async () => {
    const [first, second] = await Promise.all(
      [0, 0].map(temperature => service.chat.complete({ ...ask, temperature, max_tokens: 6 })),
    );
    expect(first?.choices[0]?.message.content).toBe(second?.choices[0]?.message.content);
    expect(first?.usage).toMatchObject({ prompt_tokens: 4, total_tokens: 4 + (first?.usage?.completion_tokens ?? 0) });
  });

  it('streams word by word, with usage at the end', async () => {
    const kinds: string[] = [];
    let text = '';
    // At temperature 0 the model always gives the same, non-empty answer; sampled, it may be empty.
    const said = { ...ask, model: 'benchtop/aesop-small', max_tokens: 5, temperature: 0 };
    for await (const event of service.chat.stream(said)) {
      kinds.push(event.kind);
      if (event.kind === 'delta') text += event.content ?? '';
    }
    expect(kinds.slice(-2)).toEqual(['finish', 'usage']);
    const whole = await service.chat.complete(said);
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(text.split(' ').length).toBeGreaterThan(1);
  });

  it('uses the envelope of inference', async () => {
    const bearer = { Authorization: `Bearer ${local.apiKey}` };
    const unknown = await call('POST', '/v1/chat/completions', { ...ask, model: 'nobody' }, bearer);
    expect([unknown.status, Object.keys(unknown.body.error).sort()]).toEqual([
      404,
      ['code', 'message', 'param', 'type'],
    ]);
    expect((await call('POST', '/v1/chat/completions', { ...ask, temperature: -1 }, bearer)).body.error.param).toBe(
      'temperature',
    );
    expect((await call('POST', '/v1/chat/completions', { ...ask, messages: [] }, bearer)).body.error.param).toBe(
      'messages',
    );
  });
});

describe('the data folder', () => {
  it('is served by one process at a time', async () => {
    await expect(serve({ dataFolder: folder })).rejects.toBeInstanceOf(AlreadyRunning);
  });

  it('keeps its files private to the user', () => {
    for (const name of ['service.json', 'api-key', 'lock.db'])
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  });

  it('names a port that is taken', async () => {
    const other = mkdtempSync(join(tmpdir(), 'benchtop-port-'));
    const port = Number(new URL(local.baseUrl).port);
    await expect(serve({ dataFolder: other, port })).rejects.toThrow(`Port ${port} is taken`);
    rmSync(other, { recursive: true, force: true });
  });
});
