/** Several writes that one confirmation sends: each has its own outcome, and trying again sends only those that are left. */
import { useState } from 'react';
import type { Service } from '../service/index.ts';
import { type Fault, failsAll, faultOf } from './fault.ts';
import type { Subject } from './statuses/observe.ts';
import { type ActionState, useAction } from './use-action.ts';
import { useWorkbench } from './workbench.tsx';

export interface Write {
  /** What it is done to, for the report. */
  readonly label: string;
  readonly send: (service: Service, signal: AbortSignal) => Promise<unknown>;
  /** What is gone once it has succeeded. */
  readonly removes?: Subject;
  /** Id of the row that is gone then, of what has no status. */
  readonly removesRow?: string;
}

export interface WriteFailure {
  readonly label: string;
  /** Undefined where it was not sent, because one before it failed in a way that all would. */
  readonly fault: Fault | undefined;
}

export interface WriteReport {
  /** The writes that have not succeeded, in their order. */
  readonly left: readonly Write[];
  /** Why, for each of `left`. */
  readonly failures: readonly WriteFailure[];
}

export interface SendWritesOptions {
  readonly signal: AbortSignal;
  /** They delete: one that the service does not know any more is done. */
  readonly deletes?: boolean | undefined;
  /** Called after each that has succeeded, with the number of those so far. */
  readonly onSuccess?: ((write: Write, done: number) => void) | undefined;
}

const atOnce = 4;

/** Sends writes, some at once. Never rejects: what failed is in the report. */
export async function sendWrites(
  service: Service,
  writes: readonly Write[],
  { signal, deletes = false, onSuccess }: SendWritesOptions,
): Promise<WriteReport> {
  const outcomes: ({ readonly ok: true } | { readonly ok: false; readonly fault: Fault } | undefined)[] = [];
  let next = 0;
  let done = 0;
  let stopped = false;
  const sendNext = async (): Promise<void> => {
    while (!stopped && !signal.aborted) {
      const index = next;
      next += 1;
      const write = writes[index];
      if (!write) return;
      try {
        await write.send(service, signal);
        outcomes[index] = { ok: true };
      } catch (error) {
        if (deletes && faultOf(error).gone) outcomes[index] = { ok: true };
        else {
          outcomes[index] = { ok: false, fault: faultOf(error) };
          stopped ||= failsAll(error);
        }
      }
      if (outcomes[index]?.ok) {
        done += 1;
        onSuccess?.(write, done);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, writes.length) }, sendNext));
  const left = writes.map((write, index) => ({ write, outcome: outcomes[index] })).filter(each => !each.outcome?.ok);
  return {
    left: left.map(({ write }) => write),
    failures: left.map(({ write: { label }, outcome }) => ({
      label,
      fault: outcome?.ok === false ? outcome.fault : undefined,
    })),
  };
}

export interface Writes {
  readonly state: ActionState<WriteReport>;
  /** How many have succeeded, of all that were given. */
  readonly done: number;
  /** Those that have not. */
  readonly left: readonly Write[];
  /** Sends what is left. True once nothing is. Never rejects. */
  readonly start: () => Promise<boolean>;
  readonly stop: () => void;
}

/** Writes that are sent when the user says so. `writes` are those of the first drawing. */
export function useWrites(
  writes: readonly Write[],
  touches: readonly (readonly unknown[])[],
  options: Pick<SendWritesOptions, 'deletes'> = {},
): Writes {
  const workbench = useWorkbench();
  const { state, start, stop } = useAction<WriteReport>();
  const [all] = useState(writes);
  const [left, setLeft] = useState(all);
  const [progress, setProgress] = useState(0);
  const onSuccess = ({ removes, removesRow }: Write, done: number): void => {
    setProgress(done);
    if (removes) workbench.deleted(removes, touches);
    if (removesRow !== undefined) for (const under of touches) workbench.lists.remove(under, [removesRow]);
  };
  const send = async (): Promise<boolean> => {
    setProgress(0);
    const report = await start(
      (service, signal) => sendWrites(service, left, { signal, onSuccess, ...options }),
      touches,
    );
    if (!report) return false;
    setLeft(report.left);
    setProgress(0);
    return report.left.length === 0;
  };
  return { state, done: all.length - left.length + progress, left, start: send, stop };
}
