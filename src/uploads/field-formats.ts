/**
 * Converts other programs' rollout files to the contract's trajectories. Recognises a record by its fields, never by
 * its file name, and names the fields it leaves out.
 */
import { fromAnthropic, fromDump, fromOpenAi, fromShareGpt, fromTauBench } from './formats/conversations.ts';
import { type Fields, type ForeignRecord, ownFields } from './formats/fields.ts';
import { fromInspect } from './formats/inspect.ts';
import { fromVerifiers } from './formats/verifiers.ts';

type Format = (fields: Fields, score?: string) => ForeignRecord | undefined;

/** The formats. A record may fit several: the first one reads it. */
const formats: readonly Format[] = [
  fromDump,
  (fields, score) => fromInspect(fields, score === undefined ? undefined : { reward: score }),
  fromVerifiers,
  fromShareGpt,
  fromTauBench,
  fromAnthropic,
  fromOpenAi,
];

/** The formats of records with a task named as the contract does. With messages, only a dump has one. */
const formatsOfTask: readonly Format[] = [fromDump, fromVerifiers, fromShareGpt, fromTauBench];

/**
 * Converts another program's record; undefined for a contract trajectory or an unknown format.
 *
 * @param score the score of an Inspect log that is the reward
 */
export function foreignRecord(fields: Fields, score?: string): ForeignRecord | undefined {
  const has = ownFields.filter(name => Object.hasOwn(fields, name));
  if (has.some(name => name !== 'task_id')) return undefined;
  const fitting = has.length === 0 ? formats : fields['messages'] == null ? formatsOfTask : [fromDump];
  for (const read of fitting) {
    const record = read(fields, score);
    if (record) return record;
  }
  return undefined;
}
