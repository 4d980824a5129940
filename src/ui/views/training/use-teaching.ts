/** Reads the teaching signal of a run on screen. */
import { useMemo } from 'react';
import type { TrainerReward } from '../../../contract/training.ts';
import { type StepTeaching, teachingOf, teachingTurn, widenedRange } from '../../../present/teaching.ts';
import type { Attention } from '../../../queries/polling.ts';
import { type ReadStep, stepRewardsQuery, stepsIn, stepsToRead } from '../../../queries/step-rewards.ts';
import { trainingKeys } from '../../../queries/training.ts';
import { isNotOffered } from '../../../service/errors.ts';
import { useLive } from '../../data/use-live.ts';
import { useWorkbench } from '../../data/workbench.tsx';
import type { TeachingSignal } from './teaching-strip.ts';

const none: readonly never[] = [];

/**
 * Nothing is read while it is not `shown`. Some steps are read at first, and a few more with each poll, up to the
 * budget of {@link stepsToRead}.
 */
export function useTeaching(
  runId: string,
  trainer: readonly TrainerReward[],
  attention: Attention,
  shown: boolean,
): TeachingSignal | undefined {
  const { cache, compare } = useWorkbench();
  const steps = useMemo(() => stepsIn(trainer), [trainer]);
  const wanted = useMemo(() => stepsToRead(steps), [steps]);
  const query = stepRewardsQuery(runId, wanted, () => cache.getQueryData(trainingKeys.stepsRead(runId)));
  const { data: read = none, error } = useLive<readonly ReadStep[]>(
    query,
    shown && wanted.length > 0 ? attention : 'hidden',
  );
  const taught = useMemo((): readonly StepTeaching[] => {
    const range = widenedRange(compare.rewardRange, read);
    return read.map(step => teachingOf(step, range));
  }, [read, compare.rewardRange]);
  const turn = useMemo(() => teachingTurn(taught), [taught]);
  if (!shown || steps.length === 0) return undefined;
  const problem = !error
    ? undefined
    : isNotOffered(error)
      ? 'the service lists no rewards by step'
      : 'the rewards of the steps cannot be read';
  return { steps: taught, turn, known: steps.length, problem };
}
