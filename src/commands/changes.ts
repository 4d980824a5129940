/** `benchtop cancel`, `delete` and `undeploy`: commands that change existing resources. */

import * as z from 'zod/mini';
import { capitalised } from '../base/capitalised.ts';
import { isRecord } from '../base/own-property.ts';
import type { Deployment } from '../contract/deployments.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { type Action, sendAll } from '../queries/action.ts';
import type { ChangeAction } from '../resources/action.ts';
import { actionOf, changedBy, resourceNamed, resourceOfId } from '../resources/catalogue.ts';
import { describeOutages, outagesOf, typedFor } from '../resources/change-messages.ts';
import { changeEach, confirmed, recheck, withOutages, withRead } from '../resources/changes.ts';
import { asTitle, type Resource, singularName } from '../resources/define.ts';
import { servedNow } from '../resources/production.ts';
import { isUnanswered } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { clean, sanitiseLine } from '../text/sanitise.ts';
import { type ActFlags, confirm, printOutcome, printRequests } from './act.ts';
import {
  awaitChange,
  awaitedChange,
  endedBefore,
  endedByItself,
  type Outcome,
  refOfFound,
  statusBefore,
  statusOfRefused,
} from './awaited-changes.ts';
import { forgetTextsOf } from './connect.ts';
import { CommandError, type ExitCode, exitCodes, worstOf } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { type Found, findAmong, nameOf } from './find.ts';
import type { CommandIo } from './io.ts';
import { checkField } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import type { ServiceFlags } from './table/flags.ts';
import { type CommandContext, isRefusal, withService } from './with-service.ts';

/** The output for each changed resource. */
const changedSchema = z.object({ id: z.string(), kind: z.string(), done: z.string() });
/** The last status seen, with --wait. */
const waitedFor = z.extend(changedSchema, { status: z.nullable(z.string()) });

/** Why a resource was not changed, or may not have been changed. */
function reasonOf(found: Found, error: Error | undefined, participle: string, lateAfter: number | undefined): Error {
  const name = sanitiseLine(nameOf(found));
  if (lateAfter === undefined || isRefusal(error))
    return error ?? new CommandError(`${name} was not ${participle}.`, exitCodes.failed);
  const isUnknown = isUnanswered(error);
  const what = isUnknown
    ? `it is not known whether ${name} was ${participle}. Check before you repeat it.`
    : `${name} was not ${participle}.`;
  return new CommandError(
    `The service did not respond within ${counted(lateAfter, 'second')}: ${what}`,
    exitCodes.timeout,
  );
}

/** Refuses a name that is known only from the local history: another resource may have that name now. */
function onlyRemembered(word: string, found: Found): CommandError {
  const words = clean`${word} is the name of ${nameOf(found)} as last seen here`;
  return new CommandError(
    `${words}. This service does not list them, so another may have that name now: give the id. Nothing was changed.`,
  );
}

/** The commands whose changes the resources declare. */
type ChangeCommand = 'cancel' | 'delete' | 'undeploy';

type ChangeInput = Pick<CommandInput<ChangeCommand>, 'args'> & { readonly flags: ActFlags & ServiceFlags };

/** One invocation of a change command. */
interface ChangeRun {
  readonly command: string;
  /** The past participle for messages: `cancelled`. */
  readonly participle: string;
  readonly flags: ActFlags & ServiceFlags;
  readonly context: CommandContext;
}

/** A resource to change. */
interface Target extends Found {
  readonly action: ChangeAction<object>;
}

/**
 * A command that changes rows: it finds all resources first, asks once, then sends the changes. A failure does not stop
 * the others.
 */
export function changeBy(command: ChangeCommand) {
  const among = changedBy(command);
  const changes = among.flatMap(resource => actionOf(resource, command)?.change ?? []);
  // A resource may have its own verb: secrets are revoked.
  const participle = changes.find(({ verb }) => verb === command)?.participle ?? command;
  return async ({ args, flags }: ChangeInput, io: CommandIo): Promise<number> => {
    checkField(flags, [flags.wait ? waitedFor : changedSchema]);
    const work = async (context: CommandContext): Promise<ExitCode> => {
      const run: ChangeRun = { command, participle, flags, context };
      if (!flags.dryRun) context.service.requireWrites();
      const found = await findEach(args, among, run);
      const send = changeEach(found);
      if (flags.dryRun) return printRequests(send, found, context, flags);
      await confirmChange(found, run);
      const code = await changeFound(send, found, run);
      if (command === 'undeploy' && flags.wait && code === exitCodes.done) await noteServed(found, run);
      return code;
    };
    return withService(flags, io, work, participle);
  };
}

