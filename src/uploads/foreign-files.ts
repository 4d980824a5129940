/** Reads the trajectories in a file of any known format, converting other programs' to the contract. */
import type { FileHandle } from 'node:fs/promises';
import { errorMessage } from '../base/errors.ts';
import { parseExactly } from '../base/exact-json.ts';
import { pushAll } from '../base/many.ts';
import { isRawJson, isRecord } from '../base/own-property.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { foreignRecord } from './field-formats.ts';
import { dumpProblem } from './formats/conversations.ts';
import { type ForeignRecord, unreadRewardsField } from './formats/fields.ts';
import { fromInspectSample, inspectEnd, rewardScoreOf } from './formats/inspect.ts';
import { readJson } from './python-json.ts';
import { bytesOf, depthProblem, describeNotFinite, type Item, readItems } from './trajectory-file.ts';
import { isZip, type ZipEntry, zipEntries } from './zip-file.ts';

/** A trajectory from a file, or why part of the file cannot be read. */
export interface FileTrajectory extends Item {
  /** Whether it is not a whole line or element: a sample of an archive, or one of several trajectories in a record. */
  readonly isPart?: boolean;
}

/** Statistics about reading a file: counts by format, and the names of fields that were left out. */
export class Reading {
  readonly #formats = new Map<string, number>();
  readonly #leftOut = new Set<string>();
  readonly #recordNotes = new Set<string>();
  /** The scores in Inspect logs, by the one that is the reward. */
  readonly #scores = new Map<string | undefined, { readonly names: Set<string>; without: number }>();
  #unreadRewards = 0;
  #uncounted = 0;
  #notFinite = 0;

  /** The score in Inspect logs that is the reward, as the user chose it. */
  readonly score: string | undefined;

  constructor(score?: string) {
    this.score = score;
  }

  add({ format, trajectories, leftOut, unreadRewards = 0, note, scores }: ForeignRecord): void {
    this.#formats.set(format, (this.#formats.get(format) ?? 0) + trajectories.length);
    for (const name of leftOut) this.#leftOut.add(name);
    this.#unreadRewards += unreadRewards;
    if (note !== undefined) this.#recordNotes.add(note);
    if (scores) {
      const known = this.#scores.get(scores.reward) ?? { names: new Set(), without: 0 };
      for (const name of scores.names) known.names.add(name);
      known.without += scores.without;
      this.#scores.set(scores.reward, known);
    }
  }

  /** @param count how many values are NaN or infinite, and therefore missing from the trajectories */
  addNotFinite(count: number): void {
    this.#notFinite += count;
  }

  /** @param count how many rewards were left as they are */
  addUncounted(count: number): void {
    this.#uncounted += count;
  }

  /** How many rollouts have a reward in the file, but none here. */
  get missingRewards(): number {
    const unchosen = [...this.#scores].filter(([reward, { names }]) => reward === undefined || !names.has(reward));
    return unchosen.reduce((sum, [, { without }]) => sum + without, this.#unreadRewards + this.#uncounted);
  }

  /** Which of several scores is the reward. */
  get #scoreNotes(): string[] {
    return [...this.#scores].flatMap(([reward, { names: all }]) => {
      const others = [...all].filter(name => name !== reward);
      if (others.length === 0) return [];
      const names = others.join(', ');
      if (reward === undefined)
        return clean`No score is the reward: the first scorer gives several. Choose with --score: ${names}.`;
      if (!all.has(reward)) return clean`There is no score ${reward}. Choose with --score: ${names}.`;
      return clean`The reward is the score ${reward}. Others can be chosen with --score: ${names}.`;
    });
  }

  get isForeign(): boolean {
    return this.#formats.size > 0;
  }

