/** `benchtop watch`: prints every change in running work until it has ended; the exit code is its outcome. */
import { hasEnded, isOver, isRunning } from '../contract/status.ts';
import { refOf, resourceNamed, resourceOfId, resourceOfKind, resources } from '../resources/catalogue.ts';
import { pluralName, type Resource } from '../resources/define.ts';
import { isHeldOutField } from '../resources/held-out-fields.ts';
import { lookAt } from '../resources/look.ts';
import type { ResourceRef } from '../store/store.ts';
import { clean } from '../text/sanitise.ts';
import { endInstant } from '../text/time.ts';
import { CommandError, type ExitCode, exitCodes, worstOf } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { findAmong } from './find.ts';
import { describeFollowedState, type FollowedState, stateFields } from './followed-state.ts';
import type { CommandIo } from './io.ts';
import { printRecord, timeText } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { parseUntil } from './until.ts';
import { untilEnded } from './until-ended.ts';
import { WatchedAlarms } from './watch-alarms.ts';
import { printInbox } from './watch-inbox.ts';
import { describeUnlisted, readWatchLists } from './watch-lists.ts';
import { type CommandContext, withService } from './with-service.ts';

/** The resources to watch if none is named. */
interface Running {
  readonly refs: readonly ResourceRef[];
  /** Resources that may or may not be running: their list has no status. */
  readonly uncertain: readonly ResourceRef[];
  /** Why others may be missing. */
  readonly unread: readonly string[];
  /** Lists that the service does not offer. */
  readonly unlisted: readonly string[];
}

/** Running work from the lists, and pins that have not ended; optionally of one kind only. */
async function runningResources(context: CommandContext, only?: Resource): Promise<Running> {
  const { memory } = context;
  const isWanted = (resource: Resource | undefined): boolean => only === undefined || resource === only;
  const pinned = memory.pinned() ?? [];
  const pins = pinned.filter(({ kind }) => resourceOfKind(kind)?.watch && isWanted(resourceOfKind(kind)));
  const kinds = only ? [only] : resources.filter(({ watch }) => watch?.runs);
  const { lists, unread, unlisted } = await readWatchLists(kinds, context);
  const rows = lists.flatMap(({ resource: { watch }, rows }) =>
    rows.flatMap(({ kind, id, label, status, startedAt, endTime }) => {
      if (!watch?.runs && !isRunning(status)) return [];
      return [{ ref: { kind, id, label: label || id }, status: status ?? undefined, startedAt, endTime }];
    }),
  );
  const others = rows.filter(({ ref }) => !pins.some(({ kind, id }) => kind === ref.kind && id === ref.id));
  const refsOf = (found: typeof rows): ResourceRef[] => found.map(({ ref }) => ref);
  return {
    refs: [
      ...(await Promise.all(pins.map(unlessOver))).flat(),
      ...refsOf(others.filter(({ status }) => isRunning(status))),
    ],
    uncertain: refsOf(others.filter(row => row.status === undefined && !isOver(row))),
    unread,
    unlisted,
  };

  /** Keeps pins that cannot be read: following them reports why. */
  async function unlessOver(pin: ResourceRef): Promise<ResourceRef[]> {
    const seen = await lookAt(pin, context).catch(() => undefined);
    return hasEnded(seen?.status) ? [] : [pin];
  }
}

/** Notes that the service does not report which runs are active, and how to wait for one. */
function describeUncertainRuns(resource: Resource, refs: readonly ResourceRef[]): string {
  const [first] = refs;
  const isOne = refs.length === 1;
  const words = isOne
    ? clean`The service does not report whether ${first?.label ?? ''} is still running.`
    : `The service does not report which of ${refs.length} ${pluralName(resource)} are still running.`;
  if (!first || !resource.watch?.certainty) return words;
  const id = isOne ? first.id : 'ID';
  return clean`${words} To wait for one by its rewards: benchtop watch ${id} --until rewards=N, or --until quiet=60s.`;
}

/**
 * Finds the watchable resources that the words name. The first of several words may name their kind.
 *
 * @throws CommandError if a word names none, or a kind that cannot be watched
 */
