/** `benchtop choices`: which of two models the user preferred in chats. */
import { countPairs, type PairCounts } from '../chat/choices.ts';
import { savedChoices } from '../chat/saved.ts';
import { loadConfig } from '../config/load.ts';
import type { Column } from '../present/column.ts';
import { signTest } from '../present/statistics/sign-test.ts';
import { openRemembered } from './connect.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { CommandIo } from './io.ts';
import { printRecord, rowsText } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { configFlags } from './table/flags.ts';

const rowOf = ({ models: [model, other], counts }: PairCounts) => ({
  model,
  other,
  better: counts.left,
  other_better: counts.right,
  equal: counts.equal,
  both_bad: counts['both bad'],
  p: signTest(counts.left, counts.right) ?? null,
});
type Row = ReturnType<typeof rowOf>;

function countColumn(id: keyof Row, title: string): Column<Row> {
  return { id, title, width: title.length, align: 'right', value: row => row[id] ?? undefined };
}

const columns: readonly Column<Row>[] = [
  { id: 'model', title: 'MODEL', width: { min: 10, max: 48, grow: 1 }, value: row => row.model },
  { id: 'other', title: 'OTHER', width: { min: 10, max: 48, grow: 1 }, value: row => row.other },
  countColumn('better', 'BETTER'),
  countColumn('other_better', 'OTHER BETTER'),
  countColumn('equal', 'EQUAL'),
  countColumn('both_bad', 'BOTH BAD'),
  { ...countColumn('p', 'P'), width: 7, text: ({ p }) => p?.toPrecision(2) ?? '' },
];

export async function run({ flags }: CommandInput<'choices'>, io: CommandIo): Promise<number> {
  const memory = openRemembered(loadConfig(configFlags(flags), io.environment));
  try {
    if (!memory.file.isOpen) throw new CommandError('The saved conversations cannot be read.', exitCodes.failed);
    const saved = savedChoices(memory);
    const titles = new Map(memory.chats().map(({ id, title }) => [id, title]));
    const choices = saved.map(({ pair: _, at, ...choice }) => ({
      ...choice,
      at: new Date(at).toISOString(),
      // None if it was deleted.
      title: titles.get(choice.conversation) ?? null,
    }));
    const pairs = countPairs(saved).map(rowOf);
    await printRecord({ pairs, choices }, 'choices', flags, io, { text: () => rowsText(pairs, columns, 'table', io) });
    return exitCodes.done;
  } finally {
    memory.close();
  }
}
