/** `benchtop describe`: the curves of a training run in words. */
import type { TrainingRun } from '../contract/training.ts';
import { heldOutRewardsQuery, trainerRewardsQuery } from '../queries/training.ts';
import { trainingCurveWords } from '../resources/curve-words.ts';
import { findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { checkRecordFlags, noteUnreadable, printRecord } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { withService } from './with-service.ts';

export async function run({ args: [word = ''], flags }: CommandInput<'describe'>, io: CommandIo): Promise<number> {
  await checkRecordFlags(flags, [], io);
  return withService(flags, io, async context => {
    const { id, row } = await findAmong([resourceOrThrow('training')], word, context);
    const [heldOut, trainer] = await Promise.all([
      heldOutRewardsQuery(id, true).read(context),
      trainerRewardsQuery(id, true).read(context),
    ]);
    for (const answer of [heldOut, trainer]) noteUnreadable(answer, io);
    const words = trainingCurveWords(heldOut, trainer, context.config.preferences.compare.rewardRange);
    const { display_name, status } = row as TrainingRun;
    const record = { training_run_id: id, display_name, status, words };
    await printRecord(record, id, flags, io, { text: () => `${words.join('\n')}\n` });
    return 0;
  });
}
