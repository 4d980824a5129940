/** What the commands that change something have in common: they show the request, ask first, wait, and print what came of it. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import * as z from 'zod/mini';
import type { Action } from '../queries/action.ts';
import type { ResourceRef } from '../queries/remembered/store.ts';
import type { RequestPreview } from '../service/request.ts';
import { safeJson, sanitiseLine } from '../text/sanitise.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { checkRecordFlags, printRecord, type RecordFlags } from './output.ts';
import { untilEnded, wordsOf } from './watch.ts';
import type { CommandContext } from './with-service.ts';

export interface ActFlags extends RecordFlags {
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly wait?: boolean | undefined;
  readonly timeout?: number | undefined;
}

function requestText({ method, path, body }: RequestPreview): string {
  return `${method} ${path}\n${body === undefined ? '' : `${safeJson(body, 2)}\n`}`;
}

/** Prints the requests that an action would send with each input: nothing is sent. */
export async function printRequests<Input>(
  send: Action<Input, unknown>,
  inputs: readonly Input[],
  { service }: CommandContext,
  { json }: ActFlags,
  io: CommandIo,
): Promise<ExitCode> {
  const requests = inputs.flatMap(input => service.describe(noting => send(noting, input)));
  await io.print(json ? `${safeJson(requests, 2)}\n` : requests.map(requestText).join('\n'));
  return exitCodes.done;
}

/**
 * A line that the user types at a terminal.
 *
 * @param hidden whether the terminal shows nothing of it
 * @throws AbortError once the user interrupts, or ends the input
 */
export async function askLine(io: CommandIo, question: string, { hidden = false } = {}): Promise<string> {
  const { stderr } = process;
  const output = hidden ? new Writable({ write: (_text, _encoding, done) => done() }) : stderr;
  // Read key by key, the terminal itself shows nothing of what is typed.
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
 * Asks before something is lost.
 *
 * @param question what is lost, e.g. `Delete run first?`
 * @throws CommandError if the answer is not yes, or there is no terminal to ask on
 */
export async function confirm(question: string, { yes }: ActFlags, io: CommandIo): Promise<void> {
  if (yes) return;
  if (!io.input.isTTY)
    throw new CommandError(`${question} There is no terminal to ask on: add --yes. Nothing was sent.`);
  const answer = await askLine(io, `${sanitiseLine(question)} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was sent.', exitCodes.failed);
}

/** Sends an action that starts something, and remembers what it has started. */
export async function start<Input, Result>(
  send: Action<Input, Result>,
  input: Input,
  { service, memory, signal }: CommandContext,
): Promise<Result> {
  const result = await send(service, input, { signal });
  const seen = send.starts?.(result, input);
  if (seen?.kind && seen.id) memory.see([{ ...seen, kind: seen.kind, id: seen.id }]);
  return result;
}

/** Of every record that `printOutcome` prints, whatever the contract calls its id. */
const withId = z.object({ id: z.string() });

/** Checks before a write how its record is to be printed. @throws CommandError as `checkRecordFlags` does */
export function checkOutcomeFlags(flags: RecordFlags, answers: readonly z.ZodMiniType[], io: CommandIo): Promise<void> {
  return checkRecordFlags(flags, [...answers, withId], io);
}

/** Prints what a write has brought; where that fails, standard error says what it was: it is done all the same. */
export async function printOutcome(
  record: object,
  { id, label }: Pick<ResourceRef, 'id' | 'label'>,
  flags: RecordFlags,
  io: CommandIo,
): Promise<void> {
  try {
    await printRecord(record, id, flags, io);
  } catch (error) {
    io.note(`${label} is ${id}`);
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(error.message, exitCodes.failed);
  }
}

/**
 * Waits until what was started has ended, where --wait says so; each change goes to standard error.
 *
 * @param again reads the record once it has ended
 */
export async function finish(
  ref: ResourceRef,
  started: object,
  again: () => Promise<object>,
  flags: ActFlags,
  context: CommandContext,
  io: CommandIo,
): Promise<ExitCode> {
  if (!flags.wait) {
    await printOutcome(started, ref, flags, io);
    return exitCodes.done;
  }
  io.note(`${ref.label} is ${ref.id}`);
  const code = await untilEnded(ref, context, io, {
    timeout: flags.timeout,
    onChange: async seen => io.note(`${sanitiseLine(ref.label)}: ${sanitiseLine(wordsOf(seen))}`),
  });
  // Interrupted, it can be read no more; its id is still what a script needs.
  const record = code === exitCodes.interrupted ? started : { ...started, ...(await again()) };
  await printOutcome(record, ref, flags, io);
  return code;
}
