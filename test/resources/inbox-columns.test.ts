/** The columns of the inbox, as filters and sorting see them. */
import { expect, it } from 'vitest';
import { fitColumns } from '../../src/present/column.ts';
import { heldOutMeans } from '../../src/queries/held-out.ts';
import { describeEvent, eventFields, inboxColumns, numbersOf } from '../../src/resources/inbox.ts';
import type { InboxEvent } from '../../src/workbench/inbox.ts';

it('has times to compare: an instant, and a duration', () => {
  const at = Date.parse('2026-03-04T06:00:00Z');
  const detail = { status: 'failed', startedAt: '2026-03-04T05:30:00Z', endTime: '2026-03-04T06:00:00Z' };
  const event: InboxEvent = { kind: 'run', id: 'a', label: 'a', what: 'end', at, isExact: true, detail };
  const columns = inboxColumns([0, 1], () => '');
  const [time, took] = ['time', 'took'].map(id => columns.find(column => column.id === id));
  expect(time).toMatchObject({ time: 'instant' });
  expect(time?.value(event)).toBe(at);
  expect(took?.value(event)).toBe(30 * 60_000);
  expect(took?.text?.(event)).toBe('30m');
});

it('counts rollouts reported only in the list for an evaluation with all its rewards (out32 C11)', () => {
  const of = (detail: InboxEvent['detail']) =>
    numbersOf({ kind: 'run', id: 'a', label: 'a', what: 'evaluation range', at: 0, isExact: true, detail });
  const listed = { status: 'completed', mean: 0.7, total: 20 };
  expect(of({ ...listed, graded: 20 })).toBe('mean 0.700; 20 of 20');
  expect(of({ ...listed, graded: 20 })).toBe(of({ ...listed, graded: 20, done: 20 }));
  expect(of({ ...listed, graded: 7 })).not.toContain('7 of 20');
});

it('shows the duration of a run that nobody saw leave the queue, with its time there (C5)', () => {
  const at = Date.parse('2026-03-04T06:00:00Z');
  const detail = { status: 'succeeded', startedAt: '2026-03-04T05:30:00Z', endTime: '2026-03-04T06:00:00Z' };
  const of = (beganAt?: number | null) => {
    const event = { kind: 'training', id: 'a', label: 'a', what: 'end', at, isExact: true } as const;
    return describeEvent({ ...event, detail: { ...detail, ...(beganAt !== undefined && { beganAt }) } });
  };
  expect(of(null)).toBe('succeeded, after 30m including the queue');
  expect(of(at - 20 * 60_000)).toBe('succeeded, after 20m');
  expect(of()).toBe('succeeded, after 30m');
});

it('shows the reason or the numbers at 60 columns', () => {
  const detail = { alarm: 'no new step for more than 5m', since: 0 };
  const label = 'a-name-that-is-longer-than-there-is-room-for-it';
  const event: InboxEvent = { kind: 'training', id: 'a', label, what: 'stall', at: 0, isExact: false, detail };
  const shown = fitColumns(
    inboxColumns([0, 1], () => '• ', undefined, true),
    56,
    {},
    [event],
  );
  expect(shown.map(({ column }) => column.id)).toEqual(['label', 'event', 'time', 'reason']);
});

it('shows a held-out reward with its interval and step, and leaves the rest to facts and filters', () => {
  const rounds = [5, 10].map(step => ({
    step,
    held_out_reward: 5 / step,
    completed_samples: 40,
    expected_samples: 40,
  }));
  const measured = heldOutMeans(rounds);
  const detail = { status: 'succeeded', done: 10, total: 10, ...(measured && { measured }) };
  const event: InboxEvent = { kind: 'training', id: 'a', label: 'a', what: 'end', at: 0, isExact: true, detail };
  const reason = inboxColumns([0, 1], () => '').find(({ id }) => id === 'reason');
  expect(reason?.text?.(event)).toMatch(
    /^held-out 0\.500 \(0\.\d+\.\.0\.\d+\) at step 10; best 1\.00 at step 5; 10 of 10 steps$/,
  );
  expect(reason?.value(event)).toContain('from 40 samples');
});

it('says that a newer held-out reward may follow, to programs too', () => {
  const measured = heldOutMeans([{ step: 5, held_out_reward: 0.5, completed_samples: 9, expected_samples: 9 }]);
  const point = { step: 5, reward: 0.5, samples: 9 };
  const of = (isOld?: boolean) => {
    const last = measured && { ...measured.last, isOld };
    const detail = { status: 'succeeded', ...(measured && last && { measured: { ...measured, last } }) };
    const event: InboxEvent = { kind: 'training', id: 'a', label: 'a', what: 'end', at: 0, isExact: true, detail };
    return { ...eventFields(event, undefined), words: numbersOf(event) };
  };
  expect(of()).toMatchObject({
    held_out: { last: { ...point, may_change: false } },
    words: expect.stringContaining('at step 5, from 9 samples'),
  });
  expect(of(true)).toMatchObject({ held_out: { last: { ...point, may_change: true }, best: { may_change: false } } });
  expect(of(true).words).toMatch(/^held-out 0\.500\? at step 5, from 9 samples.*; a newer one may follow/);
});

it('counts the rollouts without a reward if there is no mean (C4)', () => {
  const detail = { status: 'completed', done: 4, total: 4, graded: 0, failed: 1 };
  const event: InboxEvent = { kind: 'run', id: 'a', label: 'a', what: 'end', at: 0, isExact: false, detail };
  expect(describeEvent(event)).toBe('completed, 4 of 4; 4 without a reward (1 failed)');
  const running = { ...event, what: 'failed rollouts', detail: { ...detail, status: 'running', alarm: 'all failed' } };
  expect(describeEvent(running)).toBe('alarm, all failed; 4 of 4');
});
