import { expect, it } from 'vitest';
import { processIo } from '../../src/commands/io.ts';

it('adds one listener per signal, however many resources are followed', () => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  const before = signals.map(name => process.listenerCount(name));
  const { stopOnSignals } = processIo(false);
  for (let followed = 0; followed < 12; followed += 1) stopOnSignals?.();
  expect(signals.map((name, index) => process.listenerCount(name) - (before[index] ?? 0))).toEqual([1, 1, 1, 1]);
  for (const name of signals) {
    const [listener] = process.listeners(name).slice(-1);
    if (listener) process.off(name, listener);
  }
});
