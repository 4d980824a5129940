/** Commands that change existing resources: `cancel`, `delete`, `undeploy`, `promote`, `reward` and `secret set`. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { type Deployment, deployment } from '../contract/deployments.ts';
import type { Operation } from '../contract/endpoints.ts';
import { secret } from '../contract/secrets.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { logRewardResult } from '../contract/trajectories.ts';
import { type Action, action, sendAll } from '../queries/action.ts';
import { promote, undeploy, unpromote } from '../queries/deployments.ts';
import { cancelRun, deleteRun } from '../queries/evaluations.ts';
import { createSecret, deleteSecret } from '../queries/secrets.ts';
import { cancelTraining, deleteTraining } from '../queries/training.ts';
import { logReward } from '../queries/trajectories.ts';
import { calledName } from '../resources/deployments.ts';
import { ServiceError } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { isRecord, own } from '../text/own.ts';
import { safeJson, sanitiseLine } from '../text/sanitise.ts';
import {
  type ActFlags,
  askLine,
  checkOutcomeFlags,
  confirm,
  confirmTyped,
  printOutcome,
  printRequests,
} from './act.ts';
import {
  awaited,
  endedBefore,
  type Outcome,
  refOfFound,
  statusBefore,
  statusOfRefused,
  untilCancelled,
  untilUndeployed,
} from './awaited-changes.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { type Found, findAmong, nameOf, resourceOrThrow } from './find.ts';
import { type CommandIo, readInput } from './io.ts';
import { checkRecordFlags } from './output.ts';
import { replacedBy, slugsInProduction } from './production.ts';
import type { CommandInput } from './table/commands.ts';
import type { ServiceFlags } from './table/flags.ts';
import type { AwaitedChange } from './until-ended.ts';
import { type CommandContext, isRefusal, withService } from './with-service.ts';

/** What a verb does to the rows of a resource. */
type Deed = Action<never>;

interface Change {
  /** For the question, e.g. `Delete`. */
  readonly verb: string;
  /** For the result, e.g. `deleted`. */
  readonly past: string;
  /** What is lost; the end of the question. */
  readonly loses: string;
  /** By the first name of the resource. */
  readonly verbs: Readonly<Record<string, Deed>>;
  /** What has to be typed before it, as it takes something out of production; undefined if it does not. */
  readonly typed?: (found: readonly Found[]) => string | undefined;
  /** What --wait waits for. */
  readonly awaits?: (found: Found) => AwaitedChange;
  /** How to do it where it failed, if there is another way. */
  readonly hint?: (found: Found) => string | undefined;
  /** The operation that lists them. Without it, a name is not taken, because only this machine knows it. */
  readonly listedBy?: Operation;
  /** With --wait, what is refused because it has ended by itself is as good as changed. */
  readonly mayHaveEnded?: true;
}

/** How to delete a run whose benchmark only the user knows, where the service asks for both. */
function deleteHint({ resource, id, row }: Found): string | undefined {
  if (resource.kind !== 'run' || resource.parent?.(row)) return undefined;
  const command = `benchtop api deleteEvalRun bench_id=ID eval_run_id=${sanitiseLine(id)}`;
  return `The benchmark of the run is not known. Name it: ${command}`;
}

/** What is printed of each resource that was changed. */
const changed = z.object({ id: z.string(), kind: z.string(), done: z.string() });
/** With --wait also the last status that was seen. */
const waitedFor = z.extend(changed, { status: z.nullable(z.string()) });

/** Why a resource was not changed, or may not have been. */
function reasonOf(found: Found, error: Error | undefined, past: string, lateAfter: number | undefined): Error {
  const name = sanitiseLine(nameOf(found));
  if (lateAfter === undefined || isRefusal(error))
    return error ?? new CommandError(`${name} was not ${past}.`, exitCodes.failed);
  const isUnknown = error instanceof ServiceError && error.outcomeUnknown;
  const what = isUnknown
    ? `it is not known whether ${name} was ${past}. Check before you repeat it.`
    : `${name} was not ${past}.`;
  return new CommandError(
    `The service did not answer within ${counted(lateAfter, 'second')}: ${what}`,
    exitCodes.timeout,
  );
}

/** A name that nothing but this machine's memory resolves: what it stands for would depend on what was seen here. */
function onlyRemembered(word: string, found: Found): CommandError {
  const words = sanitiseLine(`${word} is the name of ${nameOf(found)} as it was seen here`);
  return new CommandError(
    `${words}. This service does not list them, so another may have that name now: give the id. Nothing was changed.`,
  );
}

