/** The checkpoint that a window is about: known at once, or read when the window opens. */

import { useEffect, useState } from 'react';
import { asError } from '../../../base/errors.ts';
import type { Checkpoint } from '../../../contract/training.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** Finds a checkpoint; undefined if the user must choose it. */
export type FindCheckpoint = (service: Service) => Promise<Checkpoint | undefined>;

interface CheckpointState {
  readonly found?: { readonly checkpoint: Checkpoint | undefined };
  readonly error?: Error;
}

const findNone: FindCheckpoint = async () => undefined;

/** `find` is called once. */
export function useCheckpoint(find = findNone): CheckpointState {
  const workbench = useWorkbench();
  const [state, setState] = useState<CheckpointState>({});
  // biome-ignore lint/correctness/useExhaustiveDependencies: a window's checkpoint never changes
  useEffect(() => {
    let gone = false;
    const report = (next: CheckpointState): void => {
      if (!gone) setState(next);
    };
    workbench
      .service()
      .then(find)
      .then(
        checkpoint => report({ found: { checkpoint } }),
        (error: unknown) => report({ error: asError(error) }),
      );
    return () => {
      gone = true;
    };
  }, [workbench]);
  return state;
}