/** Notes which deployment serves the slugs now, if one still does. An interruption does not undo the change. */
async function noteServed(found: readonly Found[], { context }: ChangeRun): Promise<void> {
  const removed = found.map(({ row }) => row as Deployment);
  const words = await servedNow(removed, context).catch(() => undefined);
  if (words) context.io.note(words);
}

/** The resources that the words name, each once. @throws CommandError if one is not found */
async function findEach(
  words: readonly string[],
  among: readonly Resource[],
  { command, participle, context }: ChangeRun,
): Promise<readonly Target[]> {
  const byId = new Map<string, Target>();
  for (const word of words) {
    const each = await findAmong(among, word, context, { use: 'write' }).catch((error: unknown) => {
      if (!(error instanceof CommandError) || words.length === 1) throw error;
      throw new CommandError(`${error.message} Nothing was ${participle}.`, error.exitCode);
    });
    if (words.length > 1 && word === words[0] && resourceNamed(word.toLowerCase()))
      throw new CommandError(
        clean`${word} is the word for a kind, but also names ${nameOf(each)}: give its id, and ids only. Nothing was ${participle}.`,
      );
    const looksLike = among.length > 1 ? resourceOfId(word) : undefined;
    if (looksLike && looksLike !== each.resource && word !== each.id)
      throw new CommandError(
        clean`${word} looks like the id of a ${singularName(looksLike)}, but is the name of ${nameOf(each)}: give its id. Nothing was ${participle}.`,
      );
    const change = actionOf(each.resource, command);
    if (!change?.change) throw new Error(`${command} is not for ${each.resource.names[0]}`);
    const { listedBy, blockedReason } = change.change;
    const lacking = blockedReason?.(each.row);
    if (lacking !== undefined) throw new CommandError(`Nothing was ${participle}. ${sanitiseLine(lacking)}`);
    if (listedBy && word !== each.id && !context.service.capabilities.has(listedBy)) throw onlyRemembered(word, each);
    byId.set(`${each.resource.names[0]} ${each.id}`, { ...each, action: change });
  }
  return [...byId.values()];
}

/**
 * Asks before anything is lost; to take production down, the user must type its slug. Asks again if the question is out
 * of date when the user answers.
 */
export async function confirmChange(found: readonly Target[], { command, flags, context }: ChangeRun): Promise<void> {
  const { io } = context;
  const consequences = [...new Set(found.map(({ action: { change } }) => capitalised(change.consequence)))].join(' ');
  const ask = async (rows: readonly Target[]): Promise<void> => {
    const outages = outagesOf(rows);
    const named = await withRead('withNames', rows, context);
    const names = named.map(each => {
      const called = each.action.change.nameOfRow?.(each.row);
      return called === undefined ? nameOf(each) : `${singularName(each.resource)} ${called}`;
    });
    const question = `${asTitle(command)} ${names.join(', ')}? ${describeOutages(outages)}${consequences}`;
    await confirm(question, flags, io, typedFor(outages));
  };
  if (!flags.yes) {
    const asked = await withOutages(found, context);
    await confirmed(asked, ask, rows => recheck(rows, query => query.read(context), context), io.note);
    return;
  }
  // The user named the deployments to take down, but not those that go down with a training run.
  const known = await withRead('withProduction', found, context);
  const others = describeOutages(outagesOf(known).filter(({ origin }) => origin !== undefined)).trimEnd();
  if (others !== '') io.note(others);
}

