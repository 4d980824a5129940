/** Shared by the commands that write: preview, confirmation, waiting, and printing the outcome. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import * as z from 'zod/mini';
import { errorMessage } from '../base/errors.ts';
import { own } from '../base/own-property.ts';
import type { Action } from '../queries/action.ts';
import { resourceOfKind } from '../resources/catalogue.ts';
import type { RequestPreview } from '../service/request.ts';
import type { ResourceRef } from '../store/store.ts';
import { clean, safeJson, sanitiseLine } from '../text/sanitise.ts';
import { isTyped, typeable } from '../text/typed.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeAfterChange, exitCodeOf } from './failure.ts';
import { describeFollowedState, type FollowedState, stateFields } from './followed-state.ts';
import type { CommandIo } from './io.ts';
import { checkField, printRecord, type RecordFlags, recordText } from './output.ts';
import { parseUntil } from './until.ts';
import { untilEnded } from './until-ended.ts';
import { WatchedAlarms } from './watch-alarms.ts';
import type { CommandContext } from './with-service.ts';

export interface ActFlags extends RecordFlags {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly wait?: boolean | undefined;
  readonly timeout?: number | undefined;
  readonly until?: string | undefined;
}

/** A request to show instead of sending. Its body is JSON, or raw text for a path outside the contract. */
export type Preview = Pick<RequestPreview, 'method' | 'path'> & { readonly body: unknown };

function requestText({ method, path, body }: Preview): string {
  return `${method} ${path}\n${body === undefined ? '' : `${safeJson(body, 2)}\n`}`;
}

/** Prints the requests that an action would send for each input. Sends nothing. */
export async function printRequests<Input>(
  send: Action<Input, unknown>,
  inputs: readonly Input[],
  { service, io }: CommandContext,
  { json }: ActFlags,
): Promise<ExitCode> {
  const requests = inputs.flatMap(input => service.describe(noting => send(noting, input)));
  return printPreviews(requests, json, io);
}

/** Prints requests without sending them. */
export async function printPreviews(
  requests: readonly Preview[],
  json: boolean | undefined,
  io: CommandIo,
): Promise<ExitCode> {
  await io.print(json ? `${safeJson(requests, 2)}\n` : requests.map(requestText).join('\n'));
  return exitCodes.done;
}

/**
 * Reads a line that the user types at a terminal.
 *
 * @param hidden whether to hide the typed text
 * @throws AbortError if the user interrupts or ends the input
 */
export async function askLine(io: CommandIo, question: string, { hidden = false } = {}): Promise<string> {
  if (io.lines) return io.lines.ask(question, hidden);
  const { stderr } = process;
  const output = hidden ? new Writable({ write: (_text, _encoding, done) => done() }) : stderr;
  // Raw mode keeps the terminal from echoing a hidden answer.
  const terminal = createInterface({ input: io.input, output, terminal: hidden || stderr.isTTY });
  const stop = new AbortController();
  for (const end of ['SIGINT', 'close']) terminal.once(end, () => stop.abort());
  try {
    if (hidden) stderr.write(question);
    return await terminal.question(hidden ? '' : question, { signal: AbortSignal.any([io.signal, stop.signal]) });
  } finally {
    terminal.close();
    if (hidden) stderr.write('\n');
  }
}

/**
 * Asks before a command deletes something, or changes what is in production.
 *
 * @param question e.g. `Delete run first?`
 * @param typed a slug that the user must type instead of yes
 * @throws CommandError for any other answer, or if there is no terminal
 */
export async function confirm(question: string, { yes }: ActFlags, io: CommandIo, typed = ''): Promise<void> {
  if (yes) return;
  if (!io.input.isTTY)
    throw new CommandError(`${question} There is no terminal to ask on: add --yes. Nothing was changed.`);
  const how = typed === '' ? '[y/N] ' : `Type ${typeable(typed)} to confirm: `;
  const answer = await askLine(io, `${sanitiseLine(question)} ${how}`).catch((error: Error) => {
    throw error.name === 'AbortError' ? new CommandError('Nothing was changed.', exitCodes.interrupted) : error;
  });
  if (typed === '' ? /^y(es)?$/i.test(answer.trim()) : isTyped(answer, typed)) return;
  throw new CommandError('Nothing was changed.', exitCodes.failed);
}

