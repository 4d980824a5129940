/** Reports on a run, a training run or a dataset, and on flagged trajectories. */
import { type Curve, curveOf, curveOfColumns, withGaps } from '../base/curve.ts';
import { binLabels, histogram, mean } from '../base/statistics.ts';
import { version } from '../base/version.ts';
import { hasEnded } from '../contract/status.ts';
import { stepValues } from '../contract/trainer-curve.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import { type Column, cellText, exportColumns, withoutEmpty } from '../present/column.ts';
import type { Fact } from '../present/fact.ts';
import { imagesIn } from '../present/images.ts';
import { describeMean } from '../present/mean.ts';
import { noteFacts } from '../present/notes.ts';
import { outcomeClasses } from '../present/outcome-classes.ts';
import { type ReportBlock, reportHtml, reportMarkdown } from '../present/report.ts';
import { sortRows } from '../present/sort.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { type TaskGroup, unfinishedState } from '../present/task-groups.ts';
import { transcriptText } from '../present/transcript-lines.ts';
import { heldOutMeansOf, otherSplits } from '../queries/held-out.ts';
import { runMeanOf } from '../queries/run-mean.ts';
import { valuesOf } from '../queries/run-rewards.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training-curves.ts';
import { findingColumns, nothingFound, readAudit } from '../resources/audit.ts';
import { comparisonOptions } from '../resources/comparison.ts';
import { curveName } from '../resources/describe-held-out.ts';
import { describeTrainingCurves } from '../resources/describe-training-curves.ts';
import { outcomeColumns } from '../resources/outcomes.ts';
import { describeCertainty } from '../resources/run-mean.ts';
import { failedAmong } from '../resources/run-outcome.ts';
import { describeGroups, groupColumns, groupsOf, taskColumn } from '../resources/task-groups.ts';
import { intervalOfHeldOut } from '../resources/training-columns.ts';
import { factsOfFile, trajectoryFacts } from '../resources/trajectories.ts';
import { isNotOffered } from '../service/errors.ts';
import { type Note, savedNotes } from '../store/notes.ts';
import { counted, reward } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { sparkline } from '../text/sparkline.ts';
import { readInFull } from './in-full.ts';
import { type LongRead, type Owner, type OwnRollouts, withEnds } from './read.ts';

export type Blocks = AsyncGenerator<ReportBlock, void>;

export interface ReportContext extends LongRead {
  /** How the rollouts' file was read, in sentences; undefined if the rollouts are on the service. */
  readonly fileNotes?: readonly string[] | undefined;
  /** Called for everything left out. The report contains the same note. */
  readonly note: (words: string) => void;
}

export interface Report {
  readonly title: string;
  readonly blocks: AsyncIterable<ReportBlock>;
}

const reportFormats = ['html', 'markdown'] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** The report as a file's text, in parts. */
export const reportParts = ({ title, blocks }: Report, format: ReportFormat): AsyncIterable<string> =>
  format === 'html' ? reportHtml(title, blocks) : reportMarkdown(blocks);

/** How many transcripts to include in a report. */
export interface ReportOptions {
  /** Transcripts of the lowest rewards; 3 by default. */
  readonly worst?: number | undefined;
  /** Transcripts of the highest rewards; 3 by default. */
  readonly best?: number | undefined;
}

/** Maximum number of tasks in the table, transcripts under a heading, and bins in the distribution. */
const maxTasks = 100;
const maxTranscripts = 50;
const maxBins = 10;
/** A transcript's width in cells. */
export const width = 100;
/** In characters; longer text is truncated, because browsers cannot display it. */
const longestText = 4 * 1024 * 1024;

export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): ReportBlock {
  const shown = withoutEmpty(columns, rows);
  return {
    kind: 'table',
    titles: exportColumns(shown).map(({ name }) => name),
    rows: rows.map(row => shown.map(column => cellText(column, row))),
  };
}

/** The first tasks as a table, and how many more there are. */
export function* firstTasks<Row>(tasks: readonly Row[], columns: readonly Column<Row>[]): Generator<ReportBlock> {
  yield table(tasks.slice(0, maxTasks), columns);
  if (tasks.length > maxTasks)
    yield { kind: 'words', text: `${counted(tasks.length - maxTasks, 'more task is', 'more tasks are')} left out.` };
}

