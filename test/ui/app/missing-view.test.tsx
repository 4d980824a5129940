/** A place that no view shows never strands the user. */
import { Text } from 'ink';
import { expect, it } from 'vitest';
import type { Place } from '../../../src/resources/place.ts';
import { Program } from '../../../src/ui/app/program.tsx';
import { View } from '../../../src/ui/app/view.tsx';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';
import { openScreen } from '../../screen.ts';
import { fakeService } from '../../service/fake-service.ts';
import { newWorkbench } from '../../workbench/new-workbench.ts';
import { noTerminal, registryOf } from '../stage.tsx';

function openAt(start: Place) {
  const workbench = newWorkbench({ service: async () => fakeService() });
  const screen = openScreen(
    <Program
      workbench={workbench}
      theme={createTheme()}
      registry={registryOf(() => <View main={<Text>at home</Text>} />)}
      terminal={noTerminal}
      start={start}
    />,
    { columns: 100, rows: 20 },
  );
  const close = (): void => {
    screen.close();
    workbench.close();
  };
  return { screen, close };
}

it.each(['esc', '-'])('is left with %s even if there is nothing to go back to (R25)', async key => {
  const { screen, close } = openAt({ view: 'record', resource: 'datasets', id: 'x' });
  await screen.waitFor('There is no view named record datasets. Press esc to go back.');
  await screen.press(key);
  await screen.waitFor('at home');
  close();
});

it('has the palette, the sections and help (R25)', async () => {
  const { screen, close } = openAt({ view: 'record', resource: 'datasets', id: 'x' });
  await screen.waitFor('There is no view named');
  expect(screen.text()).toContain('Stage');
  await screen.type(':stage\r');
  await screen.waitFor('at home');
  close();
});
