import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/config/redaction.ts';
import { inTime } from '../in-time.ts';

describe('redactor', () => {
  it('removes known secrets anywhere, in any encoding', () => {
    const secret = 'p"ss/w rd+1';
    const redact = redactor([secret, 'p"ss']);
    const spellings = [secret, encodeURIComponent(secret), JSON.stringify(secret)];
    for (const text of spellings)
      expect(redact(`a ${text} b ${text}`)).toMatch(/^a "?\[redacted\]"? b "?\[redacted\]"?$/);
  });

  it('knows secrets that are added later', () => {
    const secrets = new Set<string>();
    const redact = redactor(secrets);
    expect(redact('key hunter22')).toBe('key hunter22');
    secrets.add('hunter22');
    expect(redact('key hunter22')).toBe('key [redacted]');
  });

  it('reads a text once, however many spaces it has', () => {
    const text = `authorization:${'\n'.repeat(200_000)}}`;
    expect(inTime('the search', () => redactor([])(text))).toBe(text);
  });

  it('removes what looks like a secret', () => {
    const redact = redactor([]);
    for (const text of [
      'key sk-proj_abcDEF-123 end',
      'Authorization: Bearer abcdefgh.ijk_l',
      'authorization: Basic YWJjZGVmZ2g=',
      '"X-API-Key": "abcdefgh.ijk"',
      'x-api-key=abcdefghijk',
      'https://store/x?se=1&sig=abcdefgh%2Fijk&sp=r',
      'https://store/x?X-Amz-Signature=abcdefghijk',
      'https://user:abcdefghijk@host/x',
    ]) {
      const redacted = redact(text);
      expect(redacted).toContain('[redacted]');
      expect(redacted).not.toMatch(/abc|YWJj/);
    }
    expect(redact('https://store/x?se=1&sig=abcdefgh&sp=r')).toBe('https://store/x?se=1&sig=[redacted]&sp=r');
    expect(redact('Authorization: Bearer abcdefgh')).toBe('Authorization: Bearer [redacted]');
  });

  it('leaves ordinary text and its own output alone', () => {
    const redact = redactor(['', 'abc']);
    for (const text of ['task-based abc', 'design=1&sign=2', 'https://host/a@b', 'Bearer of news', 'evr_sk-1']) {
      expect(redact(text)).toBe(text);
    }
    const once = redact('Authorization: Bearer abcdefgh, ?sig=abc sk-abcdefgh');
    expect(redact(once)).toBe(once);
  });
});
