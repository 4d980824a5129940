/** Reads the teaching signal for a run on screen. */
import { hashKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { TrainerCurve } from '../../../contract/trainer-curve.ts';
import { type StepTeaching, teachingOf, teachingTurn, widenedRange } from '../../../present/teaching.ts';
import type { Attention } from '../../../queries/polling.ts';
import { type ReadStep, stepRewardsQuery, stepsIn, stepsToRead } from '../../../queries/step-rewards.ts';
import { trainingKeys } from '../../../queries/training.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { TeachingSignal } from './teaching-strip.ts';

const none: readonly never[] = [];

/** Reads the rollouts in some steps at first, and in a few more with each poll, up to {@link maxStepsRead}. */
export function useStepsRead(runId: string, trainer: TrainerCurve, attention: Attention) {
  const { cache, compare } = useWorkbench();
  const steps = stepsIn(trainer);
  const wanted = useMemo(() => stepsToRead(steps), [steps]);
  const query = stepRewardsQuery(runId, wanted, () => cache.getQueryData(trainingKeys.stepsRead(runId)));
  const live = useLive<readonly ReadStep[]>(query, wanted.length > 0 ? attention : 'hidden');
  const read = live.data ?? none;
  return { read, known: steps.length, range: compare.rewardRange, isReading: read.length < wanted.length, live };
}

/** A run's teaching signal, if the service lists rewards by step. Reads nothing unless `shown`. */
export function useTeaching(
  runId: string,
  trainer: TrainerCurve,
  attention: Attention,
  shown: boolean,
): TeachingSignal | undefined {
  const { failed } = useWorkbench();
  const { read, known, range, live } = useStepsRead(runId, trainer, shown ? attention : 'hidden');
  const taught = useMemo((): readonly StepTeaching[] => {
    const widened = widenedRange(range, read);
    return read.map(step => teachingOf(step, widened));
  }, [read, range]);
  const turn = useMemo(() => teachingTurn(taught), [taught]);
  // Without the last error, the strip would disappear on each attempt, and move the chart above it by a line.
  const error = live.error ?? (live.data ? undefined : failed.lastError(hashKey(trainingKeys.stepsRead(runId))));
  if (!shown || known === 0 || (!live.data && isNotOffered(error))) return undefined;
  const problem = error ? 'the rewards for the steps could not be read' : undefined;
  return { steps: taught, turn, known, problem };
}
