/** The meaning of a status, for every resource. */
import { describe, expect, it } from 'vitest';
import {
  formatStatus,
  hasEnded,
  isOver,
  isRunning,
  knownDeploymentStatuses,
  statusMeaning,
  trainingStatuses,
  waitBeforeDelete,
} from '../../src/contract/status.ts';
import { isSameStatus } from '../../src/text/status-spelling.ts';
import { statusStyle, statusText } from '../../src/ui/widgets/status.ts';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';

/** Every word that services are known to use. */
const words = {
  success: ['completed', 'succeeded', 'ready', 'deployed', 'ended', 'uploaded', 'sent'],
  failure: ['failed', 'error'],
  running: ['running', 'in_progress', 'building', 'sending', 'merging', 'deploying'],
  waiting: ['not_started', 'pending', 'queued', 'waiting', 'not ready', 'secrets missing'],
  stopping: ['cancel_signaled', 'cancelling', 'canceling'],
  stopped: ['cancelled', 'canceled', 'skipped'],
  unknown: ['', 'hibernating', 'ready not'],
};

describe('a status', () => {
  it('asks for a cancellation before a deletion only once (out31 C10)', () => {
    expect(waitBeforeDelete('running')).toBe('cancel it first');
    expect(waitBeforeDelete('cancel_signaled')).toBe('it is stopping, so wait until it has ended');
  });

  it.each([...trainingStatuses, ...knownDeploymentStatuses])('of the contract has a meaning: %s', status => {
    expect(statusMeaning(status)).not.toBe('unknown');
  });

  it.each(Object.entries(words))('means %s', (meaning, statuses) => {
    for (const status of statuses) {
      expect([status, statusMeaning(status), statusMeaning(status.toUpperCase())]).toEqual([status, meaning, meaning]);
      expect(hasEnded(status)).toBe(['success', 'failure', 'stopped'].includes(meaning));
    }
  });

  it('that is unknown counts as ended once its end time has passed', () => {
    const now = Date.parse('2026-03-04T05:06:07Z');
    const at = (endTime: string | undefined, status: string | undefined = 'hibernating') =>
      isOver({ status, startedAt: '2025-01-01T00:00:00Z', endTime }, now);
    const times = [
      '2026-03-04T05:06:07Z',
      '2026-03-05T05:06:07Z',
      undefined,
      'soon',
      '1970-01-01T00:00:00Z',
      '0001-01-01T00:00:00Z',
    ];
    expect(times.map(time => at(time))).toEqual([true, false, false, false, false, false]);
    expect(at('2026-01-01T00:00:00Z', 'running')).toBe(false);
    expect(isOver({ status: undefined, endTime: '2026-01-01T00:00:00Z' }, now)).toBe(true);
  });

  it('is the same in upper case and in both spellings', () => {
    expect(isSameStatus('CANCELED', 'cancelled')).toBe(true);
    expect(isSameStatus('cancelling', 'Canceling')).toBe(true);
    expect(isSameStatus('cancel_signaled', 'cancelled')).toBe(false);
  });

  it('is shown in words if it is known, and can be filtered by them (U45)', () => {
    expect(['cancel_signaled', 'not_started', 'DEPLOYED'].map(formatStatus)).toEqual([
      'cancel signaled',
      'not started',
      'deployed',
    ]);
    // An unknown status stays unchanged.
    expect(['a_new_status', '__proto__'].map(formatStatus)).toEqual(['a_new_status', '__proto__']);
    expect([isSameStatus('Cancel signaled', 'cancel_signaled'), statusMeaning('cancel signaled')]).toEqual([
      true,
      'stopping',
    ]);
    const theme = createTheme('plain');
    expect(statusText('cancel_signaled', theme)).toContain('cancel signaled');
  });

  it('has ended if it cannot change by itself', () => {
    for (const status of [
      'completed',
      'succeeded',
      'failed',
      'cancelled',
      'DEPLOYED',
      'FAILED',
      'CANCELLED',
      'ready',
    ]) {
      expect([status, hasEnded(status), isRunning(status)]).toEqual([status, true, false]);
    }
    for (const status of [
      'pending',
      'running',
      'cancel_signaled',
      'MERGING',
      'building',
      'a-new-status',
      'not ready',
    ]) {
      expect([status, hasEnded(status), isRunning(status)]).toEqual([status, false, true]);
    }
  });

  it('that is missing counts neither as running nor as ended', () => {
    for (const status of [null, undefined]) expect([hasEnded(status), isRunning(status)]).toEqual([false, false]);
  });

  it('may have the name of a property that all objects inherit', () => {
    for (const status of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      expect([statusMeaning(status), hasEnded(status)]).toEqual(['unknown', false]);
      for (const theme of [createTheme('plain'), createTheme()]) {
        expect(statusStyle(status, theme)(statusText(status, theme))).toContain(status);
      }
    }
  });
});