  /** Sentences for the user; none if every trajectory already follows the contract. */
  get notes(): string[] {
    const formats = [...this.#formats].map(
      ([format, count]) => clean`Read ${counted(count, 'trajectory', 'trajectories')} from ${format}.`,
    );
    const names = [...this.#leftOut].sort();
    const rewards = counted(this.#unreadRewards, 'reward is not a number', 'rewards are not numbers');
    return [
      ...formats,
      ...[...this.#recordNotes].map(each => clean`${each}`),
      ...this.#scoreNotes,
      ...(names.length === 0 ? [] : [clean`Left out: ${names.join(', ')}.`]),
      ...(this.#unreadRewards === 0 ? [] : [`${rewards}, and kept only in the metadata, as ${unreadRewardsField}.`]),
      ...(this.#uncounted === 0
        ? []
        : [
            `Not counted: ${counted(this.#uncounted, 'reward')} that ${this.#uncounted === 1 ? 'is' : 'are'} not a number, beyond 2^53, or without a name.`,
          ]),
      ...(this.#notFinite === 0
        ? []
        : [`Missing: ${describeNotFinite(this.#notFinite)}, which JSON cannot represent.`]),
    ];
  }
}

/** The value as JSON would represent it: without numbers that are NaN or infinite. */
const asJson = (value: Record<string, unknown>) => parseExactly(JSON.stringify(value)) as Record<string, unknown>;

/**
 * How many of a record's rewards do not count, and have not been noted yet. An integer beyond 2^53 is sent unchanged,
 * but does not count here.
 */
function uncountedIn(
  { reward, score, rewards }: Record<string, unknown>,
  record: ForeignRecord | undefined,
  isUpload: boolean,
): number {
  if (record?.unreadRewards) return 0;
  const isNumber = (each: unknown): boolean => Number.isFinite(each) || (isUpload && isRawJson(each));
  const value = record ? (reward ?? score) : reward;
  // The service refuses a contract trajectory whose reward is not a number.
  if (value != null) return isNumber(value) || !(record || typeof value === 'number') ? 0 : 1;
  if (reward === null || rewards == null) return 0;
  if (!Array.isArray(rewards)) return 1;
  const isCounted = (each: unknown): boolean => isRecord(each) && Boolean(each['name']) && isNumber(each['value']);
  return rewards.filter(each => !isCounted(each)).length;
}

/** Yields a record's trajectories in its place. */
function* converted(item: FileTrajectory, { trajectories }: ForeignRecord): Generator<FileTrajectory> {
  for (const [index, trajectory] of trajectories.entries()) {
    const value = item.notFinite === 0 ? trajectory : asJson(trajectory);
    const error = depthProblem(value);
    const isOne = trajectories.length === 1;
    yield {
      ...item,
      ...(!isOne && { place: `${item.place}, rollout ${index + 1}`, isPart: true }),
      ...{ size: isOne ? item.size : Buffer.byteLength(JSON.stringify(value)), notFinite: 0 },
      ...(error === undefined ? { value, error } : { value: undefined, error }),
    };
  }
}

const inspectArchive = { format: 'an Inspect log (.eval)', note: undefined };

async function jsonIn(entry: ZipEntry) {
  const bytes = await entry.read();
  return { ...readJson(bytes.toString('utf8')), size: bytes.length };
}

async function recordIn(entry: ZipEntry) {
  const read = await jsonIn(entry);
  return { ...read, value: isRecord(read.value) ? read.value : {} };
}

const scoresOf = ({ scores, score }: Record<string, unknown>) => ({ scores, score });

/** The scores of each sample. An unfinished log has no list of all of them yet, only those in its journal. */
async function summariesIn(entries: readonly ZipEntry[]): Promise<Record<string, unknown>[]> {
  const whole = entries.filter(({ name }) => name === 'summaries.json');
  const lists = whole.length > 0 ? whole : entries.filter(({ name }) => /^_journal\/summaries\/.+\.json$/.test(name));
  const found: Record<string, unknown>[] = [];
  for (const entry of lists) {
    // If they cannot be read, the samples are searched.
    const { value } = await jsonIn(entry).catch(() => ({ value: undefined }));
    if (Array.isArray(value)) pushAll(found, value.filter(isRecord).map(scoresOf));
  }
  return found;
}

/** The score that is the reward. Reads samples until one has a value of it, unless the log's summaries decide it. */
async function scoreInZip(entries: readonly ZipEntry[], samples: readonly ZipEntry[], header: Record<string, unknown>) {
  const seen = await summariesIn(entries);
  const found = rewardScoreOf(seen, header);
  if (found?.isSure || seen.length >= samples.length) return found;
  for (const entry of samples) {
    // A damaged sample is reported when it is read for its trajectory.
    const sample = await recordIn(entry).catch(() => undefined);
    seen.push(scoresOf(sample?.value ?? {}));
    const first = rewardScoreOf(seen.slice(-1), header);
    if (first?.isSure) return first;
  }
  return rewardScoreOf(seen, header);
}

async function* trajectoriesInZip(file: FileHandle, reading: Reading): AsyncGenerator<FileTrajectory> {
  const entries = await zipEntries(file);
  const jsonOf = async (entry: ZipEntry | undefined) => {
    const read = entry ? await recordIn(entry) : { value: {}, notFinite: 0, size: 0 };
    reading.addNotFinite(read.notFinite);
    return read;
  };
  // An unfinished log has no header yet, only the start of its journal.
  const named = (name: string): ZipEntry | undefined => entries.find(entry => entry.name === name);
  const { value: header } = await jsonOf(named('header.json') ?? named('_journal/start.json'));
  const samples = entries.filter(({ name }) => /^samples\/.+\.json$/.test(name));
  reading.add({ ...inspectArchive, trajectories: [], leftOut: [], note: inspectEnd(header, samples.length) });
  const chosen = reading.score === undefined ? await scoreInZip(entries, samples, header) : { reward: reading.score };
  for (const [index, entry] of samples.entries()) {
    const { name: place, start, end } = entry;
    const nothing = {
      ...{ line: index + 1, place, start, end, isPart: true },
      value: undefined,
      notFinite: 0,
      size: 0,
    };
    try {
      const sample = await jsonOf(entry);
      const read = fromInspectSample(sample.value, header, chosen);
      if (!read) continue;
      reading.add({ ...read, ...inspectArchive });
      yield* converted({ ...nothing, ...sample, error: undefined }, read);
    } catch (error) {
      yield { ...nothing, error: errorMessage(error) };
    }
  }
}

/** Whether the service accepts a record's messages unchanged, without loss. */
const isAccepted = (value: Record<string, unknown>): boolean =>
  Array.isArray(value['messages']) && !['system', 'stop_reason', 'score'].some(name => Object.hasOwn(value, name));

/**
 * Yields a file's trajectories in order, and records in `reading` how it was read.
 *
 * @param isUpload whether to leave records that the service accepts unchanged. If it does not accept the first record,
 * all are converted, as in earlier versions: otherwise, trajectories that these sent would not be recognised
 * @throws Error if the file is damaged
 */
export async function* trajectoriesIn(
  file: FileHandle,
  reading: Reading,
  isUpload = false,
): AsyncGenerator<FileTrajectory> {
  const read = bytesOf(file);
  if (isZip(await read(0))) {
    yield* trajectoriesInZip(file, reading);
    return;
  }
  let convertsAll: boolean | undefined;
  for await (const item of readItems(read)) {
    const { value, notFinite } = item;
    if (value === undefined) {
      yield item;
      continue;
    }
    const isKept = isUpload && !convertsAll && isAccepted(value);
    const record = isKept ? undefined : foreignRecord(value, reading.score);
    const problem = record ? undefined : dumpProblem(value);
    convertsAll ??= (record ?? problem) !== undefined;
    if (problem !== undefined) {
      yield { ...item, value: undefined, error: problem };
      continue;
    }
    if (!record && isUpload && notFinite > 0) {
      yield item;
      continue;
    }
    reading.addNotFinite(notFinite);
    reading.addUncounted(uncountedIn(value, record, isUpload));
    if (record) {
      reading.add(record);
      yield* converted(item, record);
    } else yield notFinite === 0 ? item : { ...item, value: asJson(value), error: undefined };
  }
}
