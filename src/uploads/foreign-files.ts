/** Reads the trajectories in a file of any known format, converting other programs' to the contract. */
import type { FileHandle } from 'node:fs/promises';
import { errorMessage } from '../base/errors.ts';
import { isRecord } from '../base/own-property.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import {
  dumpProblem,
  type ForeignRecord,
  foreignRecord,
  fromInspectSample,
  inspectEnd,
  rewardScoreOf,
  type Scores,
  unreadRewardsField,
} from './field-formats.ts';
import { readJson } from './python-json.ts';
import { bytesOf, notFiniteWords, readItems } from './trajectory-file.ts';
import { isZip, type ZipEntry, zipEntries } from './zip-file.ts';

/** A trajectory from a file, or why part of the file cannot be read. */
export type FileTrajectory = { readonly place: string } & (
  | { readonly trajectory: Record<string, unknown> }
  /** `isOpen`: whether the file ends within this part: the rest of it may not be written yet. */
  | { readonly error: string; readonly isOpen?: boolean }
);

/** Statistics about reading a file: counts by format, and the names of fields that were left out. */
export class Reading {
  readonly #formats = new Map<string, number>();
  readonly #leftOut = new Set<string>();
  readonly #recordNotes = new Set<string>();
  /** The scores in Inspect logs, by the one that is the reward. */
  readonly #scores = new Map<string | undefined, { readonly names: Set<string>; without: number }>();
  #unreadRewards = 0;
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

  /** How many rollouts have a reward in the file, but none here. */
  get missingRewards(): number {
    const unchosen = [...this.#scores].filter(([reward, { names }]) => reward === undefined || !names.has(reward));
    return unchosen.reduce((sum, [, { without }]) => sum + without, this.#unreadRewards);
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
      ...(this.#notFinite === 0 ? [] : [`Missing: ${notFiniteWords(this.#notFinite)}, which JSON cannot represent.`]),
    ];
  }
}

/** The trajectory as JSON would represent it: without numbers that are NaN or infinite. */
const asJson = (trajectory: Record<string, unknown>): Record<string, unknown> => JSON.parse(JSON.stringify(trajectory));

const inspectArchive = { format: 'an Inspect log (.eval)', note: undefined };

async function* trajectoriesInZip(file: FileHandle, reading: Reading): AsyncGenerator<FileTrajectory> {
  const entries = await zipEntries(file);
  const jsonOf = async (entry: ZipEntry | undefined): Promise<Record<string, unknown>> => {
    if (entry === undefined) return {};
    const { value, notFinite } = readJson((await entry.read()).toString('utf8'));
    reading.addNotFinite(notFinite);
    return isRecord(value) ? value : {};
  };
  // An unfinished log has no header yet, only the start of its journal.
  const named = (name: string): ZipEntry | undefined => entries.find(entry => entry.name === name);
  const header = await jsonOf(named('header.json') ?? named('_journal/start.json'));
  const samples = entries.filter(({ name }) => /^samples\/.+\.json$/.test(name));
  reading.add({ ...inspectArchive, trajectories: [], leftOut: [], note: inspectEnd(header, samples.length) });
  let chosen: Pick<Scores, 'reward'> | undefined = reading.score === undefined ? undefined : { reward: reading.score };
  for (const entry of samples) {
    try {
      const sample = await jsonOf(entry);
      chosen ??= rewardScoreOf([sample]);
      const read = fromInspectSample(sample, header, chosen);
      if (!read) continue;
      reading.add({ ...read, ...inspectArchive });
      for (const trajectory of read.trajectories) yield { place: entry.name, trajectory: asJson(trajectory) };
    } catch (error) {
      yield { place: entry.name, error: errorMessage(error) };
    }
  }
}

/** Whether the first record needs converting: the service accepts `messages` alone. */
export async function isForeignFile(file: FileHandle): Promise<boolean> {
  const read = bytesOf(file);
  if (isZip(await read(0))) return true;
  for await (const { value } of readItems(read)) {
    if (!value) continue;
    const converted = ['system', 'stop_reason', 'score'];
    const isAccepted = Array.isArray(value['messages']) && !converted.some(name => Object.hasOwn(value, name));
    return !isAccepted && (foreignRecord(value) ?? dumpProblem(value)) !== undefined;
  }
  return false;
}

/** Yields a file's trajectories in order, and records in `reading` how it was read. @throws Error if it is damaged */
export async function* trajectoriesIn(file: FileHandle, reading: Reading): AsyncGenerator<FileTrajectory> {
  const read = bytesOf(file);
  if (isZip(await read(0))) {
    yield* trajectoriesInZip(file, reading);
    return;
  }
  for await (const { place, value, error, notFinite, isOpen = false } of readItems(read)) {
    if (value === undefined) {
      yield { place, error: error ?? 'It cannot be read.', isOpen };
      continue;
    }
    reading.addNotFinite(notFinite);
    const record = foreignRecord(value, reading.score);
    const problem = record ? undefined : dumpProblem(value);
    if (problem !== undefined) {
      yield { place, error: problem };
      continue;
    }
    if (record) reading.add(record);
    for (const trajectory of record?.trajectories ?? [value]) {
      yield { place, trajectory: notFinite === 0 ? { ...trajectory } : asJson(trajectory) };
    }
  }
}
