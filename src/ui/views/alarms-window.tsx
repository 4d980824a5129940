/** Shows the alarms that the settings would have raised for a run. */
import { hasEnded } from '../../contract/status.ts';
import { emptyCurve } from '../../contract/trainer-curve.ts';
import { checkpointTimesQuery } from '../../queries/checkpoints.ts';
import type { KnownResource } from '../../queries/statuses/known-resource.ts';
import { trainingProgressQuery, trainingRunQuery } from '../../queries/training.ts';
import { trainerRewardsQuery } from '../../queries/training-curves.ts';
import { reportLines } from '../../resources/alarm-report.ts';
import { historyOf, type PastReport, reportOf, reportOfRun } from '../../resources/past-alarms.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { wrap } from '../../text/wrap.ts';
import { useLoadingText } from '../app/loading.tsx';
import { ReadingWindow, useReadingWidth } from '../app/reading-window.tsx';
import { useHeldOutQuery } from '../data/use-held-out.ts';
import { useLive } from '../data/use-live.ts';
import { useWorkbench } from '../data/workbench.tsx';
import { alarmCommands } from './commands.ts';
import { stepsWanted } from './training/charted-runs.ts';

interface ReportWindowProps {
  /** Undefined while the data is being read. */
  readonly report: PastReport | undefined;
  readonly benchmark: string | null | undefined;
  readonly onClose: () => void;
}

function ReportWindow({ report, benchmark, onClose }: ReportWindowProps) {
  const workbench = useWorkbench();
  const asking = useLoadingText();
  const width = useReadingWidth();
  const words = report ? reportLines(report, workbench.alarmsFor(benchmark ?? undefined)) : [asking];
  const lines = words.flatMap(line => {
    const text = line.trimStart();
    const indent = line.slice(0, line.length - text.length);
    return wrap(sanitiseLine(text), width - indent.length).map(each => ({ text: `${indent}${each}` }));
  });
  return <ReadingWindow title="Alarms" lines={lines} opener={alarmCommands.past} onClose={onClose} />;
}

interface LineAlarmsProps {
  readonly run: KnownResource;
  readonly onClose: () => void;
}

/** The alarms of a line in Watch. */
export const LineAlarms = ({ run, onClose }: LineAlarmsProps) =>
  run.kind === 'run' ? (
    <RunAlarms run={run} onClose={onClose} />
  ) : (
    <TrainingAlarms id={run.id} ended={hasEnded(run.status)} onClose={onClose} />
  );

export function TrainingAlarms({ id, ended, onClose }: { id: string; ended: boolean; onClose: () => void }) {
  const workbench = useWorkbench();
  const { remembered, compare } = workbench;
  const record = useLive(trainingRunQuery(id), 'visible');
  const heldOut = useLive(useHeldOutQuery()(id, ended), 'visible');
  const progress = useLive(trainingProgressQuery(id), 'visible');
  const trainer = useLive(trainerRewardsQuery(id, ended, stepsWanted(progress)), 'visible');
  const checkpoints = useLive(checkpointTimesQuery(id, ended), 'visible');
  const isRead = [record, heldOut, trainer, checkpoints].every(({ data, error }) => data !== undefined || error);
  const run = record.data ?? { training_run_id: id };
  const curves = { heldOut: heldOut.data ?? [], trainer: trainer.data ?? emptyCurve };
  const history = historyOf(run, curves, checkpoints.data ?? [], remembered);
  const rules = workbench.alarmsFor(run.bench_id ?? undefined);
  const report = isRead ? reportOf(history, rules, compare.rewardRange) : undefined;
  return <ReportWindow report={report} benchmark={run.bench_id} onClose={onClose} />;
}

export function RunAlarms({ run, onClose }: LineAlarmsProps) {
  const workbench = useWorkbench();
  const report = reportOfRun(run, workbench.alarmsFor(run.parent), workbench.compare.rewardRange);
  return <ReportWindow report={report} benchmark={run.parent} onClose={onClose} />;
}
