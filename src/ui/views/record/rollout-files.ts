/** The files on rollouts that `x` offers besides the rows: reports, and trajectories with their steps. */
import { evalRunQuery } from '../../../queries/evaluations.ts';
import type { Waiter } from '../../../queries/lists/read-all.ts';
import { resourceNamed } from '../../../resources/catalogue.ts';
import { comparability } from '../../../resources/comparison.ts';
import { maxCompared } from '../../../resources/comparison-grid.ts';
import type { NamedRun } from '../../../resources/place.ts';
import { missingIn } from '../../../resources/trajectories.ts';
import { readAllInFull } from '../../../rollouts/in-full.ts';
import type { Report, ReportContext, ReportFormat } from '../../../rollouts/report.ts';
import { savedNotes, withNotes } from '../../../store/notes.ts';
import { exportFileName, jsonFileParts } from '../../../text/export.ts';
import { counted } from '../../../text/numbers.ts';
import { clean } from '../../../text/sanitise.ts';
import type { ListedRows } from '../list/list-props.ts';
import type { FileReading, OtherFile } from './export-window.tsx';
import { saveParts } from './save-file.ts';

const formats: readonly (readonly [ReportFormat, string])[] = [
  ['html', 'HTML'],
  ['markdown', 'Markdown'],
];

/** Loaded only when a report is written. */
const reports = () => import('../../../rollouts/report.ts');

/** One choice for each report format. @param of the report's subject @param id for its file name */
function reportFiles(
  of: string,
  id: string,
  report: (context: ReportContext) => Promise<Report>,
): readonly OtherFile[] {
  const title = clean`the report on ${of}`;
  return formats.map(([format, words]) => ({
    key: `report.${format}.${id}`,
    label: clean`Report on ${of}, ${words}`,
    title,
    file: () => exportFileName('report', id, format, new Date()),
    save: async (path, reading) => {
      const notes: string[] = [];
      const context = { ...reading, note: (words: string) => void notes.push(words) };
      const { reportParts } = await reports();
      const parts = async function* (): AsyncGenerator<string> {
        notes.length = 0;
        yield* reportParts(await report(context), format);
      };
      const saved = await saveParts(path, parts, reading.signal);
      const without = notes.length === 0 ? '' : `, without ${counted(notes.length, 'trajectory', 'trajectories')}`;
      return `${title}${without} to ${saved}`;
    },
  }));
}

/** The reports on the marked rows, or else on the row under the cursor. @param idOf undefined for a row without a report */
export const ownerReports = <Row extends object>(
  resource: 'training' | 'datasets',
  { marked, current }: Pick<ListedRows<Row>, 'marked' | 'current'>,
  idOf: (row: Row) => string | null | undefined,
): readonly OtherFile[] =>
  (marked.length > 0 ? marked : current ? [current] : []).flatMap(row => {
    const id = idOf(row);
    return id ? ownerReport(resource, id, row) : [];
  });

/** The report on a run, a training run or a dataset. @param resource the first of the resource's names */
export function ownerReport(resource: 'runs' | 'training' | 'datasets', id: string, row: object): readonly OtherFile[] {
  const found = resourceNamed(resource);
  if (!found) return [];
  const owner = { resource: found, id, row };
  return reportFiles(found.label?.(row) || id, id, async context => {
    const [{ rolloutsReport }, { readRollouts }] = await Promise.all([reports(), import('../../../rollouts/read.ts')]);
    return rolloutsReport(owner, await readRollouts(owner, context), {}, context);
  });
}

/** The report on several runs, compared with one of them; none if they cannot be compared, or are pooled. */
export function comparisonFiles(named: readonly NamedRun[], baseId: string): readonly OtherFile[] {
  const runs = [...named.filter(({ id }) => id === baseId), ...named.filter(({ id }) => id !== baseId)];
  const ids = runs.map(({ id }) => id);
  const isOfOne = comparability(runs).why === undefined;
  if (runs.some(({ pool }) => pool)) return [];
  if (ids.length < 2 || ids.length > maxCompared || new Set(ids).size < ids.length || !isOfOne) return [];
  const [base = '', ...others] = runs.map(({ name }) => name);
  const of = others.length > 1 ? `${runs.length} runs compared` : `${others.join('')} compared with ${base}`;
  return reportFiles(of, ids.join('-'), async context => {
    const { comparisonReport } = await import('../../../rollouts/comparison-report.ts');
    return comparisonReport(await Promise.all(ids.map(id => evalRunQuery(id).read(context))), {}, context);
  });
}

