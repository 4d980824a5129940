/** The one connection that all callers share, on a service that ends, moves, hangs and comes back. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Target } from '../../src/service/options.ts';
import {
  type EndReason,
  type LocatedService,
  type LocateReason,
  SupervisedConnection,
  type SupervisedService,
} from '../../src/service/supervisor.ts';

const anySignal = new AbortController().signal;

/** A service whose starts end when the test says so. */
class FakeService implements SupervisedService {
  readonly moments: LocateReason[] = [];
  readonly held: Target[] = [];
  silent = false;
  checks = 0;
  /** Ends the hold that was taken last. */
  say: (farewell: EndReason) => void = () => {};
  released = 0;
  #starts: PromiseWithResolvers<LocatedService>[] = [];

  ensure = (reason: LocateReason, signal: AbortSignal): Promise<LocatedService> => {
    this.moments.push(reason);
    const start = Promise.withResolvers<LocatedService>();
    signal.addEventListener('abort', () => start.reject(signal.reason));
    this.#starts.push(start);
    return start.promise;
  };

  hold = (target: Target, onEnd: (farewell: EndReason) => void): (() => void) => {
    this.held.push(target);
    this.say = onEnd;
    return () => {
      this.released += 1;
    };
  };

  /** Called while it is checked. */
  whileChecked = (): void => {};

  isSilent = async (): Promise<boolean> => {
    this.checks += 1;
    this.whileChecked();
    return this.silent;
  };

  /** The start that is under way succeeds, on this port. */
  async comesUp(port: number, { id = `instance ${port}`, note }: { id?: string; note?: string } = {}): Promise<void> {
    this.#starts.shift()?.resolve({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key', id, note });
    await settled();
  }

  async fails(message: string): Promise<void> {
    this.#starts.shift()?.reject(new Error(message));
    await settled();
  }
}

const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

let service: FakeService;
let connection: SupervisedConnection;
beforeEach(() => {
  vi.useFakeTimers();
  service = new FakeService();
  connection = new SupervisedConnection(service, 'start');
});
afterEach(() => {
  connection.close();
  vi.useRealTimers();
});

it('lets callers send their requests before it takes a lease and reports the connection', async () => {
  const located = connection.locate(anySignal).then(() => [service.held.length, connection.state.kind]);
  await service.comesUp(4_001);
  await expect(located).resolves.toEqual([0, 'starting']);
  expect([service.held.length, connection.state.kind]).toEqual([1, 'connected']);
});

it('knows the address once the service was found', async () => {
  expect(connection.baseUrl).toBeUndefined();
  const located = connection.locate(anySignal);
  await service.comesUp(4_001);
  await located;
  expect(connection.baseUrl).toBe('http://127.0.0.1:4001');
});

async function connected(port = 1): Promise<Target> {
  const located = connection.locate(anySignal);
  await service.comesUp(port);
  return located;
}

describe('finding the service', () => {
  it('happens once for all callers', async () => {
    const callers = Array.from({ length: 50 }, () => connection.locate(anySignal));
    expect(connection.state.kind).toBe('starting');
    await service.comesUp(7);
    expect(new Set((await Promise.all(callers)).map(({ baseUrl }) => baseUrl))).toEqual(
      new Set(['http://127.0.0.1:7']),
    );
    expect(service.moments).toEqual(['start']);
    expect(connection.state).toEqual({ kind: 'connected', generation: 1, note: undefined });
  });

  it('releases a caller that no longer wants an answer, and no other', async () => {
    const leaving = new AbortController();
    const left = connection.locate(leaving.signal);
    const stays = connection.locate(anySignal);
    leaving.abort(new Error('no longer wanted'));
    await expect(left).rejects.toThrow('no longer wanted');
    await service.comesUp(7);
    await expect(stays).resolves.toMatchObject({ baseUrl: 'http://127.0.0.1:7' });
    expect(service.moments).toHaveLength(1);
  });
});

