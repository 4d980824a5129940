import { expect, it } from 'vitest';
import { Listeners } from '../../src/base/listeners.ts';

it('calls every listener with each event, until it unsubscribes', () => {
  const listeners = new Listeners<number>();
  const heard: string[] = [];
  const stopFirst = listeners.subscribe(event => heard.push(`first ${event}`));
  listeners.subscribe(event => heard.push(`second ${event}`));
  listeners.notify(1);
  stopFirst();
  listeners.notify(2);
  expect(heard).toEqual(['first 1', 'second 1', 'second 2']);
  expect(listeners.size).toBe(1);
});

it('lets a listener unsubscribe while it is called', () => {
  const listeners = new Listeners();
  const heard: string[] = [];
  const stop = listeners.subscribe(() => {
    heard.push('once');
    stop();
  });
  listeners.subscribe(() => heard.push('always'));
  listeners.notify();
  listeners.notify();
  expect(heard).toEqual(['once', 'always', 'always']);
});
