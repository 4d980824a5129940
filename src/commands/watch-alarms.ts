/** The alarms for a resource that `benchtop watch` follows: each is noted when it begins and when it ends. */

import type { AlarmRules } from '../config/alarms.ts';
import { hasEnded, isRunning } from '../contract/status.ts';
import { checkpointTimes, checkpointTimesQuery } from '../queries/checkpoints.ts';
import { paceOf } from '../queries/pace.ts';
import type { KnownResource, RolloutEnds } from '../queries/statuses/known-resource.ts';
import {
  type Alarm,
  type AlarmKind,
  alarmsIn,
  judge,
  type Reading,
  readingOf,
  type Verdicts,
} from '../resources/alarms.ts';
import { resourceOfKind } from '../resources/catalogue.ts';
import { unjudgedOfRun } from '../resources/past-alarms.ts';
import { countsByRewards, lacksEnds, needsRewards, rolloutEndsQuery } from '../resources/rollout-ends.ts';
import { isNotOffered } from '../service/errors.ts';
import type { ProgressPoint } from '../store/store.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import type { FollowedState } from './followed-state.ts';
import { alarmRulesOf } from './past-alarms.ts';
import type { CommandContext } from './with-service.ts';

type Watched = Pick<KnownResource, 'kind' | 'id' | 'status' | 'done' | 'total' | 'failed' | 'mean' | 'graded'>;

export class WatchedAlarms {
  readonly #context: CommandContext;
  readonly #stops: boolean;
  readonly #open = new Map<AlarmKind, Alarm>();
  #rules: Promise<AlarmRules> | undefined;
  #ends: RolloutEnds | undefined;
  #counts: Awaited<ReturnType<typeof countsByRewards>> | undefined;
  #checkpoints: readonly ProgressPoint[] | undefined;
  readonly #unjudged = new Set<AlarmKind>();
  #isPaceNoted = false;

  /** @param stops whether the first alarm ends the wait */
  constructor(context: CommandContext, stops: boolean) {
    this.#context = context;
    this.#stops = stops;
  }

  /**
   * The exit code for success: not 0 if an alarm was active at the last response, or if --alarm could not check one.
   */
  get code(): ExitCode {
    if (this.#open.size > 0) return exitCodes.alarm;
    return this.#stops && this.#unjudged.size > 0 ? exitCodes.endUnseen : exitCodes.done;
  }

  /** Reads the data that the alarms need and the progress lacks. If that fails, the next poll tries again. */
  async #readMore(known: Watched, rules: AlarmRules): Promise<void> {
    const { failedShare, silentMs, silentPaces } = rules;
    const { memory, signal } = this.#context;
    const read = <Answer>(reading: Promise<Answer>) =>
      reading.catch((error: unknown) => {
        signal.throwIfAborted();
        return isNotOffered(error) ? 'not offered' : undefined;
      });
    if (failedShare !== undefined && lacksEnds({ ...known, ends: this.#ends })) {
      const ends = await read(rolloutEndsQuery(known).read(this.#context));
      if (typeof ends === 'object') this.#ends = ends;
    }
    if (!this.#counts && needsRewards({ ...known, ends: this.#ends }, rules)) {
      const counts = await read(countsByRewards(known, this.#context));
      if (typeof counts === 'object') this.#counts = counts;
    }
    const { times } = resourceOfKind(known.kind)?.watch ?? {};
    const isTimed = (silentMs ?? silentPaces) !== undefined && times !== undefined && isRunning(known.status);
    if (isTimed && !this.#checkpoints && !paceOf(memory.progress.of(known.id)).isSeen) {
      const checkpoints = await read(checkpointTimesQuery(known.id, false).read(this.#context));
      if (checkpoints) this.#checkpoints = typeof checkpoints === 'string' ? [] : checkpointTimes(checkpoints);
    }
  }

  /** Notes once which alarms cannot be checked. */
  #noteUnjudged(
    { id, label, kind = '', status }: FollowedState,
    rules: AlarmRules,
    verdicts: Verdicts,
    { silence }: Reading,
  ): void {
    const lacks = resourceOfKind(kind)?.watch?.certainty && hasEnded(status) ? unjudgedOfRun(rules, verdicts) : [];
    for (const [unjudged, words] of lacks) {
      if (this.#unjudged.has(unjudged)) continue;
      this.#unjudged.add(unjudged);
      this.#context.io.note(clean`${label}: not checked: ${words}.`, { id, unjudged });
    }
    const lacksPace = silence != null && silence.stepMs === undefined && silence.step > 0;
    if (lacksPace && rules.silentMs === undefined && rules.silentPaces !== undefined && !this.#isPaceNoted) {
      this.#isPaceNoted = true;
      this.#context.io.note(
        clean`${label}: whether new steps are overdue is not checked yet, because the time per step is unknown.`,
        {
          id,
          unjudged: 'stall',
        },
      );
    }
  }

  /** @throws CommandError at the first alarm, if that ends the wait */
  async see(seen: FollowedState): Promise<void> {
    const { id, label, kind = '', status, done, parent, endTime } = seen;
    const { memory, compare } = this.#context;
    // If this fails, the next response reads the rules again.
    this.#rules ??= alarmRulesOf(parent, this.#context);
    const rules = await this.#rules.catch((error: unknown) => {
      this.#rules = undefined;
      throw error;
    });
    // Records the time for the screen and `doctor --alarms`, too.
    if (resourceOfKind(kind)?.watch?.recordsProgress && done !== undefined) {
      memory.recordProgress(id, done, Date.now(), hasEnded(status) && endTime === undefined);
    }
    const observed = { failed: undefined, graded: undefined, ...seen, kind };
    await this.#readMore(observed, rules);
    const known = { ...observed, checkpoints: this.#checkpoints, ends: this.#ends, ...this.#counts };
    const reading = readingOf(known, memory.progress.of(id), done === undefined ? undefined : Date.now());
    const verdicts = judge(reading, rules, compare.rewardRange);
    this.#noteUnjudged(seen, rules, verdicts, reading);
    for (const [name, alarm] of verdicts) {
      if (alarm || !this.#open.delete(name)) continue;
      this.#context.io.note(clean`${label}: alarm over: ${name}`, { id, over: name });
    }
    for (const alarm of alarmsIn(verdicts)) {
      const { words, step, value, limit } = alarm;
      if (this.#open.has(alarm.kind)) continue;
      this.#open.set(alarm.kind, alarm);
      const text = clean`${label}: alarm: ${words}`;
      // Once the work has ended, its status decides.
      if (this.#stops && !hasEnded(status)) throw new CommandError(text, exitCodes.alarm);
      this.#context.io.note(text, { id, alarm: alarm.kind, step: step ?? null, value, limit });
    }
  }
}
