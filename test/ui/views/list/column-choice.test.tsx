/** The columns that a user has chosen, after an update with other columns. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Column } from '../../../../src/present/column.ts';
import { wholePage } from '../../../../src/queries/lists/list-source.ts';
import { RememberedStore } from '../../../../src/store/store.ts';
import { Program } from '../../../../src/ui/app/program.tsx';
import { listCommands } from '../../../../src/ui/keys/general.ts';
import { ResourceList } from '../../../../src/ui/views/list/resource-list.tsx';
import { createTheme } from '../../../../src/ui/widgets/theme/theme.tsx';
import { openScreen } from '../../../screen.ts';
import { fakeService } from '../../../service/fake-service.ts';
import { newWorkbench } from '../../../workbench/new-workbench.ts';
import { noTerminal, openViewOnStage, registryOf } from '../../stage.tsx';

interface Tea {
  readonly id: string;
}

const source = {
  key: ['teas'],
  id: (row: Tea) => row.id,
  readPage: async () => wholePage<Tea>([{ id: 'assam' }]),
};
const column = (title: string): Column<Tea> => ({ id: title.toLowerCase(), title, width: 10, value: () => 'x' });

it('stay as they were, and a new column is shown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'benchtop-columns-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = (columns: readonly Column<Tea>[]) => {
    const store = RememberedStore.open(join(folder, 'remembered.db'), 'test');
    const workbench = newWorkbench({
      service: async () => fakeService(),
      remembered: () => store,
    });
    const View = () => (
      <ResourceList name="teas" source={source} columns={columns} emptyText="No tea" facts={() => []} />
    );
    const screen = openScreen(
      <Program workbench={workbench} theme={createTheme()} registry={registryOf(View)} terminal={noTerminal} />,
      { columns: 120, rows: 20 },
    );
    const close = async (): Promise<void> => {
      screen.close();
      workbench.close();
      await workbench.closed;
    };
    return { screen, close };
  };
  const first = open([column('NAME'), column('GROWN'), column('PRICE')]);
  await first.screen.waitFor(text => text.includes('assam') || text.includes('GROWN'));
  await first.screen.press(listCommands.columns.keys[0] ?? '');
  await first.screen.waitFor('Columns');
  await first.screen.press('down', 'space', 'esc');
  await first.screen.waitFor(text => !text.includes('GROWN'));
  await first.close();
  const second = open([column('NAME'), column('GROWN'), column('AGE'), column('PRICE')]);
  await second.screen.waitFor('PRICE');
  expect(second.screen.text()).toMatch(/NAME +AGE +PRICE/);
  await second.close();
});

it('take every key of one read, and sort the rows by the column under the cursor', async () => {
  const teas = ['keemun', 'darjeeling', 'assam'].map(id => ({ id }));
  const columns: readonly Column<Tea>[] = [
    { ...column('NAME'), value: row => row.id },
    { ...column('LENGTH'), value: row => row.id.length },
  ];
  const list = { ...source, readPage: async () => wholePage<Tea>(teas) };
  const View = () => <ResourceList name="teas" source={list} columns={columns} emptyText="No tea" facts={() => []} />;
  const stage = openViewOnStage(View, { columns: 100, rows: 20 });
  await stage.waitFor('keemun');
  await stage.press(listCommands.columns.keys[0] ?? '');
  await stage.waitFor('Columns');
  await stage.type('js');
  await stage.waitFor('LENGTH ▲');
  await stage.press('esc');
  await stage.waitFor(text => /assam(.|\n)*keemun(.|\n)*darjeeling/.test(text));
});

it('are picked in a window that fits a terminal that has shrunk (U42)', async () => {
  const columns = Array.from({ length: 30 }, (_, index) => column(`C${index}`));
  const View = () => <ResourceList name="teas" source={source} columns={columns} emptyText="No tea" facts={() => []} />;
  const stage = openViewOnStage(View, { columns: 140, rows: 40 });
  await stage.waitFor('C0');
  await stage.press(listCommands.columns.keys[0] ?? '');
  await stage.waitFor('Columns');
  await stage.resize(60, 15);
  await stage.waitFor(text => text.split('\n').length === 15 && text.includes('Columns'));
  // The rule above the hints, over the whole width.
  await stage.waitFor(text => /^├[─┴]+┤$/m.test(text));
});
