/** Which running service a program uses, and which it replaces. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { decide, fingerprintOf, type LocateReason, type RunningSettings } from '../../../src/local/daemon/settings.ts';

const mine = { version: '2.0.0', fingerprint: 'f', upstream: undefined };
const running: RunningSettings = { pid: 7, version: '2.0.0', fingerprint: 'f', upstream: null, background: true };
const withUpstream: RunningSettings = { ...running, fingerprint: 'other', upstream: 'http://up.example' };
const old: RunningSettings = { ...running, version: '1.0.0' };
const moments: readonly LocateReason[] = ['start', 'command', 'lost'];

describe('a running service', () => {
  it.each(moments)('is used if it is the one the program would start (%s)', reason => {
    expect(decide(running, mine, reason)).toEqual({ use: true, note: undefined });
  });

  it('is replaced when a screen starts, if its version, its upstream or the upstream key differs', () => {
    for (const other of [old, withUpstream, { ...running, fingerprint: 'other key' }, { ...running, version: '' }]) {
      expect(decide(other, mine, 'start')).toEqual({ use: false });
    }
    expect(decide(running, { ...mine, fingerprint: 'other', upstream: 'http://up.example' }, 'start').use).toBe(false);
  });

  it('is used, with a note of the difference, once the program runs: two screens must not replace each other’s forever', () => {
    expect(decide(old, mine, 'lost')).toMatchObject({
      use: true,
      note: expect.stringContaining('is version 1.0.0, this program is 2.0.0'),
    });
    expect(decide(withUpstream, mine, 'lost')).toMatchObject({
      use: true,
      note: expect.stringContaining('the upstream server http://up.example'),
    });
  });

  it('keeps its upstream for a command without one, and is replaced for a command with another', () => {
    expect(decide(withUpstream, mine, 'command')).toEqual({ use: true, note: undefined });
    const named = { ...mine, fingerprint: 'third', upstream: 'http://third.example' };
    expect(decide(withUpstream, named, 'command').use).toBe(false);
    expect(decide(old, mine, 'command').use).toBe(false);
  });

  it.each(moments)('is never replaced if it was started by hand (%s)', reason => {
    for (const other of [old, withUpstream])
      expect(decide({ ...other, background: false }, mine, reason).use).toBe(true);
    expect(decide({ ...withUpstream, background: false }, mine, 'start')).toMatchObject({
      note: expect.stringContaining('process 7, started by hand'),
    });
  });
});

describe('the fingerprint of settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-settings-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const upstream = { url: 'http://up.example', key: 'sk-up-0123456789' };

  it('is the same for the same settings, whatever the path to the folder', () => {
    const alias = join(folder, 'alias');
    symlinkSync(folder, alias);
    expect(fingerprintOf(folder, { upstream })).toBe(fingerprintOf(alias, { upstream: { ...upstream } }));
    expect(fingerprintOf(folder, {})).toBe(fingerprintOf(folder, { upstream: undefined, rateLimit: undefined }));
  });

  it('differs with each setting, and contains no key', () => {
    const all = [
      {},
      { upstream },
      { upstream: { ...upstream, key: undefined } },
      { upstream: { ...upstream, key: 'sk-other' } },
      { upstream: { ...upstream, url: 'http://other.example' } },
      { rateLimit: { perSecond: 5, burst: 10 } },
    ].map(settings => fingerprintOf(folder, settings));
    expect(new Set(all).size).toBe(all.length);
    expect(all.filter(fingerprint => /^[\w-]{43}$/.test(fingerprint))).toEqual([all[1], all[3], all[4]]);
  });
});
