/** The checkpoint of a window: known immediately, or read when the window opens. */

import { useEffect, useState } from 'react';
import { asError } from '../../../base/errors.ts';
import type { Service } from '../../../workbench/workbench.ts';
import { useWorkbench } from '../../data/workbench.tsx';

export type CheckpointState =
  | { readonly kind: 'asking' }
  | { readonly kind: 'known'; readonly id: string }
  | { readonly kind: 'failed'; readonly error: Error };

/** `find` is called once. */
export function useCheckpoint(find: (service: Service) => Promise<string>): CheckpointState {
  const workbench = useWorkbench();
  const [state, setState] = useState<CheckpointState>({ kind: 'asking' });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the checkpoint of a window never changes
  useEffect(() => {
    let gone = false;
    const report = (next: CheckpointState): void => {
      if (!gone) setState(next);
    };
    workbench
      .service()
      .then(find)
      .then(
        id => report({ kind: 'known', id }),
        (error: unknown) => report({ kind: 'failed', error: asError(error) }),
      );
    return () => {
      gone = true;
    };
  }, [workbench]);
  return state;
}
