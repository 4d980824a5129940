/** What is asked of the service, and when: counted, with a service that answers from memory. */
import { Text } from 'ink';
import { render } from 'ink-testing-library';
import { describe, expect, it, vi } from 'vitest';
import { type LiveQuery, useLive } from '../../src/queries/use-live.ts';
import { Workbench, WorkbenchProvider } from '../../src/queries/workbench.tsx';
import { RateLimitError } from '../../src/service/errors.ts';
import type { Service } from '../../src/service/index.ts';
import { eventually } from '../eventually.ts';

const service = async () => ({}) as Service;

function query(key: string, read: () => Promise<string>): LiveQuery<string> {
  return { key: [key], activity: () => 'open', read };
}

function Shown({ of }: { of: LiveQuery<string> }) {
  const { data, freshness, fault } = useLive(of, 'focused');
  return <Text>{`${data ?? '-'} ${freshness.kind} ${fault?.message ?? ''}`}</Text>;
}

describe('useLive', () => {
  it('asks once for what several show', async () => {
    const read = vi.fn(async () => 'tea');
    const workbench = new Workbench({ service, profile: 'test' });
    const shared = query('shared', read);
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Shown of={shared} />
        <Shown of={shared} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toBe('tea fresh\ntea fresh'));
    expect(read).toHaveBeenCalledTimes(1);
    unmount();
    workbench.close();
  });

  it('keeps what it has while asking fails, and says so', async () => {
    let fails = false;
    const workbench = new Workbench({ service, profile: 'test' });
    const moody = query('moody', async () => {
      if (fails) throw new Error('the cable is out');
      return 'tea';
    });
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Shown of={moody} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toContain('tea fresh'));
    fails = true;
    await workbench.cache.invalidateQueries({ queryKey: ['moody'] });
    await eventually(() => expect(lastFrame()).toBe('tea failing the cable is out'));
    unmount();
    workbench.close();
  });

  it('leaves a service alone that asks for it, with every query', async () => {
    const workbench = new Workbench({ service, profile: 'test' });
    const limited = query('limited', async () => {
      throw new RateLimitError('slow down', { retryAfterMs: 30_000 });
    });
    const other = vi.fn(async () => 'tea');
    const first = render(
      <WorkbenchProvider workbench={workbench}>
        <Shown of={limited} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(first.lastFrame()).toContain('failing slow down'));
    const second = render(
      <WorkbenchProvider workbench={workbench}>
        <Shown of={query('other', other)} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(second.lastFrame()).toContain('loading'));
    expect(workbench.rest.remaining()).toBeGreaterThan(20_000);
    expect(other).not.toHaveBeenCalled();
    first.unmount();
    second.unmount();
    workbench.close();
  });

  it('asks nothing by itself while paused', async () => {
    const workbench = new Workbench({ service, profile: 'test' });
    const { lastFrame, unmount } = render(
      <WorkbenchProvider workbench={workbench}>
        <Shown of={query('paused', async () => 'tea')} />
      </WorkbenchProvider>,
    );
    await eventually(() => expect(lastFrame()).toContain('fresh'));
    workbench.setPaused(true);
    await eventually(() => expect(lastFrame()).toContain('paused'));
    unmount();
    workbench.close();
  });
});