/** Finds all resources first, asks once, then sends. A failure does not stop the others. */
async function changeAll(
  change: Change,
  words: readonly string[],
  flags: ActFlags & ServiceFlags,
  io: CommandIo,
): Promise<number> {
  const { verb, past, loses, verbs, typed, awaits, mayHaveEnded, hint, listedBy } = change;
  await checkRecordFlags(flags, [flags.wait ? waitedFor : changed], io);
  const work = async (context: CommandContext): Promise<ExitCode> => {
    if (!flags.dryRun) context.service.requireWrites();
    const among = Object.keys(verbs).map(resourceOrThrow);
    // A resource that is named twice counts once.
    const byId = new Map<string, Found>();
    for (const word of words) {
      const each = await findAmong(among, word, context);
      if (listedBy && word !== each.id && !context.service.capabilities.has(listedBy)) throw onlyRemembered(word, each);
      byId.set(`${each.resource.names[0]} ${each.id}`, each);
    }
    const found = [...byId.values()];
    const removes = Object.values(verbs).every(deed => deed.removes);
    const send: Action<Found> = action(
      async (service, { resource, row }, options) => {
        return own(verbs, resource.names[0])?.(service, row as never, options);
      },
      { touches: [], ...(removes && { removes: ({ id }) => ({ id }) }) },
    );
    if (flags.dryRun) return printRequests(send, found, context, flags, io);
    const question = `${verb} ${found.map(nameOf).join(', ')}? ${loses}`;
    const slugs = typed?.(found);
    if (slugs === undefined) await confirm(question, flags, io);
    else await confirmTyped(`${question} In production now: ${slugs}.`, slugs, flags, io);
    const answers = new Map<Found, unknown>();
    const left = await sendAll(context.service, send, found, {
      signal: context.signal,
      onSuccess: (each, _done, answer) => answers.set(each, answer),
    });
    const failed = new Map(left.map(({ input, error }) => [input, error]));
    const lateAfter = context.signal.aborted && !io.signal.aborted ? flags.timeout : undefined;
    const outcomes = new Map<Found, Outcome>();
    const reasons: Error[] = [];
    for (const [each, error] of failed) {
      const status = flags.wait && mayHaveEnded ? await statusOfRefused(each, error, context) : undefined;
      if (status !== undefined && hasEnded(status)) {
        outcomes.set(each, endedBefore(each, status, io));
        continue;
      }
      if (status !== undefined && statusMeaning(status) === 'stopping') {
        // An earlier request is at work: it is followed like this one.
        failed.delete(each);
        continue;
      }
      const reason = reasonOf(each, error, past, lateAfter);
      reasons.push(reason);
      await io.fail(reason);
      const advice = hint?.(each);
      if (advice !== undefined) io.note(advice, { id: each.id });
    }
    const sent = found.filter(each => !failed.has(each));
    const limits = { timeout: flags.timeout, among: sent.length };
    await Promise.all(
      sent.map(async each => {
        const before = flags.wait && mayHaveEnded ? statusBefore(each) : undefined;
        // Some services accept the request all the same.
        if (before !== undefined && hasEnded(before)) {
          outcomes.set(each, endedBefore(each, before, io));
          return;
        }
        const isAwaited = flags.wait && awaits;
        const waited = isAwaited && (await awaited(refOfFound(each), { ...limits, change: awaits(each) }, context, io));
        outcomes.set(each, waited || { code: exitCodes.done });
      }),
    );
    for (const each of found) {
      const { resource, id } = each;
      const outcome = outcomes.get(each);
      if (!outcome) continue;
      const { code, status = null, hadEnded } = outcome;
      const isDone = code === exitCodes.done;
      // Until it is gone, its name has to find it again.
      if (removes && resource.kind && isDone) context.memory.forget(resource.kind, id);
      const isNow = isDone ? past : 'requested';
      const done = hadEnded ? 'ended' : isNow;
      const answer = answers.get(each);
      const record: z.infer<typeof changed> = {
        ...(isRecord(answer) && answer),
        id,
        kind: resource.names[1],
        done,
        ...(flags.wait && { status }),
      };
      // One line for each: there may be many.
      if (flags.json) await io.print(`${safeJson(record)}\n`);
      else await printOutcome(record, { id, label: nameOf(each) }, flags, io);
    }
    const codes = [...reasons.map(exitCodeOf), ...[...outcomes.values()].map(({ code }) => code)];
    return codes.find(code => code !== exitCodes.done) ?? exitCodes.done;
  };
  return withService(flags, io, work, past);
}

