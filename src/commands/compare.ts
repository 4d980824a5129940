/**
 * `benchtop compare`: compares two evaluation runs task by task. The exit code says whether the new one is good enough.
 */
import type { EvalRun } from '../contract/evaluations.ts';
import { hasEnded, statusMeaning } from '../contract/status.ts';
import { type Fact, given } from '../present/fact.ts';
import { factText } from '../present/fact-text.ts';
import { type ComparedRuns, comparison, type RewardMean, summariseComparison, verdictOf } from '../queries/compare.ts';
import { rememberedAt } from '../queries/remembered/seen.ts';
import { counted, difference, reward } from '../text/numbers.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { checkRecordFlags, lineText, printRecord } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { withService } from './with-service.ts';

function textOf(
  base: Found,
  fresh: Found,
  { base: before, new: after, paired, ...counts }: ComparedRuns,
  percent: string,
  columns: number | undefined,
): string {
  const runWords = ({ id, row }: Found, { mean, tasks }: ComparedRuns['base']): string =>
    `${reward(mean)} of ${counted(tasks, 'task')}, ${(row as EvalRun).display_name ?? id} (${id})`;
  const [low, high] = paired?.interval ?? [];
  const facts: readonly Fact[] = [
    { label: 'base', value: runWords(base, before) },
    { label: 'new', value: runWords(fresh, after) },
    {
      label: 'difference',
      value: paired && `${difference(paired.mean)} of ${counted(paired.count, 'task')} in both`,
    },
    {
      label: `${percent} between`,
      value: low === undefined ? undefined : `${difference(low)} and ${difference(high)}`,
    },
    { label: 'verdict', value: paired && verdictOf({ paired }).words },
    { label: 'wins', value: counts.wins },
    { label: 'losses', value: counts.losses },
    { label: 'ties', value: counts.ties },
  ];
  if (columns !== undefined) return factText(facts, undefined);
  return given(facts)
    .map(({ label, value }) => `${label}\t${lineText(value)}\n`)
    .join('');
}

/**
 * Notes what the status of a run means for its rewards.
 *
 * @throws CommandError if it still runs
 */
function checkStatus({ id, row }: Found, { note }: CommandIo): void {
  const { status } = row as EvalRun;
  if (!status) return;
  const isOwn = rememberedAt(row) === undefined;
  if (hasEnded(status)) {
    if (statusMeaning(status) !== 'success') note(sanitiseLine(`${id} ended as ${status}: rewards may be missing.`));
  } else if (isOwn) throw new CommandError(`${id} is ${status}: benchtop watch ${id} waits for it.`, exitCodes.failed);
  // Its status will not change: it is what benchtop noted when it started or saw the run.
  else note(`The service reports no status for ${sanitiseLine(id)}: comparing the rewards that it has now.`);
}

const rewardFields = ({ mean, rewards }: RewardMean) => ({ reward_mean: mean ?? null, rewards });

export async function run(
  { args: [baseWord = '', newWord = ''], flags }: CommandInput<'compare'>,
  io: CommandIo,
): Promise<number> {
  const { confidence = 0.95, failBelow } = flags;
  if (!(confidence > 0 && confidence < 1))
    throw new CommandError('--confidence takes a number between 0 and 1, e.g. 0.95.');
  await checkRecordFlags(flags, [], io);
  return withService(flags, io, async context => {
    const among = [resourceOrThrow('runs')];
    const [base, fresh] = [await findAmong(among, baseWord, context), await findAmong(among, newWord, context)];
    for (const found of [base, fresh]) checkStatus(found, io);
    const [one, other] = [base, fresh].map(({ row }) => (row as EvalRun).bench_id);
    if (one && other && one !== other) {
      throw new CommandError(
        `${base.id} is of benchmark ${one}, ${fresh.id} of ${other}: only runs of one benchmark can be compared.`,
        exitCodes.failed,
      );
    }
    const page = await comparison(base.id, fresh.id).readPage({ ...context, query: {} });
    if (page.note) io.note(page.note);
    if (page.dropped > 0) io.note(`${counted(page.dropped, 'reward')} could not be read: not counted in these means.`);
    const summary = summariseComparison(page.items, confidence);
    const { base: before, new: after, paired, wins, losses, ties } = summary;
    const low = paired?.interval?.[0];
    // Without an interval the result is unknown, which does not pass.
    const passed = failBelow === undefined ? undefined : low !== undefined && low >= failBelow;
    const record = {
      base: { eval_run_id: base.id, mean: before.mean ?? null, tasks: before.tasks, ...rewardFields(page.base) },
      new: { eval_run_id: fresh.id, mean: after.mean ?? null, tasks: after.tasks, ...rewardFields(page.new) },
      difference: paired?.mean ?? null,
      interval: paired?.interval ? { low, high: paired.interval[1], confidence } : null,
      n: paired?.count ?? 0,
      wins,
      losses,
      ties,
      ...(failBelow === undefined ? {} : { fail_below: failBelow, passed }),
    };
    const percent = `${Number((confidence * 100).toFixed(2))}%`;
    await printRecord(record, fresh.id, flags, io, { text: () => textOf(base, fresh, summary, percent, io.columns) });
    if (paired === undefined) io.note('No task has a reward in both runs.');
    if (passed !== false) return exitCodes.done;
    const bound =
      low === undefined
        ? 'There is no interval: the runs share fewer than two tasks.'
        : `The lower bound is ${difference(low)}.`;
    io.note(`${bound} Required: at least ${difference(failBelow)}.`);
    return exitCodes.failed;
  });
}
