/** The gate of a host: the waits of its calls, on a manual clock. */
import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Gates, type Passage, RateLimitGate } from '../../src/service/gate.ts';
import { flush, type ManualClock, manualClock } from './manual-clock.ts';

const forever = Number.POSITIVE_INFINITY;

/** Fails one operation after the other. */
const failEach = (gate: RateLimitGate, operations = ['a', 'b', 'c']): void => {
  for (const operation of operations) gate.failed(operation);
};

/** A gate, and a function that sends named callers through it and records who has passed. */
function gateOn(clock: ManualClock = manualClock()) {
  const gate = new RateLimitGate(clock);
  const through: string[] = [];
  const send = (name: string, passage: Partial<Passage> = {}) => {
    const { signal } = new AbortController();
    const passed = gate.pass({ signal, endsAt: forever, background: false, ...passage });
    void passed.then(go => through.push(go ? name : `${name} is too late`));
  };
  return { gate, clock, through, send };
}

describe('an open gate', () => {
  it('lets everything pass at once', async () => {
    const { through, send } = gateOn();
    for (const name of ['a', 'b', 'c']) send(name);
    await flush();
    expect(through).toEqual(['a', 'b', 'c']);
  });

  it('stays open after failures of one operation, or of several with a success in between', () => {
    const { gate } = gateOn();
    for (let round = 0; round < 5; round += 1) {
      failEach(gate, ['a', 'a', 'a', 'b', 'a']);
      expect(gate.state()).toEqual({ kind: 'open' });
      gate.answered();
    }
  });
});

it('wakes nobody if nobody waits', () => {
  const abort = vi.spyOn(AbortController.prototype, 'abort');
  onTestFinished(() => abort.mockRestore());
  const { gate } = gateOn();
  gate.succeeded();
  gate.restarted();
  expect(abort).not.toHaveBeenCalled();
});

it('leaves no listener on the signal of a caller that has passed, or was too late', async () => {
  const { gate, clock, through, send } = gateOn();
  const { signal } = new AbortController();
  gate.limit(1_000);
  send('a', { signal });
  send('b', { signal, endsAt: clock.monotonic() + 10 });
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await clock.advance(2_000);
  expect(through.toSorted()).toEqual(['a', 'b is too late']);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('lets calls that no longer wait pass when it has just opened', async () => {
  const { gate, clock, through, send } = gateOn();
  gate.limit(1_000);
  const opens = clock.monotonic() + gate.remaining();
  await clock.advance(1_000);
  send('a', { endsAt: opens });
  await flush();
  expect(through).toEqual(['a']);
});

it('releases calls at once that would wait in vain if it closes for longer', async () => {
  const { gate, clock, through, send } = gateOn();
  gate.limit(1_000);
  send('a', { endsAt: clock.monotonic() + 5_000 });
  send('b', { endsAt: clock.monotonic() + 5_001 });
  gate.limit(5_000);
  await flush();
  expect(through).toEqual(['a is too late']);
  await clock.advance(5_000);
  expect(through).toEqual(['a is too late', 'b']);
});

describe('a failing host', () => {
  it('stays failing after the wait, until it answers', async () => {
    const { gate, clock } = gateOn();
    failEach(gate);
    expect(gate.state()).toMatchObject({ kind: 'limited', reason: 'failing' });
    await clock.advance(60_000);
    expect(gate.state()).toEqual({ kind: 'open', failing: true });
    gate.succeeded();
    expect(gate.state()).toEqual({ kind: 'open' });
  });

  it('is failing once it is unreachable, but blocks nothing', async () => {
    const { gate, through, send } = gateOn();
    gate.unreachable();
    expect(gate.state()).toEqual({ kind: 'open', failing: true });
    send('a');
    await flush();
    expect(through).toEqual(['a']);
    gate.restarted();
    expect(gate.state()).toEqual({ kind: 'open' });
  });
});

describe('a gate closed by a rate limit', () => {
  it('holds everything for as long as the host asked', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(12_000);
    for (const name of ['a', 'b']) send(name);
    await clock.advance(11_999);
    expect(through).toEqual([]);
    await clock.advance(1);
    expect(through).toEqual(['a']);
  });

  it.each([
    [0, 45_000],
    [0.5, 52_500],
    [1 - Number.EPSILON, 60_000],
  ])(
    'opens for polls after a minute at most, less a random share (%d), if the host asks for longer',
    async (random, ms) => {
      const { gate, clock, through, send } = gateOn({ ...manualClock(), random: () => random });
      gate.limit(3_600_000);
      const [until, requestedUntil] = [clock.now() + ms, clock.now() + 3_600_000];
      expect(gate.state()).toEqual({ kind: 'limited', reason: 'rate_limit', until, requestedUntil });
      send('poll', { background: true });
      await clock.advance(ms - 1);
      expect(through).toEqual([]);
      await clock.advance(1);
      expect(through).toEqual(['poll']);
      gate.limit(2_000);
      expect(gate.state()).toEqual({ kind: 'limited', reason: 'rate_limit', until: clock.now() + 2_000 });
    },
  );

  it('also says what the host asks for if another request must wait as long as the gate stays closed', () => {
    const { gate, clock } = gateOn();
    gate.limit(59_000);
    gate.limit(3_600_000);
    const [until, requestedUntil] = [clock.now() + 59_000, clock.now() + 3_600_000];
    expect(gate.state()).toEqual({ kind: 'limited', reason: 'rate_limit', until, requestedUntil });
  });

  it('reports a longer wait only if the host asks for one, as time passes (B6)', () => {
    let reads = 0;
    const passing = { ...manualClock(), monotonic: () => (reads += 1) };
    const failing = new RateLimitGate(passing);
    failEach(failing);
    const limited = new RateLimitGate(passing);
    limited.limit(undefined);
    const asked = new RateLimitGate(passing);
    asked.limit(3_000);
    for (const gate of [failing, limited, asked]) expect(gate.state()).not.toHaveProperty('requestedUntil');
  });

  it('opens for one request at once if the user asks for it, and for the others once that is answered', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(3_600_000);
    for (const name of ['a', 'b', 'c']) send(name, { background: true });
    gate.tryNow();
    gate.tryNow();
    await clock.advance(5_000);
    expect(through).toEqual(['a']);
    gate.limit(3_595_000);
    await clock.advance(5_000);
    expect(through).toEqual(['a']);
    gate.tryNow();
    await flush();
    expect(through).toEqual(['a', 'b']);
    gate.succeeded();
    await flush();
    expect(through).toEqual(['a', 'b', 'c']);
    expect([gate.state(), gate.requested()]).toEqual([{ kind: 'open' }, 0]);
  });

  it('is never opened early by a shorter limit', () => {
    const { gate } = gateOn();
    gate.limit(10_000);
    gate.limit(1_000);
    expect(gate.remaining()).toBe(10_000);
  });

  it('is unaffected by changes of the system clock', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(5_000);
    send('a');
    clock.set(clock.now() + 86_400_000);
    await clock.advance(4_999);
    expect(through).toEqual([]);
    clock.set(0);
    await clock.advance(1);
    expect(through).toEqual(['a']);
  });

  it('backs off by itself, longer each time, if the host gives no time', () => {
    const { gate } = gateOn();
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      gate.limit(undefined);
      waits.push(gate.remaining());
    }
    expect(waits).toEqual([438, 875, 1_750, 3_500, 7_000, 7_000]);
  });
});