/** A curve's points. Those without a value, and steps that are missing, are gaps. */
function pointsOf(curve: Curve): { readonly x: number; readonly y: number | undefined }[] {
  const { xs, ys } = withGaps(curve);
  return stepValues({ steps: xs }, ys).map(({ step: x, value: y }) => ({ x, y }));
}

/** A training run's curves, drawn and described. */
async function* curves(id: string, context: ReportContext): Blocks {
  const range = comparisonOptions(context.compare).range;
  try {
    const [heldOut, trainer] = await Promise.all([
      heldOutRewardsQuery(id, true).read(context),
      trainerRewardsQuery(id, true).read(context),
    ]);
    yield { kind: 'heading', text: 'Curves' };
    const others = otherSplits(heldOut);
    const held = [heldOut, ...others].map(rows => {
      const means = new Map(heldOutMeansOf(rows).map(mean => [mean.step, mean]));
      const curve = curveOf(
        rows,
        ({ step }) => step,
        each => each.held_out_reward,
      );
      const points = pointsOf(curve).map(point => {
        const mean = means.get(point.x);
        const interval = mean && intervalOfHeldOut(mean, range);
        return { ...point, low: interval?.low, high: interval?.high };
      });
      const name = others.length > 0 ? curveName('held-out reward', rows) : 'held-out reward';
      return { name: `${name}, with 95% limits`, points };
    });
    const trained = pointsOf(curveOfColumns(trainer.steps, trainer.rewards));
    const named = [...held, { name: 'trainer reward', points: trained }];
    yield { kind: 'curves', curves: named.filter(({ points }) => points.length > 0) };
    for (const text of describeTrainingCurves(heldOut, trainer, range)) yield { kind: 'words', text };
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    yield { kind: 'words', text: 'The service does not list the curves of training runs.' };
  }
}

/** What the audit of a training run found. */
async function* auditOf(id: string, context: ReportContext): Blocks {
  const { findings, read, unread } = await readAudit(id, comparisonOptions(context.compare).range, context);
  yield { kind: 'heading', text: 'Audit' };
  for (const { what, error } of unread) context.note(clean`${what} could not be read for the audit: ${error.message}`);
  yield findings.length === 0 ? { kind: 'words', text: `${nothingFound}.` } : table(findings, findingColumns);
  yield { kind: 'words', text: `${read}.` };
}

/** The distribution of rewards. */
export function rewardBars(values: readonly number[]): ReportBlock {
  const bins = histogram(values, maxBins);
  const labels = binLabels(bins, reward);
  return { kind: 'bars', bars: bins.map(({ count }, index) => ({ label: labels[index] ?? '', count })) };
}

/** The width of a task's rewards in cells. More rewards than this are drawn as a sparkline. */
const stripWidth = 16;

/** A task's rewards in ascending order. */
const strip = ({ scores }: TaskGroup): string =>
  scores.length > stripWidth ? sparkline(scores, stripWidth) : scores.map(reward).join(' ');

/** The rollouts' rewards and outcomes, and the worst tasks. */
function* summary({ rows, rewards }: OwnRollouts, range: Range): Generator<ReportBlock, void> {
  const values = valuesOf(rewards?.rewards ?? rows);
  yield { kind: 'heading', text: 'Rewards' };
  const shown = mean(values);
  const certainty = rewards ? describeCertainty(runMeanOf(rewards.rewards, { ...rewards, range }), shown) : '';
  const unrated = rows.filter(each => each.reward == null);
  // Rollouts that never started are not listed.
  const all = hasEnded(rewards?.status) ? Math.max(rows.length, rewards?.total ?? 0) : rows.length;
  const without = all - values.length;
  const states = unrated.map(unfinishedState);
  const [failed, running] = (['failed', 'running'] as const).map(state => states.filter(each => each === state).length);
  const words = [
    `mean ${describeMean({ mean: shown, count: values.length })}`,
    certainty,
    without > 0 ? `${without} without a reward${failedAmong(without, failed, running)}` : '',
  ];
  yield { kind: 'words', text: words.filter(Boolean).join(', ') };
  const { models, ...tasks } = groupsOf(rows, { run: rewards, range, passAt: undefined, base: undefined });
  for (const text of models) yield { kind: 'words', text };
  yield rewardBars(values);
  yield { kind: 'heading', text: 'How they ended' };
  yield table(outcomeClasses(rows), outcomeColumns);
  const groups = sortRows(tasks.groups, each => each.mean, false);
  yield { kind: 'heading', text: 'Tasks, worst first' };
  for (const text of describeGroups({ ...tasks, models: [] })) yield { kind: 'words', text };
  if (groups.length === 0) return;
  yield* firstTasks(groups, [taskColumn, ...groupColumns(strip)]);
}

