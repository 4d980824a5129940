/** The alarms of a resource that `benchtop watch` follows: each is noted when it begins and when it ends. */
import { hasEnded } from '../contract/status.ts';
import { type Alarm, type AlarmKind, alarmsIn, judge, readingOf } from '../resources/alarms.ts';
import { clean } from '../text/sanitise.ts';
import type { AlarmRules } from '../workbench/workbench.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { alarmRulesOf } from './past-alarms.ts';
import type { Seen } from './seen.ts';
import type { CommandContext } from './with-service.ts';

export class WatchedAlarms {
  readonly #context: CommandContext;
  readonly #io: CommandIo;
  readonly #stops: boolean;
  readonly #open = new Map<AlarmKind, Alarm>();
  #rules: Promise<AlarmRules> | undefined;

  /** @param stops whether the first alarm ends the wait */
  constructor(context: CommandContext, io: CommandIo, stops: boolean) {
    this.#context = context;
    this.#io = io;
    this.#stops = stops;
  }

  /** Whether an alarm held at the last answer. */
  get hold(): boolean {
    return this.#open.size > 0;
  }

  /** @throws CommandError at the first alarm, if that ends the wait */
  async see(seen: Seen): Promise<void> {
    const { id, label, kind = '', status, done, total, mean, graded, failed, parent, startedAt } = seen;
    const { measured, failedRounds } = seen;
    const { memory, config } = this.#context;
    // Records the time for the screen and `doctor --alarms`, too.
    if (kind === 'training' && done !== undefined) memory.recordProgress(id, done);
    const observed = {
      kind,
      status,
      done,
      total,
      mean,
      graded,
      failed,
      measured,
      failedRounds,
      startedAt,
      gone: false,
    };
    const reading = readingOf(observed, memory.progressOf(id), done === undefined ? undefined : Date.now());
    // Reads the rules again with the next answer if this fails.
    this.#rules ??= alarmRulesOf(parent, this.#context);
    const rules = await this.#rules.catch((error: unknown) => {
      this.#rules = undefined;
      throw error;
    });
    const verdicts = judge(reading, rules, config.preferences.compare.rewardRange);
    for (const [name, alarm] of verdicts) {
      if (alarm || !this.#open.delete(name)) continue;
      this.#io.note(clean`${label}: alarm over: ${name}`, { id, over: name });
    }
    for (const alarm of alarmsIn(verdicts)) {
      const { words, step, value, limit } = alarm;
      if (this.#open.has(alarm.kind)) continue;
      this.#open.set(alarm.kind, alarm);
      const text = clean`${label}: alarm: ${words}`;
      // Once it has ended, its status decides.
      if (this.#stops && !hasEnded(status)) throw new CommandError(text, exitCodes.alarm);
      this.#io.note(text, { id, alarm: alarm.kind, step: step ?? null, value, limit });
    }
  }
}