describe('when it opens', () => {
  it('lets the next one pass after a success', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    for (const name of ['a', 'b', 'c']) send(name);
    await clock.advance(1_000);
    expect(through).toEqual(['a']);
    gate.succeeded();
    await flush();
    expect(through).toEqual(['a', 'b']);
    gate.answered();
    await flush();
    expect(through).toEqual(['a', 'b', 'c']);
  });

  it('lets nobody follow the first one while its answer is pending, for up to 10 s', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    for (const name of ['a', 'b', 'c']) send(name);
    await clock.advance(10_999);
    expect(through).toEqual(['a']);
    await clock.advance(1);
    expect(through).toEqual(['a', 'b']);
    await clock.advance(100);
    expect(through).toEqual(['a', 'b', 'c']);
  });

  it.each(['abandoned', 'unreachable'] as const)('lets the next one try at once if the first one is %s', async how => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    for (const name of ['a', 'b', 'c']) send(name);
    await clock.advance(1_000);
    gate[how]();
    await clock.advance(5_000);
    expect(through).toEqual(['a', 'b']);
  });

  it.each([
    [0, 75],
    [0.5, 100],
  ])('lets the others pass one by one, spread by a random share (%d), if the first one fails', async (random, ms) => {
    const { gate, clock, through, send } = gateOn({ ...manualClock(), random: () => random });
    gate.limit(1_000);
    for (const name of ['a', 'b', 'c']) send(name);
    await clock.advance(1_000);
    gate.failed('operation');
    await clock.advance(100);
    expect(through).toEqual(['a', 'b']);
    await clock.advance(ms - 1);
    expect(through).toEqual(['a', 'b']);
    await clock.advance(1);
    expect(through).toEqual(['a', 'b', 'c']);
  });

  it('closes for all of them again when the first one hits the limit again', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    for (const name of ['a', 'b', 'c']) send(name);
    await clock.advance(1_000);
    gate.limit(5_000);
    await clock.advance(4_999);
    expect(through).toEqual(['a']);
    await clock.advance(1);
    expect(through).toEqual(['a', 'b']);
  });

  it('queues later ones at the end', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    for (const name of ['a', 'b']) send(name);
    await clock.advance(1_000);
    send('late');
    await flush();
    expect(through).toEqual(['a']);
    gate.succeeded();
    await flush();
    gate.succeeded();
    await flush();
    expect(through).toEqual(['a', 'b', 'late']);
  });

  it('lets what the user waits for pass before polls', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    send('poll 1', { background: true });
    send('poll 2', { background: true });
    send('action 1');
    send('action 2');
    for (let step = 0; step < 20; step += 1) {
      await clock.advance(100);
      if (through.length > 0) gate.succeeded();
    }
    expect(through).toEqual(['action 1', 'action 2', 'poll 1', 'poll 2']);
  });

  it('lets them pass one by one even if an earlier request succeeded while it was closed', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    gate.succeeded();
    for (const name of ['a', 'b', 'c']) send(name);
    await clock.advance(1_100);
    expect(through).toEqual(['a']);
    gate.succeeded();
    await flush();
    expect(through).toEqual(['a', 'b']);
    await clock.advance(100);
    expect(through).toEqual(['a', 'b', 'c']);
  });

  it('lets requests pass one by one until one succeeds', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(1_000);
    await clock.advance(1_000);
    send('a');
    send('b');
    await flush();
    expect(through).toEqual(['a']);
    gate.succeeded();
    await flush();
    gate.succeeded();
    for (const name of ['c', 'd']) send(name);
    await flush();
    expect(through).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('a waiting call', () => {
  it('leaves the queue when it is no longer needed', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(10_000);
    const controller = new AbortController();
    send('a', { signal: controller.signal });
    send('b');
    controller.abort();
    await flush();
    // It returns at once, and its signal tells it not to send anything.
    expect(through).toEqual(['a']);
    await clock.advance(10_000);
    expect(through).toEqual(['a', 'b']);
  });

  it('waits longer than a minute only for polls: nobody waits in silence (B3)', async () => {
    const { gate, through, send } = gateOn();
    gate.limit(60_000);
    send('waits');
    gate.limit(61_000);
    send('comes later');
    send('poll', { background: true });
    await flush();
    expect(through).toEqual(['waits is too late', 'comes later is too late']);
  });

  it('is rejected if it would end before the gate opens', async () => {
    const { gate, clock, through, send } = gateOn();
    gate.limit(10_000);
    send('a', { endsAt: 9_000 });
    send('b', { endsAt: 15_000 });
    await flush();
    expect(through).toEqual(['a is too late']);
    await clock.advance(2_000);
    gate.limit(30_000);
    await flush();
    expect(through).toEqual(['a is too late', 'b is too late']);
  });
});

