/** The actions of training runs, shared by all views. */

import { hasEnded } from '../../../contract/status.ts';
import type { TrainingRun } from '../../../contract/training.ts';
import { cancelTraining, deleteTraining, lastCheckpoint, lastDeployable } from '../../../queries/training.ts';
import type { Service } from '../../../queries/workbench.tsx';
import { listPlace } from '../../../resources/define.ts';
import { type checkpointCommands, trainingCommands } from '../../../resources/training.ts';
import { trajectories } from '../../../resources/trajectories.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { Binding } from '../../keys/router.tsx';
import { DeployWindow } from '../deployments/deploy.tsx';
import { useConfirm } from '../shared/confirm.tsx';
import { namesOf } from '../shared/list-words.ts';
import { EvaluateCheckpointWindow } from './evaluate-checkpoint.tsx';
import { TrainWindow } from './train.tsx';

const labelOf = (run: TrainingRun): string => run.display_name ?? run.training_run_id;

/** The checkpoint to act on: given, or the newest of its run when the action starts. */
export interface CheckpointSource {
  readonly run: TrainingRun;
  readonly checkpointId?: string;
  /** False if the service would refuse to deploy it. */
  readonly isDeployable?: boolean | undefined;
}

/** @throws Error for the user if none can be deployed */
async function deployableOf(service: Service, { run, checkpointId, isDeployable }: CheckpointSource): Promise<string> {
  if (isDeployable === false) throw new Error('The service says that this checkpoint cannot be deployed.');
  return checkpointId ?? (await lastDeployable(service, run.training_run_id));
}

/** Actions on a checkpoint: evaluate, deploy, train. */
export function useCheckpointActions(): (
  source: CheckpointSource | undefined,
  commands: typeof trainingCommands | typeof checkpointCommands,
) => readonly Binding[] {
  const shell = useShell();
  return (source, commands) => {
    const enabled = source !== undefined;
    const resolve = (service: Service): Promise<string> =>
      source?.checkpointId
        ? Promise.resolve(source.checkpointId)
        : lastCheckpoint(service, source?.run.training_run_id ?? '');
    return [
      {
        command: commands.evaluate,
        enabled: enabled && source.run.bench_id != null,
        run: () =>
          source &&
          shell.showOverlay({
            id: 'evaluate',
            render: close => <EvaluateCheckpointWindow run={source.run} checkpoint={resolve} onClose={close} />,
          }),
      },
      {
        command: commands.deploy,
        enabled,
        run: () =>
          source &&
          shell.showOverlay({
            id: 'deploy',
            render: close => (
              <DeployWindow
                name={labelOf(source.run)}
                checkpoint={service => deployableOf(service, source)}
                given={source.isDeployable === false ? undefined : source.checkpointId}
                onClose={close}
              />
            ),
          }),
      },
      {
        command: commands.continue,
        enabled: enabled && source.run.bench_id != null,
        run: () =>
          source?.run.bench_id != null &&
          shell.showOverlay({
            id: 'train',
            render: close => (
              <TrainWindow
                benchId={source.run.bench_id ?? ''}
                label={labelOf(source.run)}
                parent={resolve}
                onClose={close}
              />
            ),
          }),
      },
    ];
  };
}

export interface TrainingActionsOptions {
  /** Called after runs were deleted, e.g. to leave their view. */
  readonly onDeleted?: () => void;
}

export function useTrainingActions({
  onDeleted,
}: TrainingActionsOptions = {}): (runs: readonly TrainingRun[]) => readonly Binding[] {
  const shell = useShell();
  const confirm = useConfirm();
  const checkpointActions = useCheckpointActions();
  return runs => {
    const [run] = runs;
    const running = runs.filter(each => !hasEnded(each.status));
    const ended = runs.filter(each => hasEnded(each.status));
    const names = namesOf(runs.map(labelOf));
    const cancelled = namesOf(running.map(labelOf));
    return [
      ...checkpointActions(run && runs.length === 1 ? { run } : undefined, trainingCommands),
      {
        command: trainingCommands.rollouts,
        enabled: run !== undefined && runs.length === 1,
        run: () => run && shell.open(listPlace(trajectories, { training: run.training_run_id }, labelOf(run))),
      },
      {
        command: trainingCommands.cancel,
        enabled: running.length > 0,
        run: () =>
          confirm({
            title: running.length === 1 ? 'Cancel this training run?' : `Cancel ${running.length} training runs?`,
            question: `${cancelled}: it ends after its step. Its checkpoints and curves are kept.`,
            verb: 'cancel',
            past: 'asked to stop',
            action: cancelTraining,
            rows: running,
            labelOf,
            onDone: () => shell.toast({ kind: 'success', text: `Asked ${cancelled} to stop` }),
          }),
      },
      {
        command: trainingCommands.delete,
        enabled: ended.length > 0 && ended.length === runs.length,
        run: () =>
          confirm({
            title: runs.length === 1 ? 'Delete this training run?' : `Delete ${runs.length} training runs?`,
            question: `${names}: its curves, rollouts and checkpoints are deleted. Its deployments stay. This cannot be undone.`,
            verb: 'delete',
            past: 'deleted',
            action: deleteTraining,
            rows: runs,
            labelOf,
            onDone: () => {
              shell.toast({ kind: 'success', text: `Deleted ${names}` });
              onDeleted?.();
            },
          }),
      },
    ];
  };
}
