/** Which requests are sent, and when: counted, with a service that answers from memory. */

import { notifyManager } from '@tanstack/react-query';
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { dueAt, type LiveQuery, optionsOf } from '../../../src/queries/live-query.ts';
import type { QueryContext } from '../../../src/queries/query-context.ts';
import {
  AuthenticationError,
  CapabilityMissingError,
  isNotOffered,
  NotFoundError,
} from '../../../src/service/errors.ts';
import { useLastAnswer, useLive } from '../../../src/ui/data/use-live.ts';
import { WorkbenchProvider } from '../../../src/ui/data/workbench.tsx';
import { eventually } from '../../eventually.ts';
import { fakeService } from '../../service/fake-service.ts';
import { hostileServer, json, refusal, serviceAt } from '../../service/hostile-server.ts';
import { manualClock } from '../../service/manual-clock.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';

const service = async () => fakeService();

function query(key: string, read: () => Promise<string>): LiveQuery<string> {
  return { key: [key], activity: () => 'open', read };
}

function ShownService({ of }: { of: LiveQuery<string> }) {
  const { data, freshness, error } = useLive(of, 'focused');
  return <Text>{`${data ?? '-'} ${freshness.kind} ${error?.message ?? ''}`}</Text>;
}

function Refreshable({ of, onRefresh }: { of: LiveQuery<string>; onRefresh: (refresh: () => void) => void }) {
  const { data, error, refresh } = useLive(of, 'focused');
  onRefresh(refresh);
  return <Text>{`${data ?? '-'} ${isNotOffered(error)}`}</Text>;
}