describe('a host with several failing operations in a row', () => {
  it('gets a pause, longer with each failure, and none after a success', async () => {
    const { gate, clock } = gateOn();
    const waits: number[] = [];
    for (const operation of ['a', 'b', 'c', 'a', 'a', 'd', 'b', 'a', 'a']) {
      gate.failed(operation);
      waits.push(gate.remaining());
      await clock.advance(gate.remaining());
    }
    expect(waits).toEqual([0, 0, 438, 875, 1_750, 3_500, 7_000, 7_000, 7_000]);
    gate.answered();
    failEach(gate, ['a', 'b']);
    expect(gate.remaining()).toBe(0);
  });
});

it('a host whose service was restarted is asked at once, unless under a rate limit', async () => {
  const { gate, through, send } = gateOn();
  failEach(gate);
  send('a');
  gate.restarted();
  await flush();
  expect(through).toEqual(['a']);
  gate.limit(1_000);
  gate.restarted();
  expect(gate.remaining()).toBe(1_000);
});

describe('the gate on screen', () => {
  it('opens when the service behind it is restarted', () => {
    const gates = new Gates(manualClock());
    const gate = gates.of('service.example');
    let calls = 0;
    gates
      .monitor(() => 'service.example')
      .subscribe(() => {
        calls += 1;
      });
    failEach(gate);
    expect([gate.state().kind, calls]).toEqual(['limited', 1]);
    gate.restarted();
    expect([gate.state().kind, calls]).toEqual(['open', 2]);
    gate.restarted();
    expect(calls).toBe(2);
  });

  it('shows why it is closed, until when, and that it has opened', async () => {
    const clock = manualClock();
    const gates = new Gates(clock);
    const monitor = gates.monitor(() => 'service.example');
    let calls = 0;
    const stop = monitor.subscribe(() => {
      calls += 1;
    });
    const limited = { kind: 'limited', reason: 'rate_limit', until: clock.now() + 12_000 };
    gates.of('service.example').limit(12_000);
    expect(monitor.state()).toEqual(limited);
    expect(monitor.state()).toBe(monitor.state());
    expect(calls).toBe(1);
    await clock.advance(12_000);
    expect(monitor.state()).toEqual({ kind: 'open' });
    stop();
    gates.of('service.example').limit(1_000);
    expect(calls).toBe(1);
  });

  it('is separate for each host', () => {
    const gates = new Gates(manualClock());
    gates.of('storage.example').limit(1_000);
    expect(gates.monitor(() => 'service.example').state()).toEqual({ kind: 'open' });
  });
});
