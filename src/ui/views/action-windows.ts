/** The windows that actions open, under the names that `resources` uses. */
import type { FunctionComponent } from 'react';
import type { ActionWindow } from '../../resources/action.ts';
import { lazyWindow } from '../app/lazy.tsx';
import type { ActionWindowProps } from '../windows/choice-window.tsx';

export const actionWindows: Readonly<Record<ActionWindow, FunctionComponent<ActionWindowProps<never>>>> = {
  compare: lazyWindow(async () => (await import('./runs/compare-window.tsx')).CompareWindow),
  complete: lazyWindow(async () => (await import('./trajectories/reward-windows.tsx')).CompleteWindow),
  continue: lazyWindow(async () => (await import('./training/checkpoint-windows.tsx')).ContinueWindow),
  deploy: lazyWindow(async () => (await import('./training/checkpoint-windows.tsx')).DeployCheckpointWindow),
  evaluate: lazyWindow(async () => (await import('./benchmarks/start-run.tsx')).EvaluateWindow),
  'evaluate checkpoint': lazyWindow(
    async () => (await import('./training/checkpoint-windows.tsx')).EvaluateCheckpointWindow,
  ),
  promote: lazyWindow(async () => (await import('./deployments/promote.tsx')).PromoteWindow),
  'replace secret': lazyWindow(async () => (await import('./secret-windows.tsx')).ReplaceSecretWindow),
  reward: lazyWindow(async () => (await import('./trajectories/reward-windows.tsx')).LogRewardWindow),
  secret: lazyWindow(async () => (await import('./secret-windows.tsx')).MissingSecretWindow),
  train: lazyWindow(async () => (await import('./benchmarks/start-run.tsx')).TrainWindow),
};
