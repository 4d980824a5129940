/** The alarm settings: when a run calls for attention. */
import { parseRange } from '../text/numbers.ts';
import type { Settings } from './schema.ts';

/** The alarms for one run; a missing limit switches its alarm off. */
export interface AlarmRules {
  /** No new step for this long, in milliseconds. */
  readonly silentMs: number | undefined;
  /** No new step for this many times the run's own time per step. */
  readonly silentPaces: number | undefined;
  /** This many held-out rewards in a row with intervals entirely below the best one's, or fewer that are further below. */
  readonly belowBest: number | undefined;
  /** More than this share of the rollouts failed; from 0 to 1. */
  readonly failedShare: number | undefined;
  /** A mean outside its range. */
  readonly heldOut: MeanRange | undefined;
  readonly trainer: MeanRange | undefined;
  readonly evaluation: MeanRange | undefined;
}

type MeanRange = readonly [low: number, high: number];

export interface AlarmSettings {
  readonly all: AlarmRules;
  /** Overrides for benchmarks whose name or id matches a pattern with `*`; later ones win. */
  readonly benchmarks: readonly { readonly pattern: string; readonly rules: Partial<AlarmRules> }[];
}

type RuleSettings = NonNullable<NonNullable<NonNullable<Settings['alarms']>['benchmarks']>[string]>;

const minuteMs = 60_000;
/** 0 switches an alarm off. */
const limitOf = (value: number, unit = 1): number | undefined => (value === 0 ? undefined : value * unit);

function rulesOf(set: RuleSettings): Partial<AlarmRules> {
  const { silentMinutes, silentPaces, belowBest, failedPercent, heldOut, trainer, evaluation } = set;
  return {
    ...(silentMinutes !== undefined && { silentMs: limitOf(silentMinutes, minuteMs) }),
    ...(silentPaces !== undefined && { silentPaces: limitOf(silentPaces) }),
    ...(belowBest !== undefined && { belowBest: limitOf(belowBest) }),
    ...(failedPercent !== undefined && { failedShare: limitOf(failedPercent, 1 / 100) }),
    ...(heldOut !== undefined && { heldOut: parseRange(heldOut) }),
    ...(trainer !== undefined && { trainer: parseRange(trainer) }),
    ...(evaluation !== undefined && { evaluation: parseRange(evaluation) }),
  };
}

/** Only alarms that need no knowledge of the task. A sound run should raise none, even a long and noisy one. */
export const alarmSettingDefaults = {
  silentPaces: 10,
  silentMinutes: 0,
  belowBest: 4,
  failedPercent: 20,
  heldOut: 'off',
  trainer: 'off',
  evaluation: 'off',
} satisfies RuleSettings;

export const alarmDefaults: AlarmSettings = { all: rulesOf(alarmSettingDefaults) as AlarmRules, benchmarks: [] };

export function resolveAlarms({ alarms = {} }: Pick<Settings, 'alarms'>): AlarmSettings {
  const { benchmarks = {}, ...all } = alarms;
  return {
    all: { ...alarmDefaults.all, ...rulesOf(all) },
    benchmarks: Object.entries(benchmarks).map(([pattern, set]) => ({ pattern, rules: rulesOf(set) })),
  };
}

/** Whether the whole name matches; `*` stands for any text. Ignores case. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.toLowerCase().split('*');
  const text = name.toLowerCase();
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  const inner = text.slice(first.length, text.length - last.length);
  let from = 0;
  return others.every(part => {
    const at = inner.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}

/** The alarms for a benchmark's runs. @param names the benchmark's name and id, if known */
export function rulesFor({ all, benchmarks }: AlarmSettings, names: readonly (string | undefined)[]): AlarmRules {
  const own = benchmarks.filter(({ pattern }) => names.some(name => name !== undefined && matches(pattern, name)));
  return Object.assign({ ...all }, ...own.map(({ rules }) => rules)) as AlarmRules;
}
