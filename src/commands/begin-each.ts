/** Starts several runs with one command, each with its own request. A repeated command starts only the missing ones. */
import { describeWrongStart, type Start } from '../resources/action.ts';
import { affectsAllRequests, isGone, isUnanswered } from '../service/errors.ts';
import { groupOf } from '../store/start-keys.ts';
import { UnrecordedError } from '../store/unrecorded.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { finish, printRequests, type StartedWork } from './act.ts';
import { type BeginFlags, type Creation, sendStart, startedWork } from './begin.ts';
import { CommandError, type ExitCode, exitCodes, worstOf } from './exit.ts';
import { exitCodeAfterChange, exitCodeOf } from './failure.ts';
import { resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import type { CommandContext } from './with-service.ts';

export interface EachStart<Input> {
  readonly input: Input;
  /** Its name in messages. */
  readonly name: string;
  readonly flags: BeginFlags;
  readonly alone: Creation['alone'];
}

/** Whether the run may have started although the request failed. */
const mayHaveStarted = (error: unknown): boolean =>
  isUnanswered(error) || (error instanceof CommandError && error.exitCode === exitCodes.endUnseen);

/** The record of work that has started, also under another profile's name; undefined if it is gone. @throws ServiceError */
async function startedRecord(kind: string, id: string, context: CommandContext): Promise<object | undefined> {
  const seen = context.memory.seen.find(kind, id)?.record;
  return (
    seen ??
    (await resourceOrThrow(kind)
      .get?.(id)
      ?.read(context)
      .catch((error: unknown) => {
        if (isGone(error)) return undefined;
        throw error;
      }))
  );
}

/** Sends the start requests one after another. A failure stops the rest only if they would fail the same way. */
async function sendEach<Input extends object>(
  creation: Pick<Start<Input>, 'send'> & Creation,
  starts: readonly EachStart<Input>[],
  context: CommandContext,
) {
  const { send, kind } = creation;
  const { memory, signal, io } = context;
  const { startKeys } = memory;
  const { keyed = kind } = send;
  const begun: StartedWork[] = [];
  /** The names of the other runs: `open` ones may have started, `unsent` ones were not requested. */
  const left = { open: [] as string[], unsent: [] as string[] };
  const errors: unknown[] = [];
  let isStopped = false;
  const together = starts.map(({ input, flags }) => ({ input, chosen: flags.idempotencyKey }));
  const group = groupOf(together);
  startKeys.awaitStarts(keyed, together);
  // Look up all runs first: sending the last request closes the group.
  const known: (object | undefined)[] = [];
  for (const start of together) {
    const id = startKeys.startOf(keyed, start, group);
    known.push(id === undefined ? undefined : await startedRecord(kind, id, context));
  }
  for (const [index, { input, name, flags, alone }] of starts.entries()) {
    const before = known[index];
    if (before) {
      const earlier = startedWork(creation, before, before, context);
      const otherwise = describeWrongStart(before, input) ?? '';
      io.note(clean`${earlier.ref.label} has already started, as ${earlier.ref.id}. ${otherwise}`.trim(), {
        id: earlier.ref.id,
      });
      begun.push(earlier);
      continue;
    }
    if (isStopped || signal.aborted) {
      left.unsent.push(name);
      continue;
    }
    try {
      begun.push(await sendStart({ ...creation, alone }, input, flags, context));
    } catch (error) {
      (mayHaveStarted(error) ? left.open : left.unsent).push(name);
      errors.push(error);
      isStopped = affectsAllRequests(error) || error instanceof UnrecordedError;
    }
  }
  // A repeat with the user's own key starts nothing new.
  const isKeyed = together.some(({ chosen }) => chosen !== undefined);
  if (begun.length === starts.length && !isKeyed) startKeys.forgetStarts(keyed, together);
  // A usage error's exit code would mean that nothing was changed, so report errors when all starts are known.
  const codes = errors.map(begun.length > 0 ? exitCodeAfterChange : exitCodeOf);
  for (const [index, error] of errors.entries()) await io.fail(error, codes[index]);
  return { begun, left, codes };
}

/** Starts each run, waits for all of them at once and prints them in order. Returns the worst exit code. */
export async function beginEach<Input extends object>(
  creation: Pick<Start<Input>, 'send'> & Creation,
  starts: readonly EachStart<Input>[],
  flags: BeginFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io } = context;
  if (flags.dryRun) {
    const inputs = starts.map(({ input }) => input);
    return printRequests(creation.send, inputs, context, flags);
  }
  const { begun, left, codes } = await sendEach(creation, starts, context);
  if (begun.length < starts.length) {
    const started = begun.map(({ ref }) => clean`${ref.label} (${ref.id})`);
    const words = [
      `Started ${begun.length} of ${counted(starts.length, 'run')}${begun.length === 0 ? '' : `: ${started.join(', ')}`}.`,
      left.open.length === 0 ? '' : clean`May have started: ${left.open.join(', ')}.`,
      left.unsent.length === 0 ? '' : clean`Not started: ${left.unsent.join(', ')}.`,
      'Run the same command again to start only the rest, or with another --idempotency-key to start all of them again.',
    ];
    io.note(words.filter(Boolean).join(' '));
  }
  const ended = await Promise.all(
    begun.map(async work => {
      let text = '';
      const print = async (more: string): Promise<void> => {
        text += more;
      };
      const own: CommandIo = Object.create(io, { print: { value: print } });
      const each = { ...context, io: own };
      const code = await finish(work, flags, each, begun.length).catch(async (error: unknown) => {
        const after = exitCodeAfterChange(error);
        await io.fail(error, after);
        return after;
      });
      return { code, text };
    }),
  );
  for (const { text } of ended) await io.print(text);
  return worstOf([...codes, ...ended.map(({ code }) => code)]);
}
