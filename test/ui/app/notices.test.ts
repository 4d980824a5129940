/** What is told when something watched ends. Pure. */
import { describe, expect, it } from 'vitest';
import type { WatchedThing } from '../../../src/queries/watch.ts';
import { endsBetween, noticeSequence } from '../../../src/ui/app/notices.tsx';

const thing = (status: string | undefined, more: Partial<WatchedThing> = {}): WatchedThing => ({
  kind: 'training',
  id: 'trn_1',
  label: 't-words',
  pinned: false,
  status,
  done: 1,
  total: 2,
  mean: 0.5,
  curve: [],
  pace: '',
  startedAt: undefined,
  fault: undefined,
  ...more,
});

describe('an end', () => {
  it('is news where it ran before', () => {
    const [notice] = endsBetween([thing('running')], [thing('succeeded')]);
    expect(notice).toEqual({
      toast: { kind: 'success', text: 't-words succeeded, mean 0.500' },
      words: 't-words succeeded, mean 0.500',
    });
    expect(endsBetween([thing('running')], [thing('failed')])[0]?.toast.kind).toBe('danger');
    expect(endsBetween([thing('running')], [thing('cancelled')])[0]?.toast.kind).toBe('info');
  });

  it('is none where it goes on, was over before, or was never seen running', () => {
    expect(endsBetween([thing('running')], [thing('cancelling')])).toEqual([]);
    expect(endsBetween([thing('succeeded')], [thing('succeeded')])).toEqual([]);
    expect(endsBetween([], [thing('succeeded')])).toEqual([]);
    expect(endsBetween([thing(undefined)], [thing('succeeded')])).toEqual([]);
    expect(endsBetween([thing('running')], [thing('a-new-status')])).toEqual([]);
  });

  it('cannot smuggle a sequence into the terminal', () => {
    const [notice] = endsBetween([thing('running')], [thing('failed', { label: 'a\u001b]52;c;x\u0007;b' })]);
    for (const kind of ['bell', 'desktop'] as const) {
      const bytes = noticeSequence(notice?.words ?? '', kind);
      expect(bytes).not.toContain('52;c');
      expect(bytes.split('\u001b]').length - 1).toBe(kind === 'bell' ? 1 : 3);
    }
    expect(noticeSequence('x', 'off')).toBe('');
  });
});
