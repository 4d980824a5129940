/**
 * A service that limits the rate of requests for an hour, on screen: its messages, and the requests that are sent
 * anyway.
 */
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/service/clock.ts';
import { hostileServer, json, refusal, serviceAt } from '../../service/hostile-server.ts';
import { openProgram } from './rig.tsx';

const limited = refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'retry-after': '3600' });

it('says when it retries and what the service asks for, and sends one request per r (C9, N4)', async () => {
  const list = json({ items: [{ bench_id: 'bn_1', label: 'letters' }], has_more: false, next_cursor: null });
  const server = await hostileServer(limited, limited, list);
  const { service } = serviceAt(server.url, { clock: systemClock });
  const { screen, close } = openProgram({ service, start: { view: 'list', resource: 'benchmarks' }, columns: 120 });
  onTestFinished(close);
  await screen.waitFor(text => /rate limited, the service asks to wait 59m, retry in [1-5]?\ds/.test(text));
  expect(server.requests).toHaveLength(1);
  await screen.press('r');
  await expect.poll(() => server.requests.length).toBe(2);
  await expect.poll(() => service.gate.state().kind).toBe('limited');
  await screen.press('r');
  await screen.waitFor('letters');
  expect(server.requests.slice(0, 3).map(({ url }) => url.replace(/\?.*/, ''))).toEqual(
    Array.from({ length: 3 }, () => '/api/v1/benchmarks'),
  );
  expect(screen.text()).not.toContain('rate limited');
});