/** A text with a title. Very long text is truncated. @param rest the command that prints all of it */
export function longText(title: string, text: string, rest: string): ReportBlock {
  const hidden = text.length - longestText;
  const words = hidden > 0 ? `\n… ${counted(hidden, 'character')} more: ${rest}\n` : '';
  return { kind: 'text', title, text: `${text.slice(0, longestText)}${words}` };
}

/** A trajectory's images, if it has any. */
export function* imagesOf(title: string, trajectory: Trajectory): Generator<ReportBlock> {
  const images = imagesIn(trajectory);
  if (images.length > 0) yield { kind: 'images', title, images };
}

/** A trajectory with its steps, flags and notes. */
async function* transcript(id: string, notes: readonly Note[], context: ReportContext): Blocks {
  const trajectory = await readInFull(id, context);
  if (trajectory instanceof Error) {
    context.note(clean`Left out: ${id}: ${trajectory.message}`);
    yield { kind: 'words', text: `${id} could not be read: ${trajectory.message}` };
    return;
  }
  const { task_id, status } = trajectory;
  const flags = [...new Set(notes.flatMap(({ flag }) => flag || []))];
  const title = [task_id ?? id, `reward ${reward(trajectory.reward)}`, status, flags.join(', '), task_id ? id : ''];
  yield { kind: 'heading', text: title.filter(Boolean).join(' · ') };
  const facts = trajectoryFacts(trajectory);
  yield { kind: 'facts', facts: [...noteFacts(notes), ...(context.fileNotes ? factsOfFile(facts) : facts)] };
  const rest = context.fileNotes ? 'benchtop read --text prints them' : `benchtop get ${id}`;
  yield longText('transcript', transcriptText(trajectory, width), rest);
  yield* imagesOf('images', trajectory);
}

/** Transcripts under a heading. */
interface Part {
  readonly name: string;
  readonly ids: readonly string[];
  /** Describes the rollouts that they were chosen from, if others have the same reward. */
  readonly among?: string;
}

/**
 * The rollouts with the lowest or the highest rewards. If rewards are equal, each task's newest rollout comes first.
 */
function extremes(rated: readonly Trajectory[], name: 'Worst' | 'Best', most: number): Part {
  const sign = name === 'Best' ? -1 : 1;
  const seen = new Map<string, number>();
  const newest = rated.toSorted((left, right) => (right.policy_step ?? 0) - (left.policy_step ?? 0));
  const ranked = newest.map(row => {
    const key = `${row.reward} ${row.task_id ?? row.trajectory_id}`;
    const rank = seen.get(key) ?? 0;
    seen.set(key, rank + 1);
    return { id: row.trajectory_id, worth: row.reward ?? 0, rank };
  });
  const chosen = ranked
    .toSorted((left, right) => sign * (left.worth - right.worth) || left.rank - right.rank)
    .slice(0, most);
  const limit = chosen.at(-1)?.worth;
  const [equal = 0, taken = 0] = [ranked, chosen].map(each => each.filter(({ worth }) => worth === limit).length);
  const some = taken === chosen.length ? 'of' : `${taken} of`;
  return {
    name,
    ids: chosen.map(({ id }) => id),
    ...(equal > taken && { among: `${some} ${equal} with reward ${reward(limit)}` }),
  };
}

/** The rollouts with a flag or a note. */
export const flaggedRollouts = (
  name: string,
  rows: readonly { readonly trajectory_id?: string | null | undefined }[],
  notes: ReadonlyMap<string, readonly Note[]>,
): Part => ({ name, ids: rows.flatMap(({ trajectory_id: id }) => (id && notes.has(id) ? id : [])) });

/** The trajectories to print: flagged, worst, best. */
function chosenIds(
  rows: readonly Trajectory[],
  notes: ReadonlyMap<string, readonly Note[]>,
  { worst = 3, best = 3 }: ReportOptions,
): readonly Part[] {
  const rated = rows.filter(each => each.reward != null);
  return [flaggedRollouts('Flagged', rows, notes), extremes(rated, 'Worst', worst), extremes(rated, 'Best', best)];
}