/** Sends the changes, waits for them to end with `--wait`, and prints each outcome. */
async function changeFound(send: Action<Target>, found: readonly Target[], run: ChangeRun): Promise<ExitCode> {
  const { context } = run;
  const answers = new Map<Target, unknown>();
  context.io.stopOnSignals?.();
  const left = await sendAll(context.service, send, found, {
    signal: context.signal,
    onSuccess: (each, _done, answer) => answers.set(each, answer),
  });
  const failures = new Map(left.map(({ input, error }) => [input, error]));
  const outcomes = new Map<Target, Outcome>();
  const reasons: Error[] = [];
  for (const [each, error] of failures) {
    const after = await afterFailure(each, error, run);
    if (after instanceof Error) reasons.push(after);
    else if (after === 'stopping') failures.delete(each);
    else outcomes.set(each, after);
  }
  const sent = found.filter(each => !failures.has(each));
  await Promise.all(sent.map(async each => outcomes.set(each, await afterRequest(each, sent.length, run))));
  for (const each of found) {
    const outcome = outcomes.get(each);
    if (outcome) await printChange(each, outcome, answers.get(each), run);
  }
  return worstOf([...reasons.map(exitCodeOf), ...[...outcomes.values()].map(({ code }) => code)]);
}

/**
 * Handles a refusal. If the resource had already ended, that is its outcome; if it is `stopping` after an earlier
 * request, the wait follows that request; otherwise prints why it was not changed.
 */
async function afterFailure(
  each: Target,
  error: Error | undefined,
  { participle, flags, context }: ChangeRun,
): Promise<Outcome | 'stopping' | Error> {
  const { io } = context;
  const { waitUntil } = each.action.change;
  const status = flags.wait && waitUntil?.mayHaveEnded ? await statusOfRefused(each, error, context) : undefined;
  if (status !== undefined && hasEnded(status)) return endedBefore(each, status, io);
  if (status !== undefined && statusMeaning(status) === 'stopping') return 'stopping';
  const lateAfter = context.signal.aborted && !io.signal.aborted ? flags.timeout : undefined;
  const reason = reasonOf(each, error, participle, lateAfter);
  await io.fail(reason);
  return reason;
}

/** With `--wait`, waits for the end of an accepted change. */
async function afterRequest(each: Target, among: number, { participle, flags, context }: ChangeRun): Promise<Outcome> {
  const { io } = context;
  const { waitUntil, nameOfRow } = each.action.change;
  if (!flags.wait || !waitUntil) return { code: exitCodes.done };
  const before = waitUntil.mayHaveEnded ? statusBefore(each) : undefined;
  // Some services accept the request even for work that has ended.
  if (before !== undefined && hasEnded(before)) return endedBefore(each, before, io);
  const options = { timeout: flags.timeout, among, change: awaitedChange(each, participle, waitUntil) };
  const ref = refOfFound(each);
  // Others with that name may remain, such as the deployment that serves a slug.
  const outcome = await awaitChange({ ...ref, label: nameOfRow?.(each.row as never) ?? ref.label }, options, context);
  return waitUntil.mayHaveEnded ? endedByItself(each, outcome, participle, io) : outcome;
}

async function printChange(
  each: Target,
  outcome: Outcome,
  answer: unknown,
  { participle, flags, context }: ChangeRun,
): Promise<void> {
  const { io } = context;
  const { resource, id, row } = each;
  const { code, status = null, endedUnchanged } = outcome;
  const isDone = code === exitCodes.done;
  const { send, partialOutcome } = each.action.change;
  // With --wait, the change is complete even if the first response showed an earlier status.
  const reply = flags.wait ? undefined : answer;
  // Remember the resource until it is gone: the user may still look it up by name.
  const { kind } = resource;
  if (isDone && kind && send.removes?.resource(row as never, reply)) {
    context.memory.forget(kind, id);
    const problem = forgetTextsOf(context.config, { kind, id });
    if (problem !== undefined) io.note(problem);
  }
  const short = isDone ? partialOutcome?.(reply) : undefined;
  const isNow = short ?? (isDone ? participle : 'requested');
  if (short !== undefined && !flags.json) io.note(clean`${nameOf(each)}: ${short}`);
  const record: z.infer<typeof changedSchema> = {
    ...(isRecord(answer) && answer),
    id,
    kind: resource.names[1],
    done: endedUnchanged ? 'ended' : isNow,
    ...(flags.wait && { status }),
  };
  await printOutcome(record, { id, label: nameOf(each) }, flags, io, true);
}
