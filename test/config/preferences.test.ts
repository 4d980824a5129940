import { describe, expect, it } from 'vitest';
import { type PreferenceFlags, resolvePreferences, settingDefaults } from '../../src/config/preferences.ts';
import type { Settings } from '../../src/config/schema.ts';

function resolve(flags: PreferenceFlags, environment: Record<string, string>, settings: Settings) {
  return resolvePreferences(flags, environment, settings);
}

describe('resolvePreferences', () => {
  it('has defaults', () => {
    const preferences = resolve({}, {}, {});
    expect(preferences).toMatchObject({
      theme: 'terminal',
      mouse: false,
      chatHistory: true,
      notices: 'bell',
      keys: {},
      poll: { focusedMs: 2_000, visibleMs: 10_000 },
      compare: { equalWithin: 0.05, rewardRange: [0, 1] },
    });
  });

  it('returns the same preferences if every default is set explicitly', () => {
    expect(resolve({}, {}, settingDefaults)).toEqual(resolve({}, {}, {}));
  });

  it('reads how runs are compared from the file', () => {
    expect(resolve({}, {}, { compare: { equalWithin: 0.1, rewardRange: '-1..1' } }).compare).toEqual({
      equalWithin: 0.1,
      rewardRange: [-1, 1],
    });
  });

  it('takes the flag before the environment, NO_COLOR and the file', () => {
    const settings: Settings = {
      theme: 'dark',
      mouse: true,
      chatHistory: false,
      notices: 'off',
      poll: { visibleSeconds: 30 },
    };
    expect(resolve({}, {}, settings)).toMatchObject({
      theme: 'dark',
      mouse: true,
      chatHistory: false,
      notices: 'off',
      poll: { focusedMs: 2_000, visibleMs: 30_000 },
    });
    expect(resolve({}, { NO_COLOR: '1' }, settings).theme).toBe('plain');
    expect(resolve({}, { TERM: 'dumb' }, {}).theme).toBe('plain');
    expect(resolve({}, { NO_COLOR: '1', FORCE_COLOR: '1' }, settings).theme).toBe('dark');
    expect(resolve({}, { FORCE_COLOR: '0' }, settings).theme).toBe('plain');
    expect(resolve({}, { NO_COLOR: '', BENCHTOP_MOUSE: 'off' }, settings)).toMatchObject({
      theme: 'dark',
      mouse: false,
    });
    expect(resolve({}, { NO_COLOR: '1', BENCHTOP_THEME: 'light' }, settings).theme).toBe('light');
    expect(resolve({ theme: 'terminal' }, { BENCHTOP_THEME: 'light' }, settings).theme).toBe('terminal');
  });

  it('shows images as configured, otherwise as the terminal supports', () => {
    const images = (environment: Record<string, string>, settings: Settings) =>
      resolve({}, environment, settings).images;
    const kitty = { TERM: 'xterm-kitty' };
    expect(images(kitty, {})).toBe('kitty');
    expect(images({}, { images: 'auto' })).toBe('viewer');
    expect(images(kitty, { images: 'viewer' })).toBe('viewer');
    expect(images({ ...kitty, BENCHTOP_IMAGES: 'wezterm' }, { images: 'viewer' })).toBe('wezterm');
    expect(images({ ...kitty, BENCHTOP_IMAGES: 'auto' }, { images: 'viewer' })).toBe('kitty');
    expect(() => images({ BENCHTOP_IMAGES: 'sixel' }, {})).toThrow('auto, kitty, iterm2, wezterm, viewer');
  });

  it('refuses unknown values', () => {
    expect(() => resolve({ theme: 'pink' }, {}, {})).toThrow(
      '--theme must be one of terminal, dark, light, high-contrast, plain.',
    );
    expect(() => resolve({}, { BENCHTOP_NOTICES: 'loud' }, {})).toThrow(/BENCHTOP_NOTICES must be one of off/);
  });
});