describe('a lost service', () => {
  it('is released once another one is leased', async () => {
    const lost = await connected(1);
    const recovered = connection.recover(lost, anySignal);
    await service.comesUp(2);
    expect([await recovered, service.held.length, service.released]).toEqual([true, 2, 1]);
  });

  it('is restarted once, however many requests it was lost to', async () => {
    const lost = await connected(1);
    const recoveries = Array.from({ length: 20 }, () => connection.recover(lost, anySignal));
    expect(connection.state.kind).toBe('restarting');
    await service.comesUp(2);
    expect(await Promise.all(recoveries)).toEqual(Array(20).fill(true));
    expect(service.moments).toEqual(['start', 'lost']);
    expect(connection.state).toMatchObject({ kind: 'connected', generation: 2 });
    // A request that was lost to the first one comes late: it has moved since.
    expect(await connection.recover(lost, anySignal)).toBe(true);
    expect(service.moments).toHaveLength(2);
  });

  it('is not a new generation if the same process answers again', async () => {
    const lost = await connected(1);
    const recovery = connection.recover(lost, anySignal);
    await service.comesUp(1);
    expect(await recovery).toBe(true);
    expect(connection.state).toMatchObject({ generation: 1 });
  });

  it('is restarted before any request asks for it', async () => {
    await connected(1);
    await vi.advanceTimersByTimeAsync(5_000);
    service.say('lost');
    expect(connection.state.kind).toBe('restarting');
    await service.comesUp(2);
    expect(service.moments).toEqual(['start', 'lost']);
    expect(service.held.map(({ baseUrl }) => baseUrl)).toEqual(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
  });

  it('is looked for at once if it said that another takes its place', async () => {
    await connected(1);
    service.say('replaced');
    expect(service.moments).toEqual(['start', 'lost']);
    await service.comesUp(2, { note: 'It has other settings.' });
    expect(connection.state).toEqual({ kind: 'connected', generation: 2, note: 'It has other settings.' });
  });

  it('stays stopped if a user stopped it, until the next request', async () => {
    await connected(1);
    service.say('stopped');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connection.state.kind).toBe('stopped');
    expect(service.moments).toEqual(['start']);
    const located = connection.locate(anySignal);
    await service.comesUp(2);
    await expect(located).resolves.toMatchObject({ baseUrl: 'http://127.0.0.1:2' });
    expect(service.moments).toEqual(['start', 'lost']);
  });

  it('is not leased in a loop if each lease ends at once', async () => {
    await connected(1);
    for (let round = 0; round < 5; round += 1) {
      service.say('lost');
      await vi.advanceTimersByTimeAsync(1_000);
      await service.comesUp(1);
    }
    // One attempt a second, and not one after the other.
    expect(service.moments).toHaveLength(6);
    service.say('lost');
    await vi.advanceTimersByTimeAsync(900);
    expect(service.moments).toHaveLength(6);
    // An answer to an earlier request does not stop it.
    await vi.advanceTimersByTimeAsync(100);
    await service.comesUp(1);
    await connection.locate(anySignal);
    service.say('lost');
    connection.answered();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(service.moments).toHaveLength(8);
  });

  it('is looked for at once if its lease lasted a second', async () => {
    await connected(1);
    await vi.advanceTimersByTimeAsync(1_000);
    service.say('lost');
    expect(service.moments).toEqual(['start', 'lost']);
  });
});

