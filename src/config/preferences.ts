/** User preferences, independent of the service. */

import { type ImageDisplay, imageDisplayOf } from '../text/image-display.ts';
import { type PriceUnit, parsePriceUnit, parseRange } from '../text/numbers.ts';
import { type Environment, wantsColour } from '../text/terminal.ts';
import { type AlarmSettings, alarmSettingDefaults, resolveAlarms } from './alarms.ts';
import { readSwitch } from './layers.ts';
import { ConfigError } from './origin.ts';
import { imageChoices, noticeKinds, type Settings, themes } from './schema.ts';

/** `terminal` uses the terminal's own 16 colours, `plain` none. */
export type Theme = (typeof themes)[number];
/** How the end of a watched run is announced. */
export type NoticeKind = (typeof noticeKinds)[number];

export interface Preferences {
  readonly theme: Theme;
  /** Off by default: mouse reporting disables the terminal's own selection. */
  readonly mouse: boolean;
  readonly notices: NoticeKind;
  readonly images: ImageDisplay;
  /** Name of the section to open; if undefined, it depends on whether work is running. */
  readonly home: string | undefined;
  /** Whether conversations are saved to disk. */
  readonly chatHistory: boolean;
  /** Keys by command id, replacing the defaults. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** Poll intervals in milliseconds, for running resources with focus and for the rest of the screen. */
  readonly poll: { readonly focusedMs: number; readonly visibleMs: number };
  readonly triage: TriageSettings;
  /** Bytes of disk space for trajectory texts; 0 keeps none. */
  readonly textIndexBytes: number;
  /** The unit of model prices; undefined if it is not set. */
  readonly priceUnit: PriceUnit | undefined;
  readonly compare: CompareSettings;
  readonly alarms: AlarmSettings;
}

/** How runs are compared. */
export interface CompareSettings {
  /** Runs count as equal if the whole confidence interval of their difference is within this. */
  readonly equalWithin: number;
  /** The lowest and the highest reward that the graders give. */
  readonly rewardRange: readonly [low: number, high: number];
}

/** Flags on trajectories and runs. */
export interface TriageSettings {
  /** In the order of the digits 1 to 9. */
  readonly flags: readonly string[];
  /** The author of new notes; by default the user name on this machine. */
  readonly author?: string | undefined;
}

/** The default of each setting that has one. */
export const settingDefaults = {
  defaultProfile: 'local',
  theme: 'terminal',
  mouse: false,
  notices: 'bell',
  images: 'auto',
  chatHistory: true,
  poll: { focusedSeconds: 2, visibleSeconds: 10 },
  triage: { flags: ['good', 'bad', 'gamed', 'grader broken', 'look again'] },
  search: { indexMegabytes: 512 },
  compare: { equalWithin: 0.05, rewardRange: '0..1' },
  alarms: alarmSettingDefaults,
} satisfies Settings;

export const triageDefaults: TriageSettings = settingDefaults.triage;

export const compareDefaults: CompareSettings = { equalWithin: 0.05, rewardRange: [0, 1] };

export interface PreferenceFlags {
  readonly theme?: string | undefined;
  readonly mouse?: boolean | undefined;
  readonly notices?: string | undefined;
}

/** @throws ConfigError for an unknown value */
export function resolvePreferences(flags: PreferenceFlags, environment: Environment, settings: Settings): Preferences {
  const requested = environment['FORCE_COLOR'] || environment['NO_COLOR'];
  const images =
    oneOf(imageChoices, 'BENCHTOP_IMAGES', environment['BENCHTOP_IMAGES']) ?? settings.images ?? settingDefaults.images;
  const { poll, search, triage } = settingDefaults;
  const isColourless = wantsColour(environment) === false;
  return {
    theme:
      oneOf(themes, '--theme', flags.theme) ??
      oneOf(themes, 'BENCHTOP_THEME', environment['BENCHTOP_THEME']) ??
      // Only benchtop's own flag and variable override NO_COLOR and FORCE_COLOR.
      (requested && isColourless ? 'plain' : settings.theme) ??
      (isColourless ? 'plain' : settingDefaults.theme),
    mouse:
      flags.mouse ??
      readSwitch('BENCHTOP_MOUSE', environment['BENCHTOP_MOUSE']) ??
      settings.mouse ??
      settingDefaults.mouse,
    notices:
      oneOf(noticeKinds, '--notices', flags.notices) ??
      oneOf(noticeKinds, 'BENCHTOP_NOTICES', environment['BENCHTOP_NOTICES']) ??
      settings.notices ??
      settingDefaults.notices,
    images: images === 'auto' ? imageDisplayOf(environment) : images,
    home: settings.home,
    chatHistory: settings.chatHistory ?? settingDefaults.chatHistory,
    keys: settings.keys ?? {},
    poll: {
      focusedMs: (settings.poll?.focusedSeconds ?? poll.focusedSeconds) * 1_000,
      visibleMs: (settings.poll?.visibleSeconds ?? poll.visibleSeconds) * 1_000,
    },
    triage: { flags: settings.triage?.flags ?? triage.flags, author: settings.triage?.author },
    textIndexBytes: (settings.search?.indexMegabytes ?? search.indexMegabytes) * 1024 * 1024,
    priceUnit: parsePriceUnit(settings.priceUnit ?? ''),
    compare: {
      equalWithin: settings.compare?.equalWithin ?? compareDefaults.equalWithin,
      rewardRange: parseRange(settings.compare?.rewardRange ?? '') ?? compareDefaults.rewardRange,
    },
    alarms: resolveAlarms(settings),
  };
}

function oneOf<Value extends string>(
  known: readonly Value[],
  name: string,
  word: string | undefined,
): Value | undefined {
  if (!word?.trim()) return undefined;
  const value = known.find(candidate => candidate === word.trim().toLowerCase());
  if (value !== undefined) return value;
  throw new ConfigError(`${name} must be one of ${known.join(', ')}.`);
}
