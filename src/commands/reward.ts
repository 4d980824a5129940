/** `benchtop reward`: logs a reward to a trajectory. */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { logRewardResult } from '../contract/trajectories.ts';
import { action, sendKeyed } from '../queries/action.ts';
import { logReward } from '../queries/trajectories.ts';
import { isUnanswered, RequestError, ServiceError } from '../service/errors.ts';
import type { CallOptions } from '../service/options.ts';
import type { EarlierStart } from '../store/start-keys.ts';
import { checkOutcomeField, printOutcome, printRequests, trajectoryToken } from './act.ts';
import { describeEarlierStart } from './begin.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { numberIn } from './parse.ts';
import type { CommandInput } from './table/commands.ts';
import { withService } from './with-service.ts';

/** Adds the reward's id to the error if the response was lost: a service recognises a repeat by its id. */
function withRewardId(error: unknown, reward_id: string): unknown {
  if (!isUnanswered(error)) return error;
  const advice = `To send it again, add --reward-id ${reward_id}: the service may count each id only once. Another id logs another reward.`;
  const context = { ...error.context, reward_id };
  return new ServiceError(error.kind, `${error.message} ${advice}`, { ...error, context });
}

export async function run({ args, flags }: CommandInput<'reward'>, io: CommandIo): Promise<number> {
  const [trajectory_id = '', name = '', text = ''] = args;
  const value = numberIn('the value', text);
  if (!Number.isFinite(value)) throw new CommandError(`The value of a reward is a number, not ${text}.`);
  const { explanation, weight, rewardId } = flags;
  const token = trajectoryToken(flags, io);
  checkOutcomeField(flags, [logRewardResult, z.object({ reward_id: z.string() })]);
  const input = { trajectory_id, name, value, explanation, weight };
  let reward_id = '';
  // A repeat after a lost response keeps the id, as another id would count twice. Its idempotency key follows from the id
  // and the content, so that the repeat has the same key with and without --reward-id.
  const send = action(
    (service, body: typeof input, options: CallOptions = {}) => {
      reward_id = options.idempotencyKey ?? rewardId ?? randomUUID();
      const content = JSON.stringify([reward_id, body]);
      const idempotencyKey = createHash('sha256').update(content).digest('hex');
      return logReward(service, { ...body, token, reward_id }, { ...options, idempotencyKey });
    },
    { touches: logReward.touches, keyed: 'logReward', keyIsId: true, keyFlag: '--reward-id ID' },
  );
  return withService(flags, io, async context => {
    if (flags.dryRun) return printRequests(send, [input], context, flags);
    const { service, memory, signal } = context;
    const onEarlier = (earlier: EarlierStart): void => {
      const words = describeEarlierStart(earlier);
      reward_id = earlier.key;
      if (!service.honoursKeys)
        throw new RequestError(`Nothing was sent. ${words}`, { code: 'not_sent', outcomeUnknown: true });
      io.note(`${words} This repeats it with the same reward id, so it cannot count twice.`);
    };
    // Without its id, the same reward cannot be sent again.
    io.stopOnSignals?.();
    const keyed = { signal, keys: memory.startKeys, idempotencyKey: rewardId, onEarlier };
    const result = await sendKeyed(service, send, input, keyed).catch((error: unknown) => {
      throw withRewardId(error, reward_id);
    });
    await printOutcome({ ...result, reward_id }, { id: reward_id, label: name }, flags, io);
    return exitCodes.done;
  });
}