describe('a service that fails to start', () => {
  const failed = async (message = 'It ended with code 1.'): Promise<void> => {
    const located = connection.locate(anySignal);
    const refused = expect(located).rejects.toThrow(message);
    await service.fails(message);
    await refused;
  };

  it('is reported, and retried at growing intervals, forever', async () => {
    for (const [asked, rest] of [1_000, 2_000, 4_000, 8_000, 15_000, 15_000].entries()) {
      await failed('The disk is full.');
      expect(connection.state).toMatchObject({ kind: 'failed', message: 'The disk is full.' });
      // Until then the same error is returned at once, without starting another process.
      await vi.advanceTimersByTimeAsync(rest - 1);
      await expect(connection.locate(anySignal)).rejects.toThrow('The disk is full.');
      expect(service.moments).toHaveLength(asked + 1);
      // Then it is tried again without a caller, whose next poll may be a minute away (B10).
      await vi.advanceTimersByTimeAsync(1);
      expect(service.moments).toHaveLength(asked + 2);
    }
    const located = connection.locate(anySignal);
    await service.comesUp(3);
    await expect(located).resolves.toMatchObject({ baseUrl: 'http://127.0.0.1:3' });
    expect(connection.state.kind).toBe('connected');
  });

  it('is retried after the pause, even if the clock was set back meanwhile', async () => {
    await expect(Promise.all([connection.locate(anySignal), service.fails('No room.')])).rejects.toThrow('No room.');
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(1_000);
    const located = connection.locate(anySignal);
    expect(service.moments).toHaveLength(2);
    await service.comesUp(1);
    await expect(located).resolves.toMatchObject({ baseUrl: 'http://127.0.0.1:1' });
  });

  it('is tried again at once when the user asks for it', async () => {
    await failed();
    connection.retry();
    expect(service.moments).toHaveLength(2);
    const located = connection.locate(anySignal);
    connection.retry();
    await service.comesUp(3);
    await located;
    expect(service.moments).toHaveLength(2);
  });

  it('is replaced only in the first attempt', async () => {
    await failed();
    await vi.advanceTimersByTimeAsync(60_000);
    await failed();
    expect(service.moments).toEqual(['start', 'lost']);
  });
});

describe('a service that hangs', () => {
  it('is busy, not silent, if it answers something while it is checked', async () => {
    await connected();
    const said: string[] = [];
    connection.subscribe(() => said.push(connection.state.kind));
    service.silent = true;
    service.whileChecked = () => connection.answered();
    await connection.locate(anySignal);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([service.checks, said]).toEqual([1, []]);
  });

  it('is reported as silent while a request waits for it, and found when it answers again', async () => {
    const target = await connected(1);
    service.silent = true;
    expect(await connection.locate(anySignal)).toBe(target);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(connection.state.kind).toBe('silent');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(service.checks).toBe(6);
    service.silent = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(connection.state).toMatchObject({ kind: 'connected', generation: 1 });
  });

  it('is looked for again if that could not be determined', async () => {
    await connected(1);
    service.isSilent = async () => {
      service.checks += 1;
      if (service.checks === 1) throw new Error('Cannot find module client.js');
      return true;
    };
    await connection.locate(anySignal);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(connection.state.kind).toBe('connected');
    await vi.advanceTimersByTimeAsync(1_000);
    expect([service.checks, connection.state.kind]).toEqual([2, 'silent']);
  });

  it('is found by the answer itself if that comes first', async () => {
    await connected(1);
    service.silent = true;
    await connection.locate(anySignal);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(connection.state.kind).toBe('silent');
    connection.answered();
    expect(connection.state.kind).toBe('connected');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(service.checks).toBe(1);
  });

  it('is not checked while its answers arrive, or nothing is requested', async () => {
    await connected(1);
    for (let request = 0; request < 100; request += 1) {
      await connection.locate(anySignal);
      await vi.advanceTimersByTimeAsync(900);
      connection.answered();
    }
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(service.checks).toBe(0);
  });
});

describe('closing', () => {
  it('asks for no service that does not exist', () => {
    connection.close();
    expect(service.moments).toEqual([]);
  });

  it('ends the wait for a service that is starting', async () => {
    const located = connection.locate(anySignal);
    const refused = expect(located).rejects.toThrow('closed');
    connection.close();
    await refused;
  });

  it('releases the service, and starts none for late callers', async () => {
    const target = await connected(1);
    connection.close();
    expect(service.released).toBe(1);
    await expect(connection.locate(anySignal)).rejects.toThrow('closed');
    expect(await connection.recover(target, anySignal)).toBe(false);
    expect(service.moments).toEqual(['start']);
  });
});

describe('a single command', () => {
  it('takes no lease', async () => {
    const command = new SupervisedConnection(service, 'command');
    const located = command.locate(anySignal);
    await service.comesUp(1);
    await located;
    expect(service.moments).toEqual(['command']);
    expect(service.held).toEqual([]);
    command.close();
  });
});
