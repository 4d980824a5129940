/** `benchtop watch`: tells every change of what runs until it has ended, and by its exit code how. */
import { setTimeout as wait } from 'node:timers/promises';
import { hasEnded, isRunning, statusMeaning } from '../contract/status.ts';
import type { ListSource } from '../queries/list.ts';
import { type PollIntervals, pollDelay } from '../queries/polling.ts';
import { rememberRows } from '../queries/remembered/listing.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import type { Known } from '../queries/statuses/store.ts';
import { resourceOfId, resourceOfKind, resources } from '../resources/catalogue.ts';
import { lookAt } from '../resources/watch.ts';
import { ServiceError } from '../service/errors.ts';
import { reward } from '../text/numbers.ts';
import { safeJson, sanitiseLine } from '../text/sanitise.ts';
import { clock } from '../text/time.ts';
import { CommandError, exitCodes } from './exit.ts';
import { exitCodeOf, messageOf } from './failure.ts';
import type { CommandIo } from './io.ts';
import type { Given } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

type Seen = Pick<Known, 'label' | 'status' | 'done' | 'total' | 'mean'>;

function thingOfId(id: string): ResourceRef {
  const { kind, watch } = resourceOfId(id) ?? {};
  if (kind !== undefined && watch) return { kind, id, label: id };
  const watchable = resources.filter(resource => resource.watch).map(({ names }) => names[1]);
  throw new CommandError(`${id} cannot be watched: give ids of these: ${watchable.join(', ')}.`);
}

/** What is listed as running, and the pins that are not over. */
async function whatRuns(context: CommandContext): Promise<ResourceRef[]> {
  const { memory } = context;
  const pins = memory.pinned().filter(({ kind }) => resourceOfKind(kind)?.watch);
  const lists = resources.flatMap(({ watch }) => watch?.running ?? []);
  const running = (await Promise.all(lists.map(listed))).flat();
  const isPinned = (thing: ResourceRef): boolean => pins.some(({ kind, id }) => kind === thing.kind && id === thing.id);
  return [...(await Promise.all(pins.map(unlessOver))).flat(), ...running.filter(thing => !isPinned(thing))];

  async function listed(source: ListSource<object>): Promise<ResourceRef[]> {
    const page = await source.readPage({ ...context, query: {} });
    rememberRows(memory, source, page.items);
    return page.items.flatMap(row => {
      const { kind, id, label, status } = source.observes?.(row) ?? {};
      return kind && id && isRunning(status) ? [{ kind, id, label: label ?? id }] : [];
    });
  }

  /** What cannot be read is followed: that says why. */
  async function unlessOver(pin: ResourceRef): Promise<ResourceRef[]> {
    const seen = await lookAt(pin, context).catch(() => undefined);
    return hasEnded(seen?.status) ? [] : [pin];
  }
}

/** How far it is, e.g. `3 of 12`; empty where that is not known. */
export function progressWords({ done, total }: Pick<Seen, 'done' | 'total'>): string {
  return done === undefined ? '' : `${done} of ${total ?? 'an unknown number'}`;
}

/** How it is now, e.g. `running, 3 of 12, mean 0.210`. */
export function wordsOf(seen: Seen): string {
  const { status, mean } = seen;
  const reached = mean === undefined ? '' : `mean ${reward(mean)}`;
  return [status ?? 'unknown', progressWords(seen), reached].filter(Boolean).join(', ');
}

/** What passes by itself; anything else will be the same the next time. */
function mayPass(error: unknown): error is ServiceError {
  return error instanceof ServiceError && exitCodeOf(error) === exitCodes.unreachable;
}

interface Following {
  readonly label: string;
  /** How it is now. */
  readonly look: () => Promise<Seen>;
  readonly tell: (seen: Seen) => Promise<void>;
  readonly note: (text: string) => void;
  readonly intervals: PollIntervals;
  readonly signal: AbortSignal;
  /** Waits so many milliseconds; rejects once the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const usualSleep = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal });

/**
 * Tells each change; gives the status with which it ended. What fails for a while is asked for again, however long.
 *
 * @throws ServiceError where it cannot be asked for at all, AbortError once the signal aborts
 */
export async function follow(following: Following): Promise<string> {
  const { label, look, tell, note, intervals, signal, sleep = usualSleep } = following;
  let told = '';
  let failures = 0;
  for (;;) {
    try {
      const seen = await look();
      failures = 0;
      const words = wordsOf(seen);
      if (words !== told) await tell(seen);
      told = words;
      if (hasEnded(seen.status)) return seen.status ?? '';
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      failures += 1;
      if (failures === 1) note(`${label}: ${error.message} It is asked for again.`);
    }
    const situation = { activity: 'running', attention: 'focused', failures } as const;
    await sleep(pollDelay({ ...situation, chance: Math.random(), intervals }) ?? 0, signal);
  }
}

export async function run({ args, flags }: Given<'watch'>, io: CommandIo): Promise<number> {
  const named = args.map(thingOfId);
  const limits = flags.timeout === undefined ? [] : [AbortSignal.timeout(flags.timeout * 1_000)];
  return withService(flags, io, async context => {
    const signal = AbortSignal.any([io.signal, ...limits]);
    const things = named.length > 0 ? named : await whatRuns(context);
    if (things.length === 0) io.note('Nothing runs.');
    const watch = async (thing: ResourceRef): Promise<number> => {
      const tell = async (seen: Seen): Promise<void> => {
        const { kind, id } = thing;
        const at = Date.now();
        const { label, status, done, total, mean } = seen;
        const line = flags.json
          ? safeJson({ at: new Date(at).toISOString(), kind, id, label, status, done, total, mean })
          : `${clock(at)}  ${sanitiseLine(seen.label)}  ${sanitiseLine(wordsOf(seen))}`;
        await io.print(`${line}\n`);
      };
      try {
        const { config, service, memory } = context;
        const look = (): Promise<Seen> => lookAt(thing, { service: service.background, memory, signal });
        const { label } = thing;
        const status = await follow({ label, look, tell, note: io.note, intervals: config.preferences.poll, signal });
        return statusMeaning(status) === 'success' ? exitCodes.done : exitCodes.failed;
      } catch (error) {
        if (signal.aborted) return io.signal.aborted ? exitCodes.interrupted : exitCodes.timeout;
        if (flags.json) await io.fail(error);
        else io.note(`${thing.label}: ${messageOf(error)}`);
        return exitCodeOf(error);
      }
    };
    const codes = await Promise.all(things.map(watch));
    if (signal.aborted && !io.signal.aborted) io.note(`It still runs after ${flags.timeout} seconds.`);
    return codes.find(code => code !== exitCodes.done) ?? exitCodes.done;
  });
}
