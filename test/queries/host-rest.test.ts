import { describe, expect, it } from 'vitest';
import { HostRest } from '../../src/queries/host-rest.ts';

describe('HostRest', () => {
  it('holds for as long as the service asked, at most a minute, and is never shortened', () => {
    const rest = new HostRest();
    expect(rest.remaining(0)).toBe(0);
    rest.ask(10_000, 0);
    rest.ask(2_000, 1_000);
    expect(rest.remaining(1_000)).toBe(9_000);
    rest.ask(3_600_000, 1_000);
    expect(rest.remaining(1_000)).toBe(60_000);
    expect(rest.remaining(61_000)).toBe(0);
  });

  it('lets nobody through before it is over, and everybody after', async () => {
    const rest = new HostRest();
    rest.ask(40);
    const { signal } = new AbortController();
    await Promise.all([rest.over(signal), rest.over(signal)]);
    expect(rest.remaining()).toBe(0);
  });

  it('gives up waiting when nobody wants the answer any more', async () => {
    const rest = new HostRest();
    rest.ask(60_000);
    const left = new AbortController();
    const waiting = rest.over(left.signal);
    left.abort();
    await expect(waiting).rejects.toThrow();
  });
});