describe('useLive', () => {
  it('keeps equal parts of two answers, and never a field as a prototype (X11)', async () => {
    const workbench = newWorkbench({ service });
    onTestFinished(() => workbench.close());
    const texts = ['{"a":[1],"b":1}', '{"a":[1],"b":2}', '{"a":[1],"b":3,"__proto__":{"status":"forged"}}'];
    const answers: unknown[] = texts.map(text => JSON.parse(text));
    const of: LiveQuery<unknown> = { key: ['equal'], activity: () => 'open', read: async () => answers.shift() };
    const polled = async () => {
      await workbench.cache.fetchQuery({ ...optionsOf(workbench, of), staleTime: 0 });
      return Object(workbench.cache.getQueryData(of.key));
    };
    const first = await polled();
    const second = await polled();
    expect(second.a).toBe(first.a);
    const third = await polled();
    expect(JSON.stringify(third)).toBe(texts[2]);
    expect(third.status).toBeUndefined();
  });

  it('is never due again once its resource is gone, and if the service lacks it only when that says so', async () => {
    const workbench = newWorkbench({ service });
    onTestFinished(() => workbench.close());
    const dueAfter = async (error: Error) => {
      const of = query(error.message, () => Promise.reject(error));
      await workbench.cache.prefetchQuery(optionsOf(workbench, of));
      const at = dueAt(workbench, of, 'visible');
      return at && at - (workbench.cache.getQueryState(of.key)?.errorUpdatedAt ?? 0);
    };
    expect(await dueAfter(new NotFoundError('gone', { type: 'invalid_request_error' }))).toBeUndefined();
    expect(await dueAfter(new CapabilityMissingError('getEvalRun'))).toBeUndefined();
    expect(await dueAfter(new CapabilityMissingError('listDatasets', { retryAfterMs: 5_000 }))).toBe(5_000);
    expect(await dueAfter(new Error('lost'))).toBeGreaterThan(0);
  });

  it('reports that the resource is gone, or that the service does not list it', async () => {
    const workbench = newWorkbench({ service });
    const failing = (error: Error) => query(error.message, () => Promise.reject(error));
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <ShownService of={failing(new NotFoundError('It is away.', { type: 'invalid_request_error' }))} />
        <ShownService of={failing(new CapabilityMissingError('getEvalRun'))} />
      </WorkbenchProvider>,
    );
    onTestFinished(() => {
      unmount();
      workbench.close();
    });
    await eventually(() => expect(lastFrame()).toMatch(/^- gone It is away\.\n- unlisted This service does not show/));
  });

  it('redraws once an answer arrives, and not on a request, or for the time of an equal answer', async () => {
    const workbench = newWorkbench({ service });
    const drawn: (string | undefined)[] = [];
    const asked: number[] = [];
    const of = query('drawn', async () => {
      // After the notice that it asks, and its frame.
      await new Promise<void>(resolve => notifyManager.schedule(resolve));
      asked.push(drawn.length);
      return 'tea';
    });
    function Counted() {
      const { data } = useLive(of, 'focused');
      drawn.push(data);
      return <Text>{data ?? '-'}</Text>;
    }
    const { unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Counted />
      </WorkbenchProvider>,
    );
    onTestFinished(() => {
      unmount();
      workbench.close();
    });
    await eventually(() => expect(drawn).toContain('tea'));
    const before = drawn.length;
    const readAt = workbench.cache.getQueryState(of.key)?.dataUpdatedAt ?? 0;
    await eventually(() => expect(Date.now()).toBeGreaterThan(readAt));
    await workbench.cache.refetchQueries({ queryKey: of.key });
    await new Promise<void>(resolve => notifyManager.schedule(resolve));
    expect(asked).toEqual([1, before]);
    expect(drawn).toHaveLength(before);
  });

  it('sends one request for several components', async () => {
    const read = vi.fn(async () => 'tea');
    const workbench = newWorkbench({ service });
    const shared = query('shared', read);
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <ShownService of={shared} />
        <ShownService of={shared} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toBe('tea fresh\ntea fresh'));
    expect(read).toHaveBeenCalledTimes(1);
    unmount();
    workbench.close();
  });

  it('keeps its data while requests fail, and says so', async () => {
    let fails = false;
    const workbench = newWorkbench({ service });
    const moody = query('moody', async () => {
      if (fails) throw new Error('the cable is out');
      return 'tea';
    });
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <ShownService of={moody} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toContain('tea fresh'));
    fails = true;
    await workbench.cache.invalidateQueries({ queryKey: ['moody'] });
    await eventually(() => expect(lastFrame()).toBe('tea failing the cable is out'));
    unmount();
    workbench.close();
  });

  it('sends another request for the user while an answer is missing', async () => {
    let hangs = false;
    let refresh = (): void => {};
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    const workbench = newWorkbench({ service });
    const read = vi.fn(({ signal }: { signal: AbortSignal }) => {
      if (!hangs) return Promise.resolve(`tea ${read.mock.calls.length}`);
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Refreshable of={{ key: ['hanging'], activity: () => 'open', read }} onRefresh={asks => (refresh = asks)} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toContain('tea 1'));
    hangs = true;
    refresh();
    await eventually(() => expect(read).toHaveBeenCalledTimes(2));
    hangs = false;
    refresh();
    await new Promise(setImmediate);
    expect(read).toHaveBeenCalledTimes(2);
    const later = performance.now() + 6_000;
    now.mockImplementation(() => later);
    refresh();
    await eventually(() => expect(lastFrame()).toContain('tea 3'));
    expect(workbench.waitingSince.size).toBe(0);
    unmount();
    workbench.close();
  });

  it('sends again everything on screen that hangs, even if it is neither refreshed nor polled', async () => {
    let refresh = (): void => {};
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    const workbench = newWorkbench({ service });
    const read = vi.fn(({ signal }: { signal: AbortSignal }) => {
      if (read.mock.calls.length > 1) return Promise.resolve('milk');
      return new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Refreshable of={query('answered', async () => 'tea')} onRefresh={asks => (refresh = asks)} />
        <ShownService of={{ key: ['hanging'], activity: () => 'settled', read }} />
      </WorkbenchProvider>,
    );
    onTestFinished(() => {
      unmount();
      workbench.close();
    });
    await eventually(() => expect(lastFrame()).toContain('tea'));
    const later = performance.now() + 6_000;
    now.mockImplementation(() => later);
    refresh();
    await eventually(() => expect(lastFrame()).toContain('milk fresh'));
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('lets a query that makes progress continue, however long it takes', async () => {
    let refresh = (): void => {};
    let at = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => at);
    onTestFinished(() => now.mockRestore());
    const workbench = newWorkbench({ service });
    const rest = Promise.withResolvers<string>();
    let progress: (() => void) | undefined;
    const read = vi.fn(({ progressed }: QueryContext) => {
      progress = progressed;
      return rest.promise;
    });
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Refreshable of={{ key: ['long'], activity: () => 'open', read }} onRefresh={asks => (refresh = asks)} />
      </WorkbenchProvider>,
    );
    onTestFinished(() => {
      unmount();
      workbench.close();
    });
    await eventually(() => expect(read).toHaveBeenCalledTimes(1));
    at = 4_000;
    progress?.();
    at = 8_000;
    refresh();
    await new Promise(setImmediate);
    rest.resolve('tea');
    await eventually(() => expect(lastFrame()).toContain('tea'));
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('says that it waits during a rate limit, and shows what comes after', async () => {
    const limit = refusal(429, 'rate_limit_error', 'rate_limited', {}, { 'retry-after': '30' });
    const server = await hostileServer(limit, json({ items: [], has_more: false }));
    const clock = manualClock(Date.now());
    const live = serviceAt(server.url, { clock }).service;
    const workbench = newWorkbench({ service: async () => live, gate: live.gate });
    const first: LiveQuery<string> = {
      ...query('first', async () => 'unused'),
      read: async ({ service: asked, signal }) =>
        `${(await asked.call('listBenchmarks', {}, { signal })).items.length}`,
    };
    const shown = (of: LiveQuery<string>) =>
      render(
        <WorkbenchProvider workbench={workbench}>
          <ShownService of={of} />
        </WorkbenchProvider>,
      );
    const limited = shown(first);
    await eventually(() => expect(limited.lastFrame()).toContain('- limited it says rate_limited'));
    const waiting = shown({ ...first, key: ['second'] });
    await eventually(() => expect(waiting.lastFrame()).toBe('- limited'));
    await clock.advance(29_999);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    await eventually(() => expect(waiting.lastFrame()).toBe('0 fresh'));
    limited.unmount();
    waiting.unmount();
    workbench.close();
  });

  it('is not live while the host is unreachable, even if its own last answer was good', async () => {
    const live = serviceAt('http://127.0.0.1:1').service;
    const workbench = newWorkbench({ service: async () => live, gate: live.gate });
    const shown = (of: LiveQuery<string>) =>
      render(
        <WorkbenchProvider workbench={workbench}>
          <ShownService of={of} />
        </WorkbenchProvider>,
      );
    const read = shown(query('read', async () => 'tea'));
    await eventually(() => expect(read.lastFrame()).toBe('tea fresh'));
    const other = shown({
      ...query('other', async () => 'unused'),
      read: async ({ service: asked, signal }) => String(await asked.call('listBenchmarks', {}, { signal })),
    });
    await eventually(() => expect(other.lastFrame()).toContain('- failing'));
    await eventually(() => expect(read.lastFrame()).toBe('tea failing'));
    read.unmount();
    other.unmount();
    workbench.close();
  });

  describe('once the key is refused', () => {
    const refused = () => new AuthenticationError('The key is not known.', { status: 401 });

    /** A query that is refused until `accept`, and another one that is refreshed manually and always answered. */
    async function refusing(visibleMs: number) {
      const workbench = newWorkbench({ service, poll: { focusedMs: visibleMs, visibleMs } });
      let isAccepted = false;
      const read = vi.fn(async () => {
        if (!isAccepted) throw refused();
        return 'tea';
      });
      const other: LiveQuery<string> = { ...query('other', async () => 'milk'), activity: () => 'settled' };
      const { lastFrame, unmount } = render(
        <WorkbenchProvider workbench={workbench}>
          <ShownService of={query('refused', read)} />
          <ShownService of={other} />
        </WorkbenchProvider>,
      );
      onTestFinished(() => {
        unmount();
        workbench.close();
      });
      await eventually(() => expect(lastFrame()).toBe('- failing The key is not known.\nmilk fresh'));
      // Now the next poll is a minute away.
      for (const _ of [1, 2, 3, 4, 5]) await workbench.cache.refetchQueries({ queryKey: ['refused'] });
      const accept = () => {
        isAccepted = true;
      };
      return { read, lastFrame, accept, askOther: () => workbench.cache.refetchQueries({ queryKey: ['other'] }) };
    }

    it('asks again as soon as the service accepts it for another request', async () => {
      const { lastFrame, accept, askOther } = await refusing(1);
      accept();
      await askOther();
      await eventually(() => expect(lastFrame()).toBe('tea fresh\nmilk fresh'));
    });

    it('asks no more often than usual if only this query is refused', async () => {
      const { read, askOther } = await refusing(60_000);
      await askOther();
      await eventually(() => expect(read.mock.calls.length).toBeGreaterThan(6));
      const before = read.mock.calls.length;
      for (const _ of [1, 2, 3]) await askOther();
      expect(read).toHaveBeenCalledTimes(before);
    });
  });

  describe('while polling is paused', () => {
    beforeEach(() => {
      vi.useFakeTimers({
        toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
      });
    });
    afterEach(() => {
      vi.useRealTimers();
    });
    const intervals = { focusedMs: 1_000, visibleMs: 1_000 };

    async function polling() {
      const workbench = newWorkbench({ service, poll: intervals });
      const read = vi.fn(async () => 'tea');
      const refresh = vi.fn();
      const of = query('paused', read);
      const { unmount, lastFrame } = render(
        <WorkbenchProvider workbench={workbench}>
          <ShownService of={of} />
          <Refreshable of={of} onRefresh={asks => refresh.mockImplementation(asks)} />
        </WorkbenchProvider>,
      );
      onTestFinished(() => {
        unmount();
        workbench.close();
      });
      await vi.advanceTimersByTimeAsync(10_000);
      expect(read.mock.calls.length).toBeGreaterThan(7);
      return { workbench, read, lastFrame, refresh };
    }

    it('sends nothing by itself, and continues afterwards', async () => {
      const { workbench, read, lastFrame, refresh } = await polling();
      workbench.setPaused(true);
      await vi.advanceTimersByTimeAsync(0);
      const asked = read.mock.calls.length;
      await vi.advanceTimersByTimeAsync(600_000);
      expect([read.mock.calls.length, lastFrame()]).toEqual([asked, 'tea paused\ntea false']);
      refresh();
      await vi.advanceTimersByTimeAsync(60_000);
      expect(read.mock.calls.length).toBe(asked + 1);
      workbench.setPaused(false);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(read.mock.calls.length).toBeGreaterThan(asked + 7);
    });

    it('stays fresh if the clock is set back, and nothing waits until it has caught up', async () => {
      const { workbench, read, lastFrame } = await polling();
      const asked = read.mock.calls.length;
      vi.setSystemTime(Date.now() - 3_600_000);
      expect(dueAt(workbench, query('paused', read), 'visible')).toBe(0);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(read.mock.calls.length).toBeGreaterThan(asked + 7);
      expect(lastFrame()).toContain('tea fresh');
      expect(dueAt(workbench, query('paused', read), 'visible')).toBeGreaterThan(Date.now());
    });

    it('is due after its last answer if it failed before the clock was set back, and never once it has ended', async () => {
      const { workbench, read } = await polling();
      const of = query('failed', read);
      read.mockRejectedValueOnce(new Error('the cable is out'));
      await workbench.cache.prefetchQuery(optionsOf(workbench, of));
      const settled: LiveQuery<string> = { ...query('settled', read), activity: () => 'settled' };
      await workbench.cache.prefetchQuery(optionsOf(workbench, settled));
      vi.setSystemTime(Date.now() - 3_600_000);
      expect(dueAt(workbench, of, 'visible')).toBe(0);
      await workbench.cache.prefetchQuery(optionsOf(workbench, of));
      expect(dueAt(workbench, of, 'visible')).toBe(Date.now() + intervals.visibleMs);
      expect(dueAt(workbench, settled, 'visible')).toBeUndefined();
    });

    it('sends nothing while the program is suspended, and one request when it returns', async () => {
      const { workbench, read } = await polling();
      workbench.setSuspended(true);
      const asked = read.mock.calls.length;
      await vi.advanceTimersByTimeAsync(600_000);
      expect(read.mock.calls.length).toBe(asked);
      workbench.setSuspended(false);
      await vi.advanceTimersByTimeAsync(500);
      expect(read.mock.calls.length).toBe(asked + 1);
      workbench.setPaused(true);
      workbench.setSuspended(true);
      await vi.advanceTimersByTimeAsync(60_000);
      workbench.setSuspended(false);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(read.mock.calls.length).toBe(asked + 1);
    });
  });

  it('asks again for what the service did not offer when the user refreshes', async () => {
    const missing = refusal(404, 'invalid_request_error', 'resource_not_found');
    const server = await hostileServer(missing, json({ items: [], has_more: false }));
    const live = serviceAt(server.url).service;
    const workbench = newWorkbench({ service: async () => live });
    const optional: LiveQuery<string> = {
      ...query('optional', async () => 'unused'),
      read: async ({ service: asked, signal }) =>
        `${(await asked.call('listDeployments', {}, { signal })).items.length}`,
    };
    let refresh = () => {};
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Refreshable
          of={optional}
          onRefresh={asks => {
            refresh = asks;
          }}
        />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toBe('- true'));
    refresh();
    await eventually(() => expect(lastFrame()).toBe('0 false'));
    unmount();
    workbench.close();
  });
});

it('redraws each reader of the last answer to a query, once it has arrived', async () => {
  const workbench = newWorkbench({ service });
  const of = query('readiness', async () => 'ready');
  function Looking() {
    const lastAnswer = useLastAnswer();
    return <Text>{lastAnswer(of) ?? 'unknown'}</Text>;
  }
  const { lastFrame, unmount } = render(
    <WorkbenchProvider workbench={workbench}>
      <Looking />
    </WorkbenchProvider>,
  );
  onTestFinished(() => {
    unmount();
    workbench.close();
  });
  expect(lastFrame()).toBe('unknown');
  await workbench.cache.prefetchQuery(optionsOf(workbench, of));
  await eventually(() => expect(lastFrame()).toBe('ready'));
});