/** The notes on trajectories and runs, by id. */
export function notesIn({ memory, note }: ReportContext): ReadonlyMap<string, readonly Note[]> {
  if (memory.notes.lack !== undefined) note(`${memory.notes.lack}.`);
  return savedNotes(memory);
}

/**
 * Prints each trajectory once. A trajectory that is left out because its part is too long may still appear in a later
 * part.
 */
export async function* transcripts(
  parts: readonly Part[],
  notes: ReadonlyMap<string, readonly Note[]>,
  context: ReportContext,
): Blocks {
  const printed = new Set<string>();
  for (const { name, ids: all, among } of parts) {
    const ids = all.filter(id => !printed.has(id));
    const left = ids.length > maxTranscripts ? `, the first ${maxTranscripts} in full` : among ? `, ${among}` : '';
    if (ids.length > 0)
      yield { kind: 'heading', text: `${name}: ${counted(ids.length, 'trajectory', 'trajectories')}${left}` };
    for (const id of ids.slice(0, maxTranscripts)) {
      printed.add(id);
      yield* transcript(id, notes.get(id) ?? [], context);
    }
  }
}

/** Adds the benchmark's name, if it is known, to a fact that names it by its id. */
export function withBenchmarkName(fact: Fact, { memory }: ReportContext): Fact {
  if (fact.refers?.resource !== 'benchmarks') return fact;
  const { id } = fact.refers;
  const name = memory.seen.find('benchmark', id)?.label;
  return name && name !== id ? { ...fact, value: clean`${name} (${id})` } : fact;
}

/** A report on a run, a training run or a dataset. */
export function rolloutsReport(
  owner: Owner,
  rollouts: OwnRollouts,
  options: ReportOptions,
  context: ReportContext,
): Report {
  const title = owner.resource.label?.(owner.row) || owner.id;
  return { title, blocks: rolloutsBlocks(title, owner, rollouts, options, context) };
}

async function* rolloutsBlocks(
  title: string,
  owner: Owner,
  rollouts: OwnRollouts,
  options: ReportOptions,
  context: ReportContext,
): Blocks {
  const { resource, row, id } = owner;
  const read = await withEnds(rollouts, context);
  const { rows } = read;
  for (const words of read.unread.slice(rollouts.unread.length)) context.note(`${words}.`);
  yield { kind: 'title', text: title };
  const whole = (await resource.wholeFacts?.(row, context)) ?? { facts: resource.facts(row) };
  const { fileNotes } = context;
  const notes = notesIn(context);
  const facts = whole.facts.map(fact => withBenchmarkName(fact, context));
  if (!fileNotes) yield { kind: 'facts', facts: [...noteFacts(notes.get(id)), ...facts] };
  for (const note of [...(fileNotes ?? []), ...read.notes]) yield { kind: 'words', text: note.replace(/\.?$/, '.') };
  if (resource.watch?.measures) {
    yield* curves(id, context);
    yield* auditOf(id, context);
  }
  if (rows.length > 0) yield* summary(read, comparisonOptions(context.compare).range);
  yield* transcripts(chosenIds(rows, notes, options), notes, context);
  yield madeBy();
}

/** A report on the runs and trajectories with a flag or a note; undefined if there are none. */
export function flaggedReport(context: ReportContext): Report | undefined {
  const notes = notesIn(context);
  if (notes.size === 0) return undefined;
  const [runs, others] = [true, false].map(isRun =>
    [...notes].filter(([, [note]]) => (note?.kind === 'run') === isRun),
  );
  const title = runs?.length === 0 ? 'Flagged trajectories' : 'Flagged runs and trajectories';
  async function* blocks(): Blocks {
    yield { kind: 'title', text: title };
    for (const [id, said] of runs ?? []) {
      yield { kind: 'heading', text: `Run: ${said[0]?.label || id}` };
      yield { kind: 'facts', facts: [{ label: 'id', value: id }, ...noteFacts(said)] };
    }
    yield* transcripts([{ name: 'Flagged', ids: (others ?? []).map(([id]) => id) }], notes, context);
    yield madeBy();
  }
  return { title, blocks: blocks() };
}

export const madeBy = (): ReportBlock => ({
  kind: 'words',
  text: `Written by benchtop ${version} at ${new Date().toISOString()}.`,
});
