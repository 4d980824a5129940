/** The columns of datasets. */
import { expect, it } from 'vitest';
import { datasets } from '../../src/resources/datasets.ts';
import { tableLines } from '../../src/ui/widgets/table/table-lines.ts';
import { createTheme } from '../../src/ui/widgets/theme/theme.tsx';

it('keep the source and the benchmark of a name, which tell datasets apart', () => {
  const rows = ['training', 'evaluation'].flatMap(source =>
    ['two-digit-sums', 'letter-words'].map(bench => ({
      ...{ dataset_id: `ds_${source}_${bench}`, dataset_name: `${source}/bench_8f2a81_${bench}` },
      display_name: `Everything that was made in the ${source} on ${bench}`,
    })),
  );
  const theme = createTheme('plain');
  const lines = tableLines(rows, datasets.columns, { width: 58, height: 10, theme }).join('\n');
  for (const source of ['train', 'eval'])
    for (const bench of ['sums', 'words']) expect(lines).toMatch(new RegExp(`${source}\\S*…\\S*${bench} `));
});
