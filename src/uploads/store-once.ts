/** Stores trajectories that do not come from a file, and records them, so that none is sent again by accident. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { maxOf, minOf } from '../base/many.ts';
import { hasTraceId } from '../contract/trajectories.ts';
import { type Action, action } from '../queries/action.ts';
import { namedAgent } from '../queries/agents.ts';
import { type StoredTrajectories, type StoreOutcome, storeTrajectories } from '../queries/trajectories.ts';
import { mayHaveHappened, RequestError } from '../service/errors.ts';
import { type SentLine, unreadableRecord } from '../store/sent-record.ts';
import type { TrajectoryRecords } from '../store/trajectory-records.ts';
import { clean } from '../text/sanitise.ts';
import { Occurrences } from './occurrences.ts';
import { howSent, nothingSent, sentTimes } from './trajectory-outcomes.ts';

/** For each trajectory, the lines of earlier requests that contain it, and the id for its new line. */
function itemsOf(
  trajectories: StoredTrajectories['trajectories'],
  linesOf: (hash: string) => readonly SentLine[],
): readonly { readonly id: string; readonly lines: readonly SentLine[] }[] {
  const occurrences = new Occurrences();
  return trajectories.map(each => {
    const { hash, number } = occurrences.next(each);
    const lines = linesOf(hash);
    const before = lines.map(line => line.number);
    return { lines, id: `${hash}.${maxOf(before, 0) + number}` };
  });
}

/**
 * The action `storeTrajectories`, with a record. Refuses the request if a trajectory has been sent to the dataset
 * before, or if the request cannot be recorded. A second call with the same input sends it anyway.
 *
 * @param again how the user repeats it, e.g. `press enter again`
 */
export function storeOnce(records: TrajectoryRecords, again: string): Action<StoredTrajectories, StoreOutcome> {
  let refused: StoredTrajectories | undefined;
  return action(
    async (service, input, options) => {
      const { dataset, trajectories } = input;
      if (trajectories.every(each => service.skipsStored(hasTraceId(each))))
        return storeTrajectories(service, input, options);
      const isWanted = isDeepStrictEqual(input, refused);
      const refuse = (words: string): void => {
        if (isWanted) return;
        refused = input;
        throw new RequestError(`${words} To send it anyway, ${again}.`, { code: 'not_sent' });
      };
      const { signal = new AbortController().signal } = options ?? {};
      const account = await records.account(secret => service.accountOf(secret, signal));
      const agent = await namedAgent(service, undefined, signal);
      const record = records.of({ path: '', dataset, agent: service.agent, account });
      const linesOf = (hash: string): readonly SentLine[] => {
        const lines = record.lines(hash);
        if (!lines) refuse(`Nothing was sent: a repeat could store it twice. ${unreadableRecord}.`);
        return lines ?? [];
      };
      const items = itemsOf(trajectories, linesOf);
      const found = items.flatMap(({ lines }) => lines);
      if (found.length > 0) {
        const times = found.map(({ sentAt }) => sentAt);
        const when = sentTimes({ first: minOf(times), last: maxOf(times) });
        const others = Object.groupBy(found, ({ other = '' }) => other);
        const how = '' in others ? '' : howSent(others);
        refuse(
          clean`Already sent to ${dataset} (${when})${how}: nothing was sent now, because it might be stored twice.`,
        );
      }
      const id = randomUUID();
      const ids = items.map(item => item.id);
      if (!records.file.isOpen || !record.begin(id, ids))
        refuse(
          `Nothing was sent: it cannot be recorded, and a repeat could store it twice. ${records.file.problem ?? ''}.`,
        );
      const outcome = await storeTrajectories(service, { ...input, agent }, options).catch((error: unknown) => {
        if (!mayHaveHappened(error)) record.settle(id, nothingSent);
        throw error;
      });
      record.settle(id, { ...nothingSent, stored: ids.filter((_, index) => !outcome.refused.has(index)) });
      record.prune();
      refused = undefined;
      return outcome;
    },
    { touches: storeTrajectories.touches, keyed: 'uploadTrajectories', isRecorded: true },
  );
}
