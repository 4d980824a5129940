/** Commands that change existing resources: `cancel`, `delete`, `undeploy`, `promote`, `reward` and `secret set`. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { type Deployment, deployment } from '../contract/deployments.ts';
import { secret } from '../contract/secrets.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { logRewardResult } from '../contract/trajectories.ts';
import { type Action, action, sendAll } from '../queries/action.ts';
import { createSecret } from '../queries/secrets.ts';
import { logReward } from '../queries/trajectories.ts';
import type { Change } from '../resources/action.ts';
import { actionOf, changedBy } from '../resources/catalogue.ts';
import { asSentence, outageWords } from '../resources/change-words.ts';
import { asTitle } from '../resources/define.ts';
import { calledName, deploymentActions } from '../resources/deployments.ts';
import { isUnanswered, ServiceError } from '../service/errors.ts';
import { counted } from '../text/numbers.ts';
import { isRecord, own } from '../text/own.ts';
import { clean, safeJson, sanitiseLine } from '../text/sanitise.ts';
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
  awaitedChange,
  endedBefore,
  type Outcome,
  refOfFound,
  statusBefore,
  statusOfRefused,
} from './awaited-changes.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import { exitCodeOf } from './failure.ts';
import { type Found, findAmong, nameOf, resourceOrThrow } from './find.ts';
import { type CommandIo, readInput } from './io.ts';
import { checkRecordFlags } from './output.ts';
import { replacedBy } from './production.ts';
import type { CommandInput } from './table/commands.ts';
import type { ServiceFlags } from './table/flags.ts';
import { type CommandContext, isRefusal, withService } from './with-service.ts';

/** What is printed of each resource that was changed. */
const changed = z.object({ id: z.string(), kind: z.string(), done: z.string() });
/** The last status seen, with --wait. */
const waitedFor = z.extend(changed, { status: z.nullable(z.string()) });

/** Why a resource was not changed, or may not have been changed. */
function reasonOf(found: Found, error: Error | undefined, past: string, lateAfter: number | undefined): Error {
  const name = sanitiseLine(nameOf(found));
  if (lateAfter === undefined || isRefusal(error))
    return error ?? new CommandError(`${name} was not ${past}.`, exitCodes.failed);
  const isUnknown = isUnanswered(error);
  const what = isUnknown
    ? `it is not known whether ${name} was ${past}. Check before you repeat it.`
    : `${name} was not ${past}.`;
  return new CommandError(
    `The service did not answer within ${counted(lateAfter, 'second')}: ${what}`,
    exitCodes.timeout,
  );
}

/** A name that only this machine's memory can resolve: its meaning would depend on what was seen here. */
function onlyRemembered(word: string, found: Found): CommandError {
  const words = clean`${word} is the name of ${nameOf(found)} as it was seen here`;
  return new CommandError(
    `${words}. This service does not list them, so another may have that name now: give the id. Nothing was changed.`,
  );
}

/** The commands that change rows, by name, as the resources declare them. */
type ChangeCommand = 'cancel' | 'delete' | 'undeploy';

