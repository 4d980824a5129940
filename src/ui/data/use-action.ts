/**
 * Actions that the user starts on screen: each one is sent once, reported once, and never repeated automatically. Does
 * not use `useMutation`: its state may arrive after the next key of the same read, and its cache keeps inputs such as
 * secret values.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { asError } from '../../base/errors.ts';
import { type Action, type FailedInput, sendAll, sendKeyed, unlessStopped } from '../../queries/action.ts';
import type { QueryContext } from '../../queries/query-context.ts';
import type { Service } from '../../service/index.ts';
import type { RequestPreview } from '../../service/request.ts';
import { useOnce } from './use-once.ts';
import { useWorkbench } from './workbench.tsx';

type WorkState<Result> =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly stopping: boolean }
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly error: Error };

interface Work<Result> {
  readonly state: WorkState<Result>;
  /**
   * Returns undefined if it failed or is already running. Never rejects.
   *
   * @param check called first; if it returns a reason, the work fails with it
   */
  readonly start: (
    work: (service: Service, signal: AbortSignal) => Promise<Result>,
    touches: Action<never>['touches'],
    check: ((context: QueryContext) => Promise<string | undefined> | undefined) | undefined,
  ) => Promise<Result | undefined>;
  /** Aborts the running action. It ends as failed, and the error reports whether it may have taken effect. */
  readonly stop: () => void;
}

function useWork<Result>(): Work<Result> {
  const workbench = useWorkbench();
  const [state, setState] = useState<WorkState<Result>>({ kind: 'idle' });
  // A ref, because two presses may precede the next render.
  const running = useRef<AbortController>(undefined);
  const start = useCallback<Work<Result>['start']>(
    async (work, touches, check) => {
      if (running.current) return undefined;
      const controller = new AbortController();
      running.current = controller;
      setState({ kind: 'running', stopping: false });
      try {
        const { signal } = controller;
        const service = await unlessStopped(workbench.service(), signal);
        const objection = await unlessStopped(Promise.resolve(check?.(workbench.contextFor(service, signal))), signal);
        if (objection !== undefined) throw new Error(objection);
        const result = await work(service, signal);
        setState({ kind: 'done', result });
        return result;
      } catch (error) {
        setState({ kind: 'failed', error: asError(error) });
        return undefined;
      } finally {
        running.current = undefined;
        // A write that failed may still have taken effect if its response was lost.
        for (const key of touches) void workbench.cache.invalidateQueries({ queryKey: key });
      }
    },
    [workbench],
  );
  const stop = useCallback(() => {
    if (!running.current || running.current.signal.aborted) return;
    setState({ kind: 'running', stopping: true });
    running.current.abort();
  }, []);
  return { state, start, stop };
}

interface StartedAction<Input, Result> extends Pick<Work<Result>, 'state' | 'stop'> {
  /**
   * Sends the action, then refreshes the queries it touches. Returns undefined if it failed, is already running, or the
   * component has unmounted. Never rejects.
   */
  readonly start: (input: Input) => Promise<Result | undefined>;
  /** When the same input was last sent without a known outcome, in epoch milliseconds. */
  readonly startedBefore: (input: Input) => number | undefined;
}

/** Called before the first request. Returns the reason if nothing may be sent. */
export type CheckInput<Input> = (input: Input, context: QueryContext) => Promise<string | undefined>;

export function useAction<Input, Result>(
  action: Action<Input, Result>,
  check?: CheckInput<Input>,
): StartedAction<Input, Result> {
  const workbench = useWorkbench();
  const { state, start, stop } = useWork<Result>();
  const mounted = useRef(true);
  useEffect(
    () => () => {
      mounted.current = false;
    },
    [],
  );
  const send = async (input: Input): Promise<Result | undefined> => {
    const work = async (service: Service, signal: AbortSignal): Promise<Result> => {
      const sent = await sendKeyed(service, action, input, { signal, keys: workbench.remembered.startKeys });
      if (action.starts) workbench.records.started(action.starts(sent, input));
      return sent;
    };
    const result = await start(work, action.touches, context => check?.(input, context));
    return mounted.current ? result : undefined;
  };
  const startedBefore = (input: Input): number | undefined =>
    action.keyed === undefined ? undefined : workbench.remembered.startKeys.earlier(action.keyed, input)?.sentAt;
  return { state, start: send, stop, startedBefore };
}

export interface RepeatedAction<Input> extends Pick<Work<readonly FailedInput<Input>[]>, 'state' | 'stop'> {
  readonly done: number;
  readonly answers: ReadonlyMap<Input, unknown>;
  readonly left: readonly Input[];
  /** Sends the remaining inputs. Returns true once none is left. Never rejects. */
  readonly start: () => Promise<boolean>;
}

/** Like {@link CheckInput}, with the remaining inputs. */
export type CheckInputs<Input> = CheckInput<readonly Input[]>;

/** Sends an action once for each input after a confirmation. Only the first render's `inputs` count. */
export function useActionForEach<Input>(
  action: Action<Input>,
  inputs: readonly Input[],
  check?: CheckInputs<Input>,
): RepeatedAction<Input> {
  const workbench = useWorkbench();
  const { state, start, stop } = useWork<readonly FailedInput<Input>[]>();
  const [all] = useState(inputs);
  const [left, setLeft] = useState(all);
  const [answers] = useState(() => new Map<Input, unknown>());
  const [progress, setProgress] = useState(0);
  const onSuccess = (input: Input, done: number, answer: unknown): void => {
    answers.set(input, answer);
    setProgress(done);
    const removed = action.removes?.resource(input, answer);
    if (removed) workbench.records.deleted(removed, action.touches);
  };
  const send = async (): Promise<boolean> => {
    const { startKeys: keys } = workbench.remembered;
    const unsent = await start(
      (service, signal) => sendAll(service, action, left, { signal, keys, onSuccess }),
      action.touches,
      context => check?.(left, context),
    );
    if (!unsent) return false;
    setLeft(unsent.map(({ input }) => input));
    setProgress(0);
    return unsent.length === 0;
  };
  return { state, done: all.length - left.length + progress, answers, left, start: send, stop };
}

export type { RequestPreview };

export type Requests =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'known'; readonly requests: readonly RequestPreview[] }
  | { readonly kind: 'failed'; readonly error: Error };

const connecting: Requests = { kind: 'connecting' };

/**
 * The requests that `work` would send; undefined if there is none. Needs a connection, because field names differ
 * between services.
 */
export function useRequests(work: ((service: Service) => unknown) | undefined): Requests | undefined {
  const { data: service, error } = useOnce(work && (async connected => connected));
  if (!work) return undefined;
  if (error) return { kind: 'failed', error };
  return service ? { kind: 'known', requests: service.describe(work) } : connecting;
}
