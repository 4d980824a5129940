/**
 * The schema of `config.json`. Every part may be missing; reference.ts describes each setting, and the defaults are in
 * profile.ts and preferences.ts. It is built on first use, so startup without the file does not wait for it.
 */
import * as z from 'zod/mini';
import { generations } from '../contract/generation.ts';
import { imageDisplays } from '../text/image-display.ts';
import { parsePriceUnit, parseRange } from '../text/numbers.ts';

const text = () => z.optional(z.string().check(z.minLength(1)));
const flag = () => z.optional(z.boolean());
/** A program and its arguments. */
const command = () => z.optional(z.array(z.string().check(z.minLength(1))).check(z.minLength(1)));

/** The settings for one service. At most one of each secret's four forms may be set. */
const profileSettings = () =>
  z.strictObject({
    baseUrl: text(),
    inferenceUrl: text(),
    apiKey: text(),
    apiKeyEnv: text(),
    apiKeyFile: text(),
    apiKeyCommand: command(),
    inferenceToken: text(),
    inferenceTokenEnv: text(),
    inferenceTokenFile: text(),
    inferenceTokenCommand: command(),
    caFile: text(),
    allowInsecureHttp: flag(),
    readOnly: flag(),
    /** Names by assumption; the service layer checks both. */
    assumptions: z.optional(z.record(z.string(), z.string())),
    generation: z.optional(z.enum(generations)),
    agent: text(),
    upstream: text(),
    upstreamKey: text(),
    upstreamKeyEnv: text(),
    upstreamKeyFile: text(),
    upstreamKeyCommand: command(),
  });

export const themes = ['terminal', 'dark', 'light', 'high-contrast', 'plain'] as const;
export const noticeKinds = ['off', 'bell', 'desktop'] as const;
export const imageChoices = ['auto', ...imageDisplays] as const;

/** A limit that 0 switches off. */
const limit = (most: number) => z.optional(z.number().check(z.gte(0), z.lte(most)));
/** A range of means, or `off`. */
const alarmRange = () =>
  z.optional(z.string().check(z.refine(text => text === 'off' || parseRange(text) !== undefined)));

/** The alarm limits; a benchmark's limits replace the general ones. */
const alarmRules = {
  silentMinutes: limit(100_000),
  silentPaces: limit(100_000),
  belowBest: z.optional(z.int().check(z.gte(0), z.lte(20))),
  failedPercent: limit(100),
  heldOut: alarmRange(),
  trainer: alarmRange(),
  evaluation: alarmRange(),
};

const seconds = () => z.optional(z.number().check(z.gte(1), z.lte(3_600)));

const makeSettings = () =>
  z.strictObject({
    $schema: z.optional(z.string()),
    defaultProfile: text(),
    profiles: z.optional(z.record(z.string().check(z.minLength(1)), profileSettings())),
    theme: z.optional(z.enum(themes)),
    mouse: flag(),
    notices: z.optional(z.enum(noticeKinds)),
    images: z.optional(z.enum(imageChoices)),
    home: text(),
    chatHistory: flag(),
    keys: z.optional(z.record(z.string(), z.array(z.string().check(z.minLength(1))))),
    poll: z.optional(z.strictObject({ focusedSeconds: seconds(), visibleSeconds: seconds() })),
    alarms: z.optional(
      z.strictObject({
        ...alarmRules,
        benchmarks: z.optional(z.record(z.string().check(z.minLength(1)), z.strictObject(alarmRules))),
      }),
    ),
    triage: z.optional(
      z.strictObject({
        flags: z.optional(
          z.array(z.string().check(z.minLength(1), z.maxLength(40))).check(z.minLength(1), z.maxLength(9)),
        ),
        author: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
      }),
    ),
    search: z.optional(z.strictObject({ indexMegabytes: z.optional(z.number().check(z.gte(0), z.lte(100_000))) })),
    priceUnit: z.optional(z.string().check(z.refine(text => parsePriceUnit(text) !== undefined))),
    compare: z.optional(
      z.strictObject({
        equalWithin: z.optional(z.number().check(z.gte(0))),
        rewardRange: z.optional(z.string().check(z.refine(text => parseRange(text) !== undefined))),
      }),
    ),
  });

let madeSettings: ReturnType<typeof makeSettings> | undefined;

export function settings(): ReturnType<typeof makeSettings> {
  madeSettings ??= makeSettings();
  return madeSettings;
}

export type ProfileSettings = z.infer<ReturnType<typeof profileSettings>>;
export type Settings = z.infer<ReturnType<typeof makeSettings>>;

/** Why a profile cannot have this name, as a sentence; undefined if it can. */
export function profileNameProblem(name: string, baseUrl: string | undefined): string | undefined {
  if (name === '') return 'A profile needs a name: choose one.';
  if (name === 'local' && baseUrl !== undefined) return 'local is the service on this machine: choose another name.';
  if (name === '__proto__') return '__proto__ cannot be the name of a profile: choose another one.';
  return undefined;
}
