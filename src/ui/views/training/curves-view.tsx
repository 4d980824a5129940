/** The curves of several training runs, on one chart or on a chart for each. */
import { Box } from 'ink';
import { freshnessOfParts } from '../../../queries/freshness.ts';
import { trainingRunQuery } from '../../../queries/training.ts';
import { recordPlace } from '../../../resources/define.ts';
import { training } from '../../../resources/training.ts';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane, View } from '../../app/view.tsx';
import { useLives } from '../../data/use-live.ts';
import { listCommands, recordCommands } from '../../keys/general.ts';
import { Lines } from '../../widgets/lines.tsx';
import { ChoiceWindow } from '../../windows/choice-window.tsx';
import { useChartedRuns } from './charted-runs.ts';
import { useCurvesView } from './use-curves.tsx';

export function CurvesView({ place: { runs } }: ViewProps<'curves'>) {
  const pane = usePane('main');
  const shell = useShell();
  const records = useLives(
    runs.map(({ id }) => trainingRunQuery(id)),
    pane.attention,
  );
  const named = runs.map(({ id, name }, index) => ({ id, name, status: records[index]?.data?.status }));
  const { runs: charted, parts } = useChartedRuns(named, pane.attention);
  const [first, ...others] = parts;
  const view = useCurvesView(charted, { width: pane.width - 2, heightFor: () => pane.height, hasGrid: true });
  const refresh = (): void => {
    for (const part of [...records, ...parts]) part.refresh();
  };
  const open = (): void =>
    shell.showOverlay('open run', close => (
      <ChoiceWindow
        title="Open a run"
        choices={runs.map(each => ({ key: each.id, label: each.name, value: each }))}
        emptyText="No run"
        onChoose={({ id, name }) => shell.open(recordPlace(training, id, name))}
        onClose={close}
      />
    ));
  return (
    <View
      freshness={first && freshnessOfParts([first.freshness, ...others.map(({ freshness }) => freshness)])}
      bindings={[
        { command: listCommands.open, run: open },
        { command: recordCommands.refresh, run: refresh },
        ...view.bindings,
      ]}
      main={
        <Box>
          <Lines lines={view.lines.map(line => ` ${line}`)} width={pane.width} height={pane.height} />
        </Box>
      }
    />
  );
}
