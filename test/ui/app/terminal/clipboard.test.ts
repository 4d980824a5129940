import { describe, expect, it } from 'vitest';
import { copySequence } from '../../../../src/ui/app/terminal/clipboard.ts';

const plain = `\x1b]52;c;${Buffer.from('evr_é').toString('base64')}\x07`;

function sequenceOf(text: string, environment: Record<string, string>): string {
  const result = copySequence(text, environment);
  if (!result.ok) throw new Error(result.message);
  return result.sequence;
}

describe('copySequence', () => {
  it('is OSC 52', () => {
    expect(sequenceOf('evr_é', {})).toBe(plain);
  });

  it('goes through tmux both ways', () => {
    expect(sequenceOf('evr_é', { TMUX: '/tmp/x,1,0' })).toBe(`${plain}\x1bPtmux;\x1b${plain}\x1b\\`);
  });

  it('goes through screen in short control strings', () => {
    const text = 'x'.repeat(500);
    const sent = sequenceOf(text, { TERM: 'screen-256color' });
    const alone = sequenceOf(text, {});
    expect(sent.startsWith(alone)).toBe(true);
    const parts = sent.slice(alone.length).split('\x1b\\').slice(0, -1);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(78);
    expect(parts.map(part => part.slice(2)).join('')).toBe(alone);
  });

  it('removes control characters from what will be pasted', () => {
    const payload = /c;(.*)\x07/.exec(sequenceOf('ls\x1b[201~\x07\n\trm', {}))?.[1] ?? '';
    expect(Buffer.from(payload, 'base64').toString()).toBe('ls\n\trm');
  });

  it('refuses more than terminals accept', () => {
    expect(copySequence('x'.repeat(75_000), {}).ok).toBe(true);
    const result = copySequence('x'.repeat(75_001), {});
    expect(result).toEqual({ ok: false, message: expect.stringContaining('75 kB') });
  });
});