/** The token from the variable that `--token-env` names. @throws CommandError if the variable is not set */
export function trajectoryToken(
  { tokenEnv }: { readonly tokenEnv?: string | undefined },
  { environment }: CommandIo,
): string | undefined {
  const token = tokenEnv === undefined ? undefined : own(environment, tokenEnv);
  if (tokenEnv === undefined || token) return token;
  throw new CommandError(`The variable ${tokenEnv} is not set.`, exitCodes.forbidden);
}

/** Makes `--field id` valid for every record that `printOutcome` prints. */
const withId = z.object({ id: z.string() });

/** Checks --field before anything is written. @throws CommandError as `checkField` does */
export function checkOutcomeField(flags: RecordFlags, answers: readonly z.ZodMiniType[]): void {
  checkField(flags, [...answers, withId]);
}

/** Prints the result of a write. If printing fails, standard error names the result, because the write has happened. */
export async function printOutcome(
  record: object,
  { id, label }: Pick<ResourceRef, 'id' | 'label'>,
  flags: RecordFlags,
  io: CommandIo,
  isLine = false,
): Promise<void> {
  try {
    // The field was checked against the contract before anything was sent.
    await printRecord(record, id, flags, io, { mayLack: () => true, isLine });
  } catch (error) {
    io.note(clean`${label} is ${id}`);
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, exitCodes.failed);
  }
}

/** Notes each change while waiting. */
export function noteChange(
  { label }: Pick<ResourceRef, 'label'>,
  io: CommandIo,
): (seen: FollowedState) => Promise<void> {
  return async seen => {
    const fields = { id: seen.id, ...stateFields(seen), failure: seen.failure };
    io.note(clean`${label}: ${describeFollowedState(seen)}`, fields);
  };
}

/** Notes the warnings in a record, e.g. tasks that no grader can grade. */
function noteWarnings(record: object, { id, label }: Pick<ResourceRef, 'id' | 'label'>, io: CommandIo): void {
  const { warnings } = record as { readonly warnings?: unknown };
  for (const warning of Array.isArray(warnings) ? warnings : []) {
    io.note(clean`${label}: warning: ${warning}`, { id, warning });
  }
}

/** A start request that was sent. */
export interface StartedWork {
  readonly ref: ResourceRef;
  /** The response. */
  readonly result: object;
  /** Reads the record of the started work. */
  readonly reread: () => Promise<object>;
}

/**
 * With --wait, waits until the work has ended and reports each change on standard error.
 *
 * @param among how many the command has started, if each is printed on a line; it waits for all of them at once
 * @throws ServiceError if the state cannot be read; the start's result is printed first
 */
export async function finish(
  { ref, result: started, reread }: StartedWork,
  flags: ActFlags,
  context: CommandContext,
  among?: number,
): Promise<ExitCode> {
  const { io } = context;
  const print = (record: object): Promise<void> => printOutcome(record, ref, flags, io, among !== undefined);
  if (flags.wait) io.note(clean`${ref.label} is ${ref.id}`, { id: ref.id });
  const noted = resourceOfKind(ref.kind)?.watch?.failedParts?.inStart?.(started) ?? [];
  for (const words of noted) io.note(clean`${ref.label}: ${words}`);
  if (!flags.wait) {
    await print(started);
    return exitCodes.done;
  }
  let code: ExitCode;
  try {
    const until = flags.until === undefined ? undefined : parseUntil(flags.until);
    const alarms = new WatchedAlarms(context, false);
    const options = { timeout: flags.timeout, among, until, noted, alarms, onChange: noteChange(ref, io) };
    code = await untilEnded(ref, context, options);
  } catch (error) {
    // A script needs the id of the work that it started.
    await print(started);
    const after = exitCodeAfterChange(error);
    if (after === exitCodeOf(error)) throw error;
    await io.fail(error, after);
    return after;
  }
  // The outcome is known, so a record that cannot be re-read is printed as last seen.
  const seen = context.memory.seen.find(ref.kind, ref.id)?.record;
  const read = context.signal.aborted
    ? undefined
    : await reread().catch((error: unknown) => {
        const why = context.signal.aborted ? ' in time.' : `. ${errorMessage(error)}`;
        io.note(clean`${ref.label}: its record could not be read again${why}`, { id: ref.id });
      });
  const record = { ...started, ...(read ?? seen) };
  noteWarnings(record, ref, io);
  const { field } = flags;
  if (
    !read &&
    code === exitCodes.done &&
    field !== undefined &&
    recordText({ id: '', ...record }, field, () => true) === 'null\n'
  ) {
    io.note(clean`${ref.label}: its ${field} is unknown.`, { id: ref.id });
    return exitCodes.endUnseen;
  }
  await print(record);
  return code;
}