/** The report on all trajectories with a flag or a note. @param count how many there are */
export function flaggedFiles(count: number): readonly OtherFile[] {
  if (count === 0) return [];
  return reportFiles(`all ${count} with a flag or a note`, 'flagged', async context => {
    const report = (await reports()).flaggedReport(context);
    if (!report) throw new Error('no trajectory has a flag or a note any more');
    return report;
  });
}

/** Trajectories to save with their steps. */
export interface ChosenRollouts {
  readonly key: string;
  /** Describes them: `2 marked`. */
  readonly words: string;
  /** @throws Error with the reason if some are missing */
  readonly ids: (waiter: Waiter) => Promise<readonly string[]>;
}

/** The marked trajectories, or all in the filtered list. */
export const listedRollouts = <Row extends { readonly trajectory_id?: string | null | undefined }>({
  marked,
  isFiltered,
  read,
}: ListedRows<Row>): ChosenRollouts => ({
  key: 'steps',
  words: marked.length > 0 ? `${marked.length} marked` : isFiltered ? 'all filtered rows' : 'all rows',
  ids: async waiter => (await read(waiter)).flatMap(({ trajectory_id: id }) => id || []),
});

/** All trajectories with a flag. */
export const flaggedRollouts = (ids: readonly string[]): ChosenRollouts => ({
  key: 'flagged',
  words: `all ${ids.length} flagged`,
  ids: async () => ids,
});

export const stepsFileName = (): string => exportFileName('trajectories', 'steps', 'jsonl', new Date());

/** Saves trajectories with their steps and these notes. Returns the path, and words that describe the saved data. */
export async function saveWithSteps(
  file: string,
  { ids: idsOf }: ChosenRollouts,
  reading: FileReading,
  notes?: ReturnType<typeof savedNotes>,
): Promise<{ readonly path: string; readonly words: string }> {
  const ids = await idsOf(reading.waiter);
  let written = 0;
  const leftOut: string[] = [];
  const incomplete: string[] = [];
  const lines = async function* (): AsyncGenerator<string> {
    written = 0;
    leftOut.length = 0;
    incomplete.length = 0;
    for await (const trajectory of readAllInFull(ids, reading)) {
      if (trajectory instanceof Error) leftOut.push(trajectory.message);
      else {
        written += 1;
        const missing = missingIn(trajectory);
        if (missing !== undefined) incomplete.push(missing);
        yield* jsonFileParts(withNotes(trajectory, notes?.get(trajectory.trajectory_id)), 0);
      }
      reading.onRead?.(written + leftOut.length);
    }
    if (written === 0) throw new Error(leftOut[0] ?? 'there is no trajectory with an id');
  };
  const path = await saveParts(file, lines, reading.signal);
  const counts = [
    leftOut.length > 0 && `${leftOut.length} left out`,
    incomplete.length > 0 && `${incomplete.length} incomplete`,
  ].filter(Boolean);
  // Put the path last, because it may leave no room for other words.
  const faults = counts.length === 0 ? '' : ` (${counts.join(', ')})`;
  const saved = `${counted(written, 'trajectory', 'trajectories')} with steps${faults} to ${path}`;
  const [example] = [...leftOut, ...incomplete];
  return { path, words: example === undefined ? saved : clean`${saved}; e.g. ${example}` };
}

/** @param hasNotes whether to offer a second file, which has people's notes too */
export const stepsFiles = (chosen: ChosenRollouts, hasNotes: boolean): readonly OtherFile[] =>
  (hasNotes ? [false, true] : [false]).map(withNotes => ({
    key: withNotes ? `${chosen.key}.notes` : chosen.key,
    label: `With steps${withNotes ? ' and notes' : ''}, JSON Lines: ${chosen.words}`,
    title: 'trajectories with their steps',
    file: stepsFileName,
    save: async (path, reading) => {
      const notes = withNotes ? savedNotes(reading.memory) : undefined;
      return (await saveWithSteps(path, chosen, reading, notes)).words;
    },
  }));
