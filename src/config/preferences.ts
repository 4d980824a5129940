/** User preferences, independent of the service. */

import { type ImageDisplay, imageDisplayOf } from '../text/image-display.ts';
import { type PriceUnit, parsePriceUnit, parseRange } from '../text/numbers.ts';
import { type Environment, wantsColour } from '../text/terminal.ts';
import { type AlarmSettings, resolveAlarms } from './alarms.ts';
import { readSwitch } from './layers.ts';
import { byDefault, ConfigError, describeOrigin, type Origin, type Sourced } from './origin.ts';
import { imageChoices, noticeKinds, type Settings, themes } from './schema.ts';

/** `terminal` uses the terminal's own 16 colours, `plain` none. */
export type Theme = (typeof themes)[number];
/** How the end of a watched run is announced. */
export type NoticeKind = (typeof noticeKinds)[number];

export interface Preferences {
  readonly theme: Sourced<Theme>;
  /** Off by default: mouse reporting disables the terminal's own selection. */
  readonly mouse: Sourced<boolean>;
  readonly notices: Sourced<NoticeKind>;
  readonly images: ImageDisplay;
  /** Name of the section to open; undefined to decide by what runs. */
  readonly home: string | undefined;
  /** Whether conversations are saved to disk. */
  readonly chatHistory: boolean;
  /** Keys by command id, replacing the defaults. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** Poll intervals in milliseconds, for running resources with focus and for the rest of the screen. */
  readonly poll: { readonly focusedMs: number; readonly visibleMs: number };
  readonly triage: TriageSettings;
  /** Bytes of disk space for the texts of trajectories; 0 keeps none. */
  readonly textIndexBytes: number;
  /** The unit of the prices of models; undefined if it is not set. */
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
  /** The author of new notes; by default the user of this machine. */
  readonly author?: string | undefined;
}

export const triageDefaults: TriageSettings = { flags: ['good', 'bad', 'gamed', 'grader broken', 'look again'] };

const textIndexMegabytes = 512;

export const compareDefaults: CompareSettings = { equalWithin: 0.05, rewardRange: [0, 1] };

export interface PreferenceFlags {
  readonly theme?: string | undefined;
  readonly mouse?: boolean | undefined;
  readonly notices?: string | undefined;
}

/** @throws ConfigError for an unknown value */
export function resolvePreferences(
  flags: PreferenceFlags,
  environment: Environment,
  settings: Settings,
  settingsPath: string,
): Preferences {
  const flag = (name: string): Origin => ({ kind: 'flag', name });
  const variable = (name: string): Origin => ({ kind: 'environment', name });
  const entry = (place: string): Origin => ({ kind: 'file', path: settingsPath, place });
  const requested = environment['FORCE_COLOR'] || environment['NO_COLOR'];
  const images =
    oneOf(imageChoices, environment['BENCHTOP_IMAGES'], variable('BENCHTOP_IMAGES'))?.value ??
    settings.images ??
    'auto';
  const colourless = Boolean(requested) && wantsColour(environment) === false;
  return {
    theme:
      oneOf(themes, flags.theme, flag('--theme')) ??
      oneOf(themes, environment['BENCHTOP_THEME'], variable('BENCHTOP_THEME')) ??
      // Only benchtop's own settings override NO_COLOR and FORCE_COLOR.
      sourced(colourless ? 'plain' : undefined, variable(environment['FORCE_COLOR'] ? 'FORCE_COLOR' : 'NO_COLOR')) ??
      sourced(settings.theme, entry('theme')) ??
      byDefault(wantsColour(environment) === false ? 'plain' : 'terminal'),
    mouse:
      sourced(flags.mouse, flag('--mouse')) ??
      sourced(readSwitch('BENCHTOP_MOUSE', environment['BENCHTOP_MOUSE']), variable('BENCHTOP_MOUSE')) ??
      sourced(settings.mouse, entry('mouse')) ??
      byDefault(false),
    notices:
      oneOf(noticeKinds, flags.notices, flag('--notices')) ??
      oneOf(noticeKinds, environment['BENCHTOP_NOTICES'], variable('BENCHTOP_NOTICES')) ??
      sourced(settings.notices, entry('notices')) ??
      byDefault('bell'),
    images: images === 'auto' ? imageDisplayOf(environment) : images,
    home: settings.home,
    chatHistory: settings.chatHistory ?? true,
    keys: settings.keys ?? {},
    poll: {
      focusedMs: (settings.poll?.focusedSeconds ?? 2) * 1_000,
      visibleMs: (settings.poll?.visibleSeconds ?? 10) * 1_000,
    },
    triage: { flags: settings.triage?.flags ?? triageDefaults.flags, author: settings.triage?.author },
    textIndexBytes: (settings.search?.indexMegabytes ?? textIndexMegabytes) * 1024 * 1024,
    priceUnit: parsePriceUnit(settings.priceUnit ?? ''),
    compare: {
      equalWithin: settings.compare?.equalWithin ?? compareDefaults.equalWithin,
      rewardRange: parseRange(settings.compare?.rewardRange ?? '') ?? compareDefaults.rewardRange,
    },
    alarms: resolveAlarms(settings),
  };
}

function sourced<T>(value: T | undefined, origin: Origin): Sourced<T> | undefined {
  return value === undefined ? undefined : { value, origin };
}

function oneOf<Value extends string>(
  known: readonly Value[],
  word: string | undefined,
  origin: Origin,
): Sourced<Value> | undefined {
  if (!word?.trim()) return undefined;
  const value = known.find(candidate => candidate === word.trim().toLowerCase());
  if (value !== undefined) return { value, origin };
  throw new ConfigError(`${describeOrigin(origin)} must be one of ${known.join(', ')}.`, origin);
}