export function cancel({ args, flags }: CommandInput<'cancel'>, io: CommandIo): Promise<number> {
  const verbs = { runs: cancelRun as Deed, training: cancelTraining as Deed };
  const loses = 'Running work stops; finished work is kept.';
  return changeAll(
    { verb: 'Cancel', past: 'cancelled', loses, verbs, awaits: untilCancelled, mayHaveEnded: true },
    args,
    flags,
    io,
  );
}

export function remove({ args, flags }: CommandInput<'delete'>, io: CommandIo): Promise<number> {
  const verbs = { runs: deleteRun as Deed, training: deleteTraining as Deed, secrets: deleteSecret as Deed };
  const loses = 'This cannot be undone.';
  return changeAll({ verb: 'Delete', past: 'deleted', loses, verbs, hint: deleteHint }, args, flags, io);
}

export function takeDown({ args, flags }: CommandInput<'undeploy'>, io: CommandIo): Promise<number> {
  const verbs = { deployments: undeploy as Deed };
  const loses = 'It stops answering, and its record is deleted. This cannot be undone.';
  const typed = (found: readonly Found[]) => slugsInProduction(found.map(({ row }) => row as Deployment));
  return changeAll(
    { verb: 'Undeploy', past: 'undeployed', loses, verbs, typed, awaits: untilUndeployed, listedBy: 'listDeployments' },
    args,
    flags,
    io,
  );
}

export async function promoteOne(
  { args: [word = ''], flags }: CommandInput<'promote'>,
  io: CommandIo,
): Promise<number> {
  await checkOutcomeFlags(flags, [deployment], io);
  return withService(flags, io, async context => {
    const among = [resourceOrThrow('deployments')];
    const { id, row } = await findAmong(among, word, context);
    const send = flags.undo ? unpromote : promote;
    const demoted = flags.demote === undefined ? undefined : await findAmong(among, flags.demote, context);
    const input = { deployment_id: id, ...(demoted && { demote_deployment_id: demoted.id }) };
    if (flags.dryRun) return printRequests(send, [input], context, flags, io);
    context.service.requireWrites();
    const slug = calledName(row as Deployment);
    const replaced = demoted ? `${demoted.id} is demoted.` : flags.yes ? '' : await replacedBy(slug, context, id);
    const question = flags.undo
      ? `${id} stops answering for ${slug}.`
      : `${id} answers for ${slug} from now on. ${replaced}`;
    await confirmTyped(question, slug, flags, io);
    await printOutcome(await send(context.service, input, { signal: context.signal }), { id, label: slug }, flags, io);
    return exitCodes.done;
  });
}

export async function reward({ args, flags }: CommandInput<'reward'>, io: CommandIo): Promise<number> {
  const [trajectory_id = '', name = '', text = ''] = args;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw new CommandError(`The value of a reward is a number, not ${text}.`);
  const { explanation, weight, rewardId, tokenEnv } = flags;
  const token = tokenEnv === undefined ? undefined : own(io.environment, tokenEnv);
  if (tokenEnv !== undefined && !token) {
    throw new CommandError(`The variable ${tokenEnv} is not set.`, exitCodes.forbidden);
  }
  await checkOutcomeFlags(flags, [logRewardResult, z.object({ reward_id: z.string() })], io);
  const reward_id = rewardId ?? randomUUID();
  const input = { trajectory_id, token, reward_id, name, value, explanation, weight };
  return withService(flags, io, async context => {
    if (flags.dryRun) return printRequests(logReward, [input], context, flags, io);
    const result = await logReward(context.service, input, { signal: context.signal });
    await printOutcome({ ...result, reward_id }, { id: reward_id, label: name }, flags, io);
    return exitCodes.done;
  });
}

/** The value of a secret: typed without echo, or piped in. A final line end is dropped. */
async function readSecret(name: string, io: CommandIo): Promise<string> {
  if (io.input.isTTY) return askLine(io, `Value of ${sanitiseLine(name)} (not shown): `, { hidden: true });
  return (await readInput(io)).replace(/\r?\n$/, '');
}

export async function setSecret(
  { args: [name = ''], flags }: CommandInput<'secret set'>,
  io: CommandIo,
): Promise<number> {
  await checkOutcomeFlags(flags, [secret], io);
  return withService(flags, io, async context => {
    if (!flags.dryRun) context.service.requireWrites();
    const value = flags.dryRun ? '' : await readSecret(name, io);
    const input = { name, value, description: flags.description };
    if (flags.dryRun) return printRequests(createSecret, [input], context, flags, io);
    if (value === '')
      throw new CommandError(`The value of ${name} is empty. Pipe it in: benchtop secret set ${name} < FILE`);
    const made = await createSecret(context.service, input, { signal: context.signal });
    await printOutcome(made, { id: made.secret_id, label: name }, flags, io);
    return exitCodes.done;
  });
}
