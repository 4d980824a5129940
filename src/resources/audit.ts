/** The audit of a training run: the reads it needs, and its findings as a list. */

import * as z from 'zod/mini';
import { inParallel } from '../base/in-parallel.ts';
import { perObject } from '../base/memo.ts';
import { shellWord } from '../base/shell-word.ts';
import { hasEnded } from '../contract/status.ts';
import { emptyCurve, type TrainerCurve } from '../contract/trainer-curve.ts';
import type { HeldOutReward } from '../contract/training.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import {
  type AuditRollout,
  type AuditStep,
  audit,
  type Finding,
  type FindingKind,
  findingKinds,
  textsToRead,
} from '../present/audit.ts';
import type { Column } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { describeNote } from '../present/notes.ts';
import { cutMessageOf, finishOf } from '../present/outcome-classes.ts';
import { defaultRange } from '../present/statistics/interval.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { answerOf, questionOf, tokensOf } from '../present/task-groups.ts';
import type { Origin } from '../queries/checkpoint-memory.ts';
import { evenCurve, heldOutMeansOf } from '../queries/held-out.ts';
import { type ListSource, wholePage } from '../queries/lists/list-source.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { type ReadStep, readSteps, stepsIn, stepsToRead } from '../queries/step-rewards.ts';
import { trainingKeys } from '../queries/training.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training-curves.ts';
import { failsAlone, ifThere, isNotOffered, type ServiceError } from '../service/errors.ts';
import { type Note, savedNotes } from '../store/notes.ts';
import type { RememberedStore } from '../store/store.ts';
import { counted, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { readInTime } from './origins.ts';

export interface AuditReport {
  readonly findings: readonly Finding[];
  /** Describes the data that was read, and counts the failed reads. */
  readonly read: string;
  readonly unread: readonly Unread[];
  /** The number of rollouts whose text was read. */
  readonly texts: number;
  /** The last step with rewards by rollout; undefined if there is none. */
  readonly lastStep: number | undefined;
}

/** Data that could not be read. */
interface Unread {
  /** `Step 3`, `The trainer rewards`. */
  readonly what: string;
  readonly error: ServiceError;
}

type OnUnread = (what: string, error: unknown) => void;

/** Reads the transcripts of some rollouts; leaves out deleted rollouts. @throws ServiceError */
async function readTexts(
  ids: readonly string[],
  context: QueryContext,
  onUnread: OnUnread,
): Promise<ReadonlyMap<string, Trajectory>> {
  const { service, signal } = context;
  const read = new Map<string, Trajectory>();
  await inParallel(ids, async trajectory_id => {
    const call = { params: { trajectory_id }, query: { include_steps: true } };
    try {
      const trajectory = await ifThere(() => service.call('getTrajectory', call, { signal }));
      if (trajectory) read.set(trajectory_id, trajectory);
    } catch (error) {
      onUnread(`Rollout ${trajectory_id}`, error);
    }
    context.progressed?.();
  });
  return read;
}

const withTexts = (steps: readonly ReadStep[], texts: ReadonlyMap<string, Trajectory>): readonly AuditStep[] =>
  steps.map(({ step, rewards }) => ({
    step,
    rewards: rewards.map((rollout): AuditRollout => {
      const text = texts.get(rollout.trajectory_id ?? '');
      if (!text) return rollout;
      // An agent may continue after an answer that was cut off.
      const cut = cutMessageOf(text);
      return {
        ...rollout,
        completion_tokens: rollout.completion_tokens ?? tokensOf(text),
        answer: hasEnded(text.status) ? (answerOf(text) ?? '') : answerOf(text),
        question: questionOf(text),
        finish_reason: cut?.finish_reason ?? finishOf(text),
        cut_off_at: cut?.completion_tokens,
      };
    }),
  }));

/**
 * Audits a run from at most 60 of its steps and the transcripts of at most 48 rollouts. Leaves out data the service
 * does not offer.
 *
 * @throws ServiceError
 */
export async function readAudit(runId: string, range: Range, context: QueryContext): Promise<AuditReport> {
  const unread: Unread[] = [];
  const onUnread: OnUnread = (what, error) => {
    context.signal.throwIfAborted();
    if (!failsAlone(error)) throw error;
    unread.push({ what, error });
  };
  const ifRead = <Answer>(what: string, answer: Promise<Answer>): Promise<Answer | undefined> =>
    answer.catch((error: unknown) => {
      if (!isNotOffered(error)) onUnread(what, error);
      return undefined;
    });
  const [trainer, heldOut] = await Promise.all([
    ifRead('The trainer rewards', trainerRewardsQuery(runId, true).read(context)),
    ifRead('The held-out rewards', heldOutRewardsQuery(runId, true).read(context)),
  ]);
  const curve = trainer ?? emptyCurve;
  const known = stepsIn(curve);
  const steps = await ifRead(
    'The rewards by step',
    readSteps(runId, stepsToRead(known), context, (error, step) => onUnread(`Step ${step}`, error)),
  );
  const texts = await readTexts(textsToRead(steps ?? []), context, onUnread);
  const curves = auditedCurves(curve, heldOut ?? []);
  const findings = audit({ ...curves, steps: withTexts(steps ?? [], texts), range });
  const lastStep = steps?.findLast(({ rewards }) => rewards.length > 0)?.step;
  const report = { findings, texts: texts.size, unread, lastStep };
  if (trainer) rememberAudit(runId, report, { trainer, range, memory: context.memory });
  const words = [
    steps ? `${steps.length} of ${counted(known.length, 'step')} read` : 'the service lists no rewards by step',
    `texts of ${counted(texts.size, 'rollout')}`,
    `${counted(curves.heldOut.length, 'held-out reward')}`,
    ...(unread.length > 0 ? [`${unread.length} of these reads failed`] : []),
  ];
  return { ...report, read: words.join(', ') };
}

/** The remembered findings of a run's last whole audit. */
const remembered = z.object({
  kinds: z.array(z.enum(Object.keys(findingKinds) as FindingKind[])),
  lastStep: z.number(),
  /** The trainer's reward at that step: a run that restarts may get another one. */
  reward: z.number(),
  texts: z.number(),
  range: z.tuple([z.number(), z.number()]),
});

interface AuditMemory {
  readonly trainer: TrainerCurve;
  readonly range: Range;
  readonly memory: Pick<RememberedStore, 'setting' | 'setSetting'>;
}

const settingOf = (runId: string): string => `audit ${runId}`;

const rewardAt = ({ steps, rewards }: TrainerCurve, step: number): number | undefined =>
  rewards[steps.lastIndexOf(step)];

function rememberAudit(runId: string, report: AuditOutcome, { trainer, range, memory }: AuditMemory): void {
  const { findings, texts, unread, lastStep } = report;
  if (unread.length > 0 || lastStep === undefined) return;
  const kinds = findings.map(({ kind }) => kind);
  memory.setSetting(settingOf(runId), { kinds, texts, lastStep, reward: rewardAt(trainer, lastStep), range });
}

/** The run's last whole audit, if it was made with this curve and range. */
export function rememberedAudit(runId: string, { trainer, range, memory }: AuditMemory): AuditOutcome | undefined {
  const { data } = remembered.safeParse(memory.setting(settingOf(runId)));
  if (!data || rewardAt(trainer, data.lastStep) !== data.reward) return undefined;
  const isOfRange = data.range.every((end, index) => end === range[index]);
  return isOfRange ? { ...data, findings: data.kinds.map(kind => ({ kind })), unread: [] } : undefined;
}

/** The curves to audit. The trainer's curve is thinned out, because it may have a million points. */
function auditedCurves({ steps, rewards }: TrainerCurve, heldOut: readonly HeldOutReward[]) {
  const means = heldOutMeansOf(heldOut.toSorted((left, right) => left.step - right.step));
  const even = evenCurve(steps, rewards);
  const [first = 0, last = first] = [steps[0], steps.at(-1)];
  const stepOf = (index: number): number => first + (index * (last - first)) / Math.max(1, even.length - 1);
  const trainer = even.map((value, index) => ({ step: stepOf(index), value }));
  return { trainer, heldOut: means };
}

/** How many steps must have the lowest reward for a finding. */
const minLowestSteps = 20;

/** Finds that no step of the trainer's curve has more than the lowest reward. */
function neverInCurve({ rewards }: TrainerCurve, [low]: Range): readonly Finding[] {
  let steps = 0;
  for (let index = 0; index < rewards.length; index += 1) {
    const value = rewards[index];
    if (value == null || Number.isNaN(value)) continue;
    if (value !== low) return [];
    steps += 1;
  }
  const words = `the trainer's reward is ${reward(low)} in all ${steps} steps that have one: the grader may never match, or the tasks are too hard`;
  return steps < minLowestSteps ? [] : [{ kind: 'never', words, evidence: [], of: 0 }];
}

/** The audit's findings in the curves alone, most important first. */
export const auditOfCurves = (
  trainer: TrainerCurve,
  heldOut: readonly HeldOutReward[],
  range: Range,
): readonly Finding[] => [
  ...neverInCurve(trainer, range),
  ...audit({ ...auditedCurves(trainer, heldOut), steps: [], range }),
];

const noRewards: readonly HeldOutReward[] = [];

const findingsInCurves = perObject((range: Range) =>
  perObject((trainer: TrainerCurve) =>
    perObject((heldOut: readonly HeldOutReward[]) => auditOfCurves(trainer, heldOut, range)),
  ),
);

/** The most important finding in a run's curves in words, if there is one. */
export const hintOfCurves = (
  trainer: TrainerCurve = emptyCurve,
  heldOut: readonly HeldOutReward[] = noRewards,
  range: Range,
): string | undefined => findingsInCurves(range)(trainer)(heldOut)[0]?.words;

/**
 * Describes the audit of a checkpoint's run before the checkpoint goes live: its findings in the curves, or that there
 * was no audit.
 *
 * @param report the whole audit, if it has been made, now or earlier
 * @param way the way to an audit of the texts; by default, a command
 */
export function describeAudit(
  { training_run_id: id, step = Number.POSITIVE_INFINITY }: AuditedOrigin,
  { trainer = emptyCurve, heldOut = noRewards, report }: KnownToAudit,
  range: Range,
  way = clean`describe ${shellWord(id)} --audit`,
): string {
  const { findings = [], texts = 0, unread = [], lastStep = Number.NEGATIVE_INFINITY } = report ?? {};
  if (lastStep >= step && unread.length === 0) {
    const at = lastStep === step ? '' : ` at step ${lastStep}`;
    // The curves may have changed since the audit.
    const all = [...findings, ...findingsInCurves(range)(trainer)(heldOut)].map(({ kind }) => findingKinds[kind]);
    const kinds = [...new Set(all)].join(', ');
    return `Audit findings${at}${texts === 0 ? ' (no texts read)' : ''}: ${kinds || 'none'}.`;
  }
  const found = hintOfCurves(trainer, heldOut, range);
  return found === undefined ? `Not audited: ${way}.` : `Audit of its curves: ${found} (${way} reads more).`;
}

export type AuditedOrigin = Pick<Origin, 'training_run_id' | 'step'>;

/** What an audit found, in brief. */
interface AuditOutcome extends Pick<AuditReport, 'lastStep' | 'texts'> {
  readonly findings: readonly Pick<Finding, 'kind'>[];
  readonly unread: readonly unknown[];
}

interface KnownToAudit {
  readonly trainer?: TrainerCurve | undefined;
  readonly heldOut?: readonly HeldOutReward[] | undefined;
  readonly report?: AuditOutcome | undefined;
}

/** The flags and notes on the evaluations of a checkpoint, in sentences; empty if there are none. */
export const describeNotes = (
  { training_run_id, step }: AuditedOrigin,
  notes: ReadonlyMap<string, readonly Note[]>,
  memory: Pick<RememberedStore, 'seen'>,
): string =>
  [...notes]
    .flatMap(([id, said]) => {
      const { record, label = id } = memory.seen.find('run', id) ?? {};
      const isOf = step !== undefined && record?.['training_run_id'] === training_run_id && record['step'] === step;
      return isOf ? clean`Its evaluation ${label}: ${describeNote(said).join('; ')}.` : [];
    })
    .join(' ');

/** Reads the curves for `describeAudit` and adds the notes, if they can be read in time. @throws AbortError if the user interrupts */
export async function readAuditText(origin: AuditedOrigin, context: QueryContext): Promise<string> {
  const { training_run_id: id } = origin;
  const [{ answer: trainer }, { answer: heldOut }] = await Promise.all([
    readInTime(trainerRewardsQuery(id, true).read, context),
    readInTime(heldOutRewardsQuery(id, true).read, context),
  ]);
  const range = context.compare?.rewardRange ?? defaultRange;
  const report = trainer && rememberedAudit(id, { trainer, range, memory: context.memory });
  const noted = describeNotes(origin, savedNotes(context.memory), context.memory);
  return `${describeAudit(origin, { trainer, heldOut, report }, range)} ${noted}`.trimEnd();
}

export const nothingFound = 'No sign of a problem was found, but this is no proof';

const reports = new WeakMap<object, AuditReport>();

/** The audit that a list shows; undefined while it is being read, or if that failed. */
export const auditReportOf = (list: object | undefined): AuditReport | undefined => list && reports.get(list);

export function auditList(runId: string, range: Range): ListSource<Finding> {
  const list: ListSource<Finding> = {
    key: [...trainingKeys.stepsRead(runId), 'audit', range],
    id: row => row.kind,
    readPage: async context => {
      reports.delete(list);
      const report = await readAudit(runId, range, context);
      reports.set(list, report);
      return wholePage(report.findings, report.read);
    },
    activity: () => 'settled',
    derived: true,
  };
  return list;
}

export const findingColumns: readonly Column<Finding>[] = [
  { id: 'kind', title: 'LOOK AT', width: 14, value: row => findingKinds[row.kind] },
  { id: 'rollouts', title: 'ROLLOUTS', width: 8, align: 'right', value: row => row.of },
  { id: 'words', title: 'WHY', width: { min: 20, max: 300, grow: 1 }, cutAt: 'end', value: row => row.words },
];

export function findingFacts(row: Finding): readonly Fact[] {
  const { length } = row.evidence;
  return [
    { label: 'look at', value: findingKinds[row.kind] },
    { label: 'why', value: row.words },
    {
      label: 'based on',
      value: `${counted(row.of, 'rollout')}${length < row.of ? `, ${length} of them listed` : ''}`,
    },
  ];
}