async function refsNamed(words: readonly string[], context: CommandContext): Promise<ResourceRef[]> {
  const watchable = resources.filter(({ watch }) => watch);
  const [first = '', ...rest] = words;
  const named = resourceNamed(first.toLowerCase());
  const kindNamed = named?.watch && named;
  const among = kindNamed ? [kindNamed] : watchable;
  const other = kindNamed ? undefined : named;
  const found = Promise.all(
    (kindNamed ? rest : words).map(async word => {
      const isKnown = ({ kind }: Resource): boolean => kind !== undefined && !!context.memory.seen.find(kind, word);
      const looksLike = among.find(resource => resource === resourceOfId(word));
      // The first read shows whether it still exists.
      const ofId = looksLike && isKnown(looksLike) ? looksLike : among.find(isKnown);
      if (ofId?.kind !== undefined) return { kind: ofId.kind, id: word, label: word };
      const { resource, id, row } = await findAmong(among, word, context, { takesKind: true });
      const found = refOf(resource, row);
      if (found) return { ...found, id };
      throw new CommandError(clean`${word} cannot be watched.`);
    }),
  );
  return found.catch((error: unknown) => {
    const isNone = error instanceof CommandError && error.exitCode === exitCodes.notFound;
    if (!isNone || !other) throw error;
    throw new CommandError(`${pluralName(other)} cannot be watched: ${watchable.map(pluralName).join(', ')} can.`);
  });
}

async function printChange(
  { kind }: ResourceRef,
  seen: FollowedState,
  flags: CommandInput<'watch'>['flags'],
  io: CommandIo,
): Promise<void> {
  const { id, label, heldOutFields: held_out, failure } = seen;
  // Work may have ended before it was watched.
  const ms = (hasEnded(seen.status) && endInstant(seen)) || Date.now();
  const record = { at: new Date(ms).toISOString(), kind, id, label, ...stateFields(seen), held_out, failure };
  const text = (): string => `${clean`${timeText(ms, io)}  ${label}  ${describeFollowedState(seen)}`}\n`;
  const mayLack = ([name, ...rest]: readonly string[]): boolean => name === 'held_out' && isHeldOutField(rest);
  await printRecord(record, id, flags, io, { text, mayLack, isLine: true });
}

export async function run({ args, flags }: CommandInput<'watch'>, io: CommandIo): Promise<number> {
  if (args.some(word => word.trim() === ''))
    throw new CommandError(
      'One of the ids is empty, so nothing is watched. Without ids, everything that is running is watched.',
    );
  if (flags.since !== undefined) {
    if (args.length > 0) throw new CommandError('--since covers everything: do not name a resource with it.');
    return printInbox(flags, io);
  }
  const until = flags.until === undefined ? undefined : parseUntil(flags.until);
  return withService(flags, io, async context => {
    const [word = ''] = args;
    // A kind on its own means every running resource of that kind.
    const named = args.length === 1 ? resourceNamed(word.toLowerCase()) : undefined;
    const kind = named?.watch && named;
    const { refs, uncertain, unread, unlisted }: Running =
      args.length > 0 && !kind
        ? { refs: await refsNamed(args, context), uncertain: [], unread: [], unlisted: [] }
        : await runningResources(context, kind);
    // Uncertain runs are not followed even with --until: a run that ended long ago may never reach that number of
    // rewards.
    for (const resource of resources) {
      const ofKind = uncertain.filter(ref => ref.kind === resource.kind);
      if (ofKind.length > 0) io.note(describeUncertainRuns(resource, ofKind), { ids: ofKind.map(({ id }) => id) });
    }
    for (const why of unread) io.note(`${why}.`);
    if (unlisted.length > 0) io.note(describeUnlisted(unlisted));
    const isUnsure = uncertain.length > 0 || unread.length > 0;
    if (refs.length === 0 && uncertain.length === 0)
      io.note(isUnsure || unlisted.length > 0 ? 'Nothing is known to be running.' : 'Nothing is running.');
    const stop = new AbortController();
    const reading = { ...context, signal: AbortSignal.any([context.signal, stop.signal]) };
    const watch = async (ref: ResourceRef): Promise<ExitCode> => {
      const onChange = (seen: FollowedState): Promise<void> => printChange(ref, seen, flags, io);
      const alarms = new WatchedAlarms(reading, flags.alarm ?? false);
      const waiting = { timeout: flags.timeout, until, onChange, alarms, among: refs.length, stop: stop.signal };
      try {
        return await untilEnded(ref, reading, waiting);
      } catch (error) {
        await io.fail(error);
        const code = exitCodeOf(error);
        if (code === exitCodes.alarm) stop.abort();
        return code;
      }
    };
    const codes = await Promise.all(refs.map(watch));
    return worstOf([...codes, isUnsure ? exitCodes.endUnseen : exitCodes.done]);
  });
}
