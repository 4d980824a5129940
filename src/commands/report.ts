/**
 * `benchtop report`: writes a run, a training run, a dataset, a comparison of runs, or the flagged trajectories as one
 * file to read or attach.
 */
import { maxCompared } from '../resources/comparison-grid.ts';
import { comparisonReport } from '../rollouts/comparison-report.ts';
import { flaggedReport, type ReportContext, reportParts, rolloutsReport } from '../rollouts/report.ts';
import { clean } from '../text/sanitise.ts';
import { findRuns } from './compare.ts';
import { CommandError, type ExitCode, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { writeOutput } from './output-file.ts';
import { codeOf, readRollouts } from './rollouts.ts';
import type { CommandInput } from './table/commands.ts';
import { withRollouts } from './with-rollouts.ts';

export async function run({ args: words, flags }: CommandInput<'report'>, io: CommandIo): Promise<number> {
  const { flagged, output, format: named = output?.endsWith('.md') ? 'md' : 'html' } = flags;
  const format = named === 'md' ? 'markdown' : named;
  const [word, ...others] = words;
  if ((word === undefined) !== (flagged === true))
    throw new CommandError('Name a run, a training run or a dataset, or give --flagged.');
  if (words.length > maxCompared) throw new CommandError(`At most ${maxCompared} runs can be compared at once.`);
  return withRollouts({ word: word ?? '', takesFile: others.length === 0 }, flags, io, async (context, named) => {
    let code: ExitCode = exitCodes.done;
    const note = (words: string): void => {
      code = exitCodes.failed;
      io.note(words);
    };
    // Gaps that the report notes make the command fail.
    const reading: ReportContext = { ...context, note, fileNotes: named.fileNotes };
    const report = async () => {
      if (word === undefined) return flaggedReport(reading);
      if (others.length > 0) {
        const runs = await findRuns(words, context);
        if (new Set(runs.map(({ id }) => id)).size < runs.length) throw new CommandError('A run is named twice.');
        return comparisonReport(
          runs.map(({ row }) => row),
          flags,
          reading,
        );
      }
      const found = await readRollouts(named, context);
      code = codeOf(found);
      return rolloutsReport(found, found, flags, reading);
    };
    const written = await report();
    const none = code === exitCodes.done ? exitCodes.notFound : code;
    if (!written) throw new CommandError('No trajectory or run has a flag or a note.', none);
    const path = await writeOutput(output, reportParts(written, format), io);
    if (path !== undefined) io.note(clean`The report is in ${path}`);
    return code;
  });
}
