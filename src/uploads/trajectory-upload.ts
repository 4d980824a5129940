/**
 * Uploads trajectories from a file in batches. Each trajectory gets an outcome; failed ones can be saved to a file.
 * Trajectories that the service has, or may have, are not sent again.
 */

import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../base/errors.ts';
import { maxOf } from '../base/many.ts';
import { writeNewFile } from '../base/new-file.ts';
import type { AgentFields } from '../contract/generation.ts';
import {
  hasTraceId,
  occurrencesHeader,
  trajectoryEndpoints,
  type UploadTrajectoriesResult,
} from '../contract/trajectories.ts';
import { namedAgent } from '../queries/agents.ts';
import { datasetKeys } from '../queries/datasets.ts';
import { type StoredTrajectories, sendTrajectories, trajectoryKeys } from '../queries/trajectories.ts';
import { affectsAllRequests, isUnsupported, mayHaveHappened, ServiceError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import {
  type SentLine,
  type SentRecord,
  type SentRequest,
  type TrajectoryUploadRef,
  type UploadCounts,
  unreadableRecord,
} from '../store/sent-record.ts';
import { honouredMs } from '../store/start-keys.ts';
import type { TrajectoryRecords } from '../store/trajectory-records.ts';
import { describeUnrecorded, UnrecordedError } from '../store/unrecorded.ts';
import { Job } from '../workbench/jobs.ts';
import { fileFingerprint } from './benchmark-plan.ts';
import { type FileTrajectory, Reading, trajectoriesIn } from './foreign-files.ts';
import { realPathOf } from './local-files.ts';
import { bytesOf, type Item, lineAt } from './trajectory-file.ts';
import {
  answered,
  type BatchReport,
  differenceOf,
  errorReport,
  failedOutcome,
  heldOutcome,
  howSent,
  isTooLarge,
  lostOutcome,
  noCounts,
  nothingSent,
  type Outcome,
  type RequestOutcome,
  refusedOutcome,
  sentAgain,
  sumOf,
  unknownCountsOf,
} from './trajectory-outcomes.ts';
import { type Portion, portionsOf, type Trajectory } from './trajectory-requests.ts';
import { describeRunCounts, sentNothing, type TrajectoryUploadState } from './trajectory-upload-state.ts';
import { UploadResults } from './upload-results.ts';

/** How often a waiting upload checks whether the previous one has ended, in milliseconds. */
const queueMs = 250;

const unwrittenMessage = 'The record cannot be written';
const notRecorded = 'the upload cannot be recorded, and a repeat would store it twice';
const resendHint = 'benchtop upload --new sends the whole file';
const unknownBefore = (why: string): string =>
  `items sent before would be stored twice. ${why}. benchtop upload --new sends the whole file.`;

export interface TrajectoryUploadOptions {
  /** The agent that owns them, if not the profile's: an id, a name, or `name:` and a name. */
  readonly agent?: string | undefined;
  /** The record of sent items. Without it, a later run cannot continue the upload. */
  readonly records?: TrajectoryRecords | undefined;
  /** Whether the file is a temporary copy of standard input, so that only content identifies items sent before. */
  readonly isCopy?: boolean;
  /** Whether to send all items, including those sent before, and even if they cannot be recorded. */
  readonly isNew?: boolean;
  /** The score in an Inspect log that is the reward. */
  readonly score?: string | undefined;
  /** Whether to send items with an unknown outcome again, although they may then be stored twice. */
  readonly resendUnknown?: boolean;
}

async function openFileMark(file: FileHandle): Promise<{ size: number; mark: string }> {
  const facts = await file.stat();
  return { size: facts.size, mark: fileFingerprint(facts) };
}

export class TrajectoryUpload extends Job<TrajectoryUploadState> {
  readonly path: string;
  declare readonly dataset: string;
  readonly #agent: string | undefined;
  #namedAgent: AgentFields | undefined;
  #results = new UploadResults();
  #reading: Reading;
  #mark = '';
  readonly #records: TrajectoryRecords | undefined;
  readonly #resendUnknown: boolean;
  /** The file's absolute path; empty if it is a copy. */
  readonly #source: string;
  /** The record for its account and agent; undefined until both are known. */
  #record: SentRecord | undefined;
  /** Whether to send items that were sent before. */
  #isNew: boolean;
  /** Whether a repeat would store unrecorded items twice, and whether the user wants them sent anyway. */
  #needsRecord = true;
  #mayLackRecord = false;
  #unrecorded: string | undefined;
  /** The counts for this run so far, and for items recorded by earlier runs that this run has not reached. */
  #reached = noCounts;
  #ahead = noCounts;

  constructor(
    id: string,
    path: string,
    dataset: string,
    { agent, records, isCopy = false, isNew = false, resendUnknown = false, score }: TrajectoryUploadOptions = {},
  ) {
    super(
      id,
      { label: `trajectories into ${dataset}`, dataset, touches: [datasetKeys.all, trajectoryKeys.all] },
      { ...nothingYet, phase: 'waiting', size: 0, hasSent: false },
    );
    this.path = path;
    this.#source = isCopy ? '' : realPathOf(path);
    this.#agent = agent;
    this.#records = records;
    this.#isNew = isNew;
    this.#reading = new Reading(score);
    this.#resendUnknown = resendUnknown;
  }

  override get hasStarted(): boolean {
    return this.state.sentBefore !== undefined || this.#record?.hasBegun === true;
  }

  override get share(): number {
    const { size, handled, phase } = this.state;
    return size === 0 ? Number(phase === 'done') : handled / size;
  }

  override get outcome(): string {
    const { sentBefore } = this.state;
    if (sentBefore && sentNothing(this.state))
      return `sent nothing: everything was sent before${howSent(sentBefore.others)}`;
    return `is done: ${describeRunCounts(this.state).join(', ')}`;
  }

  /** Whether the record belongs to its file and dataset; the agent does not matter. */
  override isOf(record: TrajectoryUploadRef): boolean {
    return this.#source === record.path && this.dataset === record.dataset;
  }

  /** Forgets the sent items: the next run sends the whole file. */
  startOver(): void {
    if (this.busy) return;
    this.#isNew = true;
    this.#record?.startOver();
    this.set({ sentBefore: undefined, isForgotten: true });
  }

  /** The outcomes so far, in file order. The same array until one is added. */
  get outcomes(): readonly Outcome[] {
    return this.#results.outcomes;
  }

  get failures(): number {
    return this.#results.failed.size;
  }

  /** The service's reports on whole requests, in the order the requests were sent. */
  get reports(): readonly BatchReport[] {
    return this.#results.reports;
  }

  /** Whether the service reported a failure other than those of the failed trajectories. */
  get hasOtherFailure(): boolean {
    return this.#results.hasOtherFailure;
  }

  /** How the file's format was converted, in sentences. */
  get notes(): readonly string[] {
    return this.#reading.notes;
  }

  /** How many rollouts have a reward in the file, but none on the service. */
  get missingRewards(): number {
    return this.#reading.missingRewards;
  }

  /** Why items have been sent without a record; undefined if none have. */
  get unrecorded(): string | undefined {
    return this.state.hasSent ? this.#unrecorded : undefined;
  }

  protected override begin(): Partial<TrajectoryUploadState> {
    this.#results = new UploadResults();
    this.#reading = new Reading(this.#reading.score);
    this.#unrecorded = undefined;
    const hasSent = this.hasStarted || this.#records?.unfinished().some(record => this.isOf(record)) === true;
    return { ...nothingYet, phase: 'uploading', hasSent };
  }

  protected override end(cancelled: boolean, error: Error): Partial<TrajectoryUploadState> {
    return { phase: cancelled ? 'cancelled' : 'failed', error: cancelled ? undefined : error };
  }

  protected override async work(service: Service): Promise<Partial<TrajectoryUploadState>> {
    this.#needsRecord = !service.skipsStored(false);
    this.#mayLackRecord = this.#isNew;
    if (this.#records?.file.isOpen === false) this.#lack(this.#records.file.problem);
    const account = await this.#records?.account(secret => service.accountOf(secret, this.signal));
    this.#namedAgent = await namedAgent(service, this.#agent, this.signal);
    const upload = { path: this.#source, dataset: this.dataset, agent: this.#agent ?? service.agent };
    if (account !== undefined) this.#record = this.#records?.of({ ...upload, account });
    const unlock = await this.#lock();
    try {
      const file = await open(this.path);
      try {
        return await this.#sendFile(service, file);
      } finally {
        await file.close();
      }
    } finally {
      unlock();
    }
  }

  /** @throws UnrecordedError unless items may be sent without a record */
  #refuse(why = unwrittenMessage): void {
    if (this.#needsRecord && !this.#mayLackRecord)
      throw new UnrecordedError(describeUnrecorded(notRecorded, why, resendHint), this.state.hasSent);
  }

  /** Notes that items are not recorded. @throws UnrecordedError unless they may be sent without a record */
  #lack(why = unwrittenMessage): void {
    this.#refuse(why);
    if (this.#needsRecord) this.#unrecorded = why;
  }

  /** Reads the record. @throws UnrecordedError if it cannot be read, unless items may be sent without a record */
  #recorded<Each>(read: (record: SentRecord) => readonly Each[] | undefined): readonly Each[] {
    const found = this.#record ? read(this.#record) : [];
    if (!found) this.#refuse(unreadableRecord);
    return found ?? [];
  }

  /**
   * Waits for other uploads into the dataset, because their items count as sent before. Returns a function that unlocks
   * the dataset.
   */
  async #lock(): Promise<() => void> {
    for (;;) {
      let unlock: (() => void) | undefined;
      try {
        unlock = this.#record ? await this.#record.lock() : () => {};
      } catch (error) {
        this.#refuse(errorMessage(error));
        return () => {};
      }
      if (unlock) {
        this.set({ phase: 'uploading' });
        return unlock;
      }
      this.set({ phase: 'queued' });
      await delay(queueMs, undefined, { signal: this.signal });
    }
  }

  async #sendFile(service: Service, file: FileHandle): Promise<Partial<TrajectoryUploadState>> {
    const { size, mark } = await openFileMark(file);
    this.#mark = mark;
    const isNew = this.#isNew;
    if (isNew) this.#record?.startOver();
    this.#isNew = false;
    const setAside = isNew || !this.#needsRecord ? undefined : this.#records?.file.setAside;
    if (setAside !== undefined && this.#record?.isStartedOver !== true)
      throw new UnrecordedError(unknownBefore(setAside), this.state.hasSent);
    const skipsAll = service.skipsStored(false);
    // Leave out other accounts' and agents' unknown requests if their items are sent here: only their owners can settle
    // them.
    const sendsOthers = skipsAll || this.#resendUnknown;
    // Do not read the record: `startOver` may have failed to write it.
    const requests = isNew
      ? []
      : this.#recorded(record => record.requests()).filter(each => !each.other || !sendsOthers);
    this.#reached = noCounts;
    this.#ahead = (isNew ? undefined : this.#record?.counts) ?? noCounts;
    this.set({ size, hasSent: this.#record?.hasBegun === true, counts: this.#ahead });
    const find = (value: Trajectory['value'], hash: string): readonly SentLine[] => {
      const lines = isNew ? [] : this.#recorded(record => record.lines(hash));
      // Ignore items from other files: they are sent again, but the service skips them.
      return service.skipsStored(hasTraceId(value))
        ? lines.filter(({ isOwn, other }) => isOwn || (other && !skipsAll))
        : lines;
    };
    try {
      for await (const portion of portionsOf(trajectoriesIn(file, this.#reading, true), requests, find)) {
        this.signal.throwIfAborted();
        if (portion.kind === 'new') await this.#send(service, portion.items);
        else if (portion.kind === 'unknown') await this.#sendAgain(service, portion.items, portion.request);
        else if (portion.kind === 'known') this.#skip(portion);
        else this.#fail(portion.item);
      }
    } finally {
      this.#record?.prune();
    }
    this.#ahead = noCounts;
    const { failed, unknown } = this.#reached;
    // Keep the record while items are failed or unknown, so that the next run sends only those. After any other
    // failure, the user will start the upload again, and stored items must not be sent again.
    if (failed === 0 && unknown === 0 && !this.hasOtherFailure) this.#record?.complete(!skipsAll);
    return { phase: 'done', handled: size, counts: this.#reached };
  }

  /** Counts an item that was sent before. */
  #skip({ item, line }: Extract<Portion, { kind: 'known' }>): void {
    const { isSkipped, sentAt, isOwn, other } = line;
    const { count = 0, first = sentAt, last = sentAt, others = {} } = this.state.sentBefore ?? {};
    const sentBefore = {
      ...{ count: count + 1, first: Math.min(first, sentAt), last: Math.max(last, sentAt) },
      others: other ? { ...others, [other]: (others[other] ?? 0) + 1 } : others,
    };
    const counts = { ...noCounts, [isSkipped ? 'skipped' : 'stored']: 1 };
    this.set({ sentBefore, hasSent: true });
    this.#add([item], [], counts, isOwn ? counts : noCounts);
  }

  /** Counts an item that cannot be sent. */
  #fail(item: Item): void {
    this.#add([item], [failedOutcome(item, item.error ?? 'not sent')], { ...noCounts, failed: 1 });
  }

  /** @param recorded the counts for these items in an earlier run's record */
  #add(items: readonly Item[], outcomes: readonly Outcome[], counts: UploadCounts, recorded = noCounts): void {
    this.#results.add(items, outcomes);
    this.#reached = sumOf(this.#reached, counts);
    this.#ahead = differenceOf(this.#ahead, recorded);
    this.set({
      counts: sumOf(this.#reached, this.#ahead),
      handled: maxOf(
        items.map(({ end }) => end),
        this.state.handled,
      ),
    });
  }

  /**
   * Adds a request's outcome to this run and to the record.
   *
   * @throws UnrecordedError if it could not be recorded, unless items may be sent without a record
   */
  #settle(id: string, items: readonly Trajectory[], outcome: RequestOutcome, recorded?: UploadCounts): void {
    const { outcomes, counts, items: named, reports } = outcome;
    const isRecorded = this.#record?.settle(id, named) !== false;
    for (const report of reports ?? []) this.#results.report(report);
    const { stored, skipped } = this.state.sent;
    this.set({ sent: { stored: stored + counts.stored, skipped: skipped + counts.skipped } });
    this.#add(items, outcomes, counts, recorded);
    if (!isRecorded) this.#lack(this.#records?.file.problem);
  }

  /** @throws ServiceError if the other requests would fail in the same way, UnrecordedError */
  async #send(service: Service, items: readonly Trajectory[]): Promise<void> {
    const id = randomUUID();
    const ids = items.map(item => item.id);
    const isBegun = this.#record?.begin(id, ids, this.#bodyHash(items)) !== false;
    if (!isBegun) this.#refuse(this.#records?.file.problem);
    try {
      const answer = answered(items, await this.#request(service, items, id));
      this.set({ hasSent: true });
      this.#learn(service, items, answer);
      this.#settle(id, items, answer);
    } catch (error) {
      // The response could not be recorded, so the record keeps the request as unknown.
      if (error instanceof UnrecordedError) throw error;
      const isLost = mayHaveHappened(error);
      const endsAll = !this.#failsAlone(error);
      if (isLost) {
        this.set({ hasSent: true });
        if (!isBegun) this.#lack(this.#records?.file.problem);
        const isAnswered = error instanceof ServiceError && error.status !== undefined;
        const outcome = lostOutcome(
          items,
          `It may have been stored: its request ${isAnswered ? 'failed' : 'was not answered'}.`,
        );
        this.#add(items, outcome.outcomes, outcome.counts);
      }
      const isInHalves = !endsAll && !isLost && isTooLarge(error) && items.length > 1;
      if (!isLost && (endsAll || isInHalves)) this.#record?.settle(id, nothingSent);
      if (!this.#failsAlone(error)) throw error;
      if (isInHalves) await this.#sendHalves(service, items);
      else if (isLost) this.#results.report(errorReport(items, error));
      else this.#settle(id, items, refusedOutcome(items, error));
    }
  }

  /** Whether the other requests may succeed. */
  #failsAlone(error: unknown): error is ServiceError {
    if (this.signal.aborted || affectsAllRequests(error)) return false;
    return error instanceof ServiceError && !isUnsupported(error.status);
  }

  /** Learns whether the service skips trajectories that this account has already stored. */
  #learn(service: Service, items: readonly Trajectory[], { outcomes }: RequestOutcome): void {
    if (service.skipsStored(false)) return;
    const isStored = (item: Trajectory | undefined): boolean =>
      item !== undefined && hasTraceId(item.value) && this.#record?.hasStored(item.id) === true;
    const statuses = outcomes.filter((_, index) => isStored(items[index])).map(({ status }) => status);
    if (statuses.includes('uploaded')) service.learnSkipping(false);
    else if (statuses.includes('skipped')) service.learnSkipping(true);
  }

  async #sendHalves(service: Service, items: readonly Trajectory[]): Promise<void> {
    const half = Math.ceil(items.length / 2);
    await this.#send(service, items.slice(0, half));
    await this.#send(service, items.slice(half));
  }

  /**
   * Sends an earlier run's items with unknown outcomes again, if this cannot store duplicates or the user allows it.
   *
   * @throws ServiceError if the other requests would fail in the same way
   */
  async #sendAgain(service: Service, items: readonly Trajectory[], request: SentRequest): Promise<void> {
    const isWhole = items.length === request.unknown.length;
    const body = this.#bodyHash(items);
    // The service's response refers to items by index, and it may refuse the key with a different body.
    const sameKey = body === request.body ? request.key : undefined;
    const isHonoured = sameKey !== undefined && service.honoursKeys && Date.now() - request.sentAt < honouredMs;
    const isHarmless = isHonoured || isRepeatable(items, service);
    const how =
      request.key === undefined ? 'no response reported whether it was' : 'an earlier request with it was not answered';
    const recorded = request.isOwn ? unknownCountsOf(request) : noCounts;
    const message = `It may have been stored: ${how}${request.other ? ` (sent ${request.other})` : ''}.`;
    const { outcomes, counts } = request.other ? lostOutcome(items, message) : heldOutcome(items, request, message);
    const hold = (): void => this.#add(items, outcomes, counts, recorded);
    if (request.other || (!isHarmless && !this.#resendUnknown)) {
      hold();
      return;
    }
    const key = sameKey ?? randomUUID();
    if (isWhole && this.#record?.repeat(request.id, key, body) === false) this.#refuse(this.#records?.file.problem);
    try {
      const response = answered(items, await this.#request(service, items, key));
      const answer = isHonoured ? response : sentAgain(items, response, message);
      const ids = new Set(items.map(({ id }) => id));
      const others = request.unknown.filter(id => !ids.has(id));
      const named = { ...answer.items, unknown: [...answer.items.unknown, ...others] };
      this.#settle(request.id, items, { ...answer, items: named }, recorded);
    } catch (error) {
      if (error instanceof UnrecordedError) throw error;
      // A refusal does not settle the earlier request.
      hold();
      if (!this.#failsAlone(error)) throw error;
      this.#results.report(errorReport(items, error));
    }
  }

  /** The body and headers of a request with these items. */
  #sent(items: readonly Trajectory[]): { batch: StoredTrajectories; headers: Record<string, string> | undefined } {
    const headers = items.some(({ occurrence }) => occurrence > 1)
      ? { [occurrencesHeader]: items.map(({ occurrence }) => occurrence).join() }
      : undefined;
    const trajectories = items.map(({ value }) => value);
    return { batch: { dataset: this.dataset, trajectories, agent: this.#namedAgent }, headers };
  }

  /** Hashes the request as JSON, one item at a time: its whole text is large, and is built only for sending. */
  #bodyHash(items: readonly Trajectory[]): string {
    const { batch, headers } = this.#sent(items);
    const list = '"trajectories":[';
    const [before = '', after = ''] = JSON.stringify({ batch: { ...batch, trajectories: [] }, headers }).split(list);
    const hash = createHash('sha256').update(before + list);
    for (const [index, { value }] of items.entries()) hash.update((index > 0 ? ',' : '') + JSON.stringify(value));
    return hash.update(after).digest('base64url');
  }

  /** @throws ServiceError */
  #request(service: Service, items: readonly Trajectory[], key: string): Promise<UploadTrajectoriesResult> {
    const { batch, headers } = this.#sent(items);
    return sendTrajectories(service, batch, { signal: this.signal, idempotencyKey: key, headers });
  }

  /**
   * Saves the failed items to a new file, one per line, as they are in the file, for the user to correct. Returns the file's absolute path.
   *
   * @throws Error if the uploaded file has changed since; NewFileError
   */
  async saveFailures(name: string): Promise<string> {
    const source = await open(this.path);
    try {
      if ((await openFileMark(source)).mark !== this.#mark)
        throw new Error(`${this.path} has changed since it was uploaded`);
      const read = bytesOf(source);
      const { failed } = this.#results;
      const lines = async function* (items: AsyncIterable<FileTrajectory>): AsyncGenerator<Uint8Array | string> {
        for await (const item of items) {
          if (!failed.has(item.place) || (item.isPart && !item.value)) continue;
          yield item.isPart ? JSON.stringify(item.value) : await lineAt(read, item);
          yield '\n';
        }
      };
      return await writeNewFile(name, lines(trajectoriesIn(source, new Reading(this.#reading.score), true)));
    } finally {
      await source.close();
    }
  }
}

const nothingYet = {
  ...{ handled: 0, counts: noCounts, sent: { stored: 0, skipped: 0 } },
  ...{ sentBefore: undefined, isForgotten: false, error: undefined },
};

/** Whether the items can be sent again without creating duplicates, even if the service ignores idempotency keys. */
function isRepeatable(items: readonly Trajectory[], service: Service): boolean {
  const { repeatable } = trajectoryEndpoints.uploadTrajectories;
  return repeatable?.({ trajectories: items.map(({ value }) => value) }, service) === true;
}
