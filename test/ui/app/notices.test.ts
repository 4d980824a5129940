/** Notices when something ends: the text and the bytes. Pure; the screens are in test/ui/program/ends.test.tsx. */
import { describe, expect, it } from 'vitest';
import { knownResource, type Observation } from '../../../src/queries/statuses/known-resource.ts';
import type { Transition } from '../../../src/queries/statuses/store.ts';
import { noticeOf, noticeSequence } from '../../../src/ui/app/notices.tsx';

function ended(to: string, more: Partial<Observation> = {}, gone = false): Transition {
  const said: Observation = { kind: 'training', id: 'trn_1', label: 't-words', status: to, mean: 0.5, ...more };
  const resource = { ...knownResource({ kind: 'training', id: 'trn_1', label: 'trn_1' }, [said]), gone };
  return { resource, from: 'running', to, ended: true, mean: 0.25 };
}

describe('a notice', () => {
  it('says what ended, how, and with which reward', () => {
    expect(noticeOf([ended('succeeded')])).toMatchObject({
      kind: 'success',
      text: 't-words succeeded, trainer 0.250',
      news: true,
    });
    expect(noticeOf([ended('failed')])?.kind).toBe('danger');
    expect(noticeOf([ended('cancelled')])?.kind).toBe('info');
    expect(noticeOf([ended('gone', {}, true)])).toMatchObject({
      kind: 'warning',
      text: 't-words was deleted from the service',
      news: true,
    });
    expect(noticeOf([])).toBeUndefined();
  });

  it('cuts a long name in the middle if there is no room, and keeps what happened', () => {
    const label = `2026-11-01_${'long-'.repeat(14)}seed22`;
    const notice = noticeOf([ended('failed', { label })]);
    expect(notice?.text).toBe(`${label} failed, trainer 0.250`);
    expect(notice?.short).toMatch(/^2026-11-\S*…\S*seed22 failed, trainer 0\.250$/);
    expect(notice?.short?.length).toBeLessThan(52);
  });

  it('calls the number of an evaluation run a mean', () => {
    const run = knownResource({ kind: 'run', id: 'evr_1', label: 'one' }, [
      { kind: 'run', id: 'evr_1', label: 'one', status: 'completed', mean: 0.5 },
    ]);
    const [from, to] = ['running', 'completed'];
    expect(noticeOf([{ resource: run, from, to, ended: true, mean: 0.5 }])?.text).toBe('one completed, mean 0.500');
    // Data from before the end may not be final (W5).
    expect(noticeOf([{ resource: run, from, to, ended: true }])?.text).toBe('one completed');
  });

  it('shows a status as tables do (U45)', () => {
    expect(noticeOf([{ ...ended('DEPLOYED'), mean: undefined }])?.text).toBe('t-words deployed');
  });

  it('is one for everything that ended in one answer, with the colour of the worst', () => {
    expect(noticeOf([ended('succeeded'), ended('failed', { label: 'two' })])).toMatchObject({
      kind: 'danger',
      text: '2 ended: t-words succeeded, trainer 0.250; two failed, trainer 0.250',
      news: true,
    });
  });

  it('passes no escape sequence to the terminal', () => {
    const notice = noticeOf([ended('failed', { label: 'a\u001b]52;c;x\u0007;b' })]);
    for (const kind of ['bell', 'desktop'] as const) {
      const bytes = noticeSequence(notice?.text ?? '', kind);
      expect(bytes).not.toContain('52;c');
      expect(bytes.split('\u001b]').length - 1).toBe(kind === 'bell' ? 1 : 3);
    }
    expect(noticeSequence('x', 'off')).toBe('');
  });
});