/** Finds all resources first, asks once, then sends. A failure does not stop the others. */
async function changeAll(
  command: ChangeCommand,
  words: readonly string[],
  flags: ActFlags & ServiceFlags,
  io: CommandIo,
): Promise<number> {
  const among = changedBy(command);
  /** @throws Error if there is none */
  const changing = ({ resource }: Found): Change<object> => {
    const change = actionOf(resource, command)?.change;
    if (!change) throw new Error(`${command} is not for ${resource.names[0]}`);
    return change;
  };
  const changes = among.flatMap(resource => actionOf(resource, command)?.change ?? []);
  // A resource may have its own verb: secrets are revoked.
  const past = changes.find(({ verb }) => verb === command)?.past ?? command;
  const removes = changes.every(({ send }) => send.removes);
  await checkRecordFlags(flags, [flags.wait ? waitedFor : changed], io);
  const work = async (context: CommandContext): Promise<ExitCode> => {
    if (!flags.dryRun) context.service.requireWrites();
    // A resource that is named twice counts once.
    const byId = new Map<string, Found>();
    for (const word of words) {
      const each = await findAmong(among, word, context).catch((error: unknown) => {
        if (!(error instanceof CommandError) || words.length === 1) throw error;
        throw new CommandError(`${error.message} Nothing was ${past}.`, error.exitCode);
      });
      const { listedBy } = changing(each);
      if (listedBy && word !== each.id && !context.service.capabilities.has(listedBy)) throw onlyRemembered(word, each);
      byId.set(`${each.resource.names[0]} ${each.id}`, each);
    }
    const found = [...byId.values()];
    const send: Action<Found> = action(
      (service, each, options) => changing(each).send(service, each.row as never, options),
      { touches: [], ...(removes && { removes: ({ id }) => ({ id }) }) },
    );
    if (flags.dryRun) return printRequests(send, found, context, flags, io);
    const loses = [...new Set(found.map(each => changing(each).loses))];
    const slugs = found.flatMap(each => changing(each).outage?.([each.row]) ?? []);
    const outage = outageWords(slugs);
    const question = `${asTitle(command)} ${found.map(nameOf).join(', ')}? ${outage}${loses.map(asSentence).join(' ')}`;
    if (slugs.length === 0) await confirm(question, flags, io);
    else await confirmTyped(question, slugs.join(' '), flags, io);
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
      const { ends, advice } = changing(each);
      const status = flags.wait && ends?.mayHaveEnded ? await statusOfRefused(each, error, context) : undefined;
      if (status !== undefined && hasEnded(status)) {
        outcomes.set(each, endedBefore(each, status, io));
        continue;
      }
      if (status !== undefined && statusMeaning(status) === 'stopping') {
        // An earlier request is still in progress; follow it the same way.
        failed.delete(each);
        continue;
      }
      const reason = reasonOf(each, error, past, lateAfter);
      reasons.push(reason);
      await io.fail(reason);
      const hint = advice?.(each.row);
      if (hint !== undefined) io.note(sanitiseLine(hint), { id: each.id });
    }
    const sent = found.filter(each => !failed.has(each));
    const limits = { timeout: flags.timeout, among: sent.length };
    await Promise.all(
      sent.map(async each => {
        const { ends } = changing(each);
        const before = flags.wait && ends?.mayHaveEnded ? statusBefore(each) : undefined;
        // Some services accept the request all the same.
        if (before !== undefined && hasEnded(before)) {
          outcomes.set(each, endedBefore(each, before, io));
          return;
        }
        const change = flags.wait && ends && awaitedChange(each, past, ends);
        const waited = change && (await awaited(refOfFound(each), { ...limits, change }, context, io));
        outcomes.set(each, waited || { code: exitCodes.done });
      }),
    );
    for (const each of found) {
      const { resource, id } = each;
      const outcome = outcomes.get(each);
      if (!outcome) continue;
      const { code, status = null, hadEnded } = outcome;
      const isDone = code === exitCodes.done;
      // It is looked up by name until it is gone.
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

/** Runs a command that changes rows as the resources declare it. */
export const changeBy =
  (command: ChangeCommand) =>
  ({ args, flags }: CommandInput<ChangeCommand>, io: CommandIo): Promise<number> =>
    changeAll(command, args, flags, io);

export async function promoteOne(
  { args: [word = ''], flags }: CommandInput<'promote'>,
  io: CommandIo,
): Promise<number> {
  await checkOutcomeFlags(flags, [deployment], io);
  return withService(flags, io, async context => {
    const among = [resourceOrThrow('deployments')];
    const { id, row } = await findAmong(among, word, context);
    const { send, means } = flags.undo ? deploymentActions.unpromote.change : deploymentActions.promote.sends;
    const demoted = flags.demote === undefined ? undefined : await findAmong(among, flags.demote, context);
    const input = { deployment_id: id, ...(demoted && { demote_deployment_id: demoted.id }) };
    if (flags.dryRun) return printRequests(send, [input], context, flags, io);
    context.service.requireWrites();
    const slug = calledName(row as Deployment);
    const replaced = demoted ? clean`${demoted.id} is demoted.` : '';
    const loses = replaced || flags.undo || flags.yes ? replaced : await replacedBy(slug, context, id);
    await confirmTyped(`${means(row as Deployment, id)} ${loses}`.trimEnd(), slug, flags, io);
    await printOutcome(await send(context.service, input, { signal: context.signal }), { id, label: slug }, flags, io);
    return exitCodes.done;
  });
}

/** The error of a reward whose answer was lost, with the id that makes a repeat of it harmless. */
function withRewardId(error: unknown, reward_id: string): unknown {
  if (!isUnanswered(error)) return error;
  const advice = `The same command with --reward-id ${reward_id} cannot log it twice.`;
  const context = { ...error.context, reward_id };
  return new ServiceError(error.kind, `${error.message} ${advice}`, { ...error, context });
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
    const result = await logReward(context.service, input, { signal: context.signal }).catch((error: unknown) => {
      throw withRewardId(error, reward_id);
    });
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
      throw new CommandError(clean`The value of ${name} is empty. Pipe it in: benchtop secret set ${name} < FILE`);
    const made = await createSecret(context.service, input, { signal: context.signal });
    await printOutcome(made, { id: made.secret_id, label: name }, flags, io);
    return exitCodes.done;
  });
}
