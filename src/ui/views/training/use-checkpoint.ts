/** The checkpoint that a window is about: known at once, or read when the window opens. */

import { useEffect, useState } from 'react';
import { asError } from '../../../base/errors.ts';
import type { Checkpoint } from '../../../contract/training.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useWorkbench } from '../../data/workbench.tsx';

export type CheckpointState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'known'; readonly checkpoint: Checkpoint | undefined }
  | { readonly kind: 'failed'; readonly error: Error };

/** Finds a checkpoint; undefined if the user is to choose it. */
export type FindCheckpoint = (service: Service) => Promise<Checkpoint | undefined>;

/** `find` is called once. */
export function useCheckpoint(find: FindCheckpoint): CheckpointState {
  const workbench = useWorkbench();
  const [state, setState] = useState<CheckpointState>({ kind: 'asking' });
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
        checkpoint => report({ kind: 'known', checkpoint }),
        (error: unknown) => report({ kind: 'failed', error: asError(error) }),
      );
    return () => {
      gone = true;
    };
  }, [workbench]);
  return state;
}
