/** The columns of the inbox, as filters and sorting see them. */
import { expect, it } from 'vitest';
import { inboxColumns } from '../../src/resources/inbox.ts';
import type { InboxEvent } from '../../src/workbench/inbox.ts';

it('has times that can be compared: an instant, and how long it took', () => {
  const at = Date.parse('2026-03-04T06:00:00Z');
  const detail = { status: 'failed', startedAt: '2026-03-04T05:30:00Z' };
  const event: InboxEvent = { kind: 'run', id: 'a', label: 'a', what: 'end', at, isExact: true, detail };
  const columns = inboxColumns([0, 1]);
  const [time, took] = ['time', 'took'].map(id => columns.find(column => column.id === id));
  expect(time).toMatchObject({ isTime: true });
  expect(time?.value(event)).toBe(at);
  expect(took?.value(event)).toBe(30 * 60_000);
  expect(took?.text?.(event)).toBe('30m');
});
