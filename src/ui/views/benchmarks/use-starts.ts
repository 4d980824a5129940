/** Sends the start requests for a form's runs: one, or one for each model and seed. */
import type { Benchmark } from '../../../contract/benchmarks.ts';
import { type Action, action, sendAll } from '../../../queries/action.ts';
import type { RunInput } from '../../../queries/run-options.ts';
import { describeWrongStart, type RunStart } from '../../../resources/action.ts';
import { resourceOfKind } from '../../../resources/catalogue.ts';
import { idOf, labelOf, pluralName, recordPlace } from '../../../resources/define.ts';
import { isUnanswered, ServiceError } from '../../../service/errors.ts';
import { groupOf } from '../../../store/start-keys.ts';
import { clean } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import { useWorkbench } from '../../data/workbench.tsx';

/** The error if not all runs could be started. */
function partialError(
  done: number,
  failed: readonly { readonly input: RunInput; readonly error: Error | undefined }[],
): Error {
  const error = failed.find(each => isUnanswered(each.error))?.error ?? failed.find(each => each.error)?.error;
  if (done + failed.length === 1 && error) return error;
  const left = failed.map(({ input }) => input.display_name ?? '').join(', ');
  const words = clean`Started ${done} of ${done + failed.length} runs. Sending again starts only the others: ${left}.`;
  const message = error ? `${words} ${error.message}` : words;
  return error instanceof ServiceError ? new ServiceError(error.kind, message, error) : new Error(message);
}

interface StartedRuns {
  /** The responses to the start requests that were sent. */
  readonly runs: readonly object[];
  /** How many were not sent, because they had started earlier. */
  readonly earlier: number;
}

/**
 * Sends several start requests as one action. Until all have succeeded, a retry skips the successful ones, even from
 * another window or command.
 */
export function useStarts({ send, kind }: RunStart): {
  readonly action: Action<readonly RunInput[], StartedRuns>;
  /** The inputs whose runs have not started yet. */
  readonly left: (inputs: readonly RunInput[]) => readonly RunInput[];
  /** When one of the inputs was last sent without a known outcome, in epoch milliseconds. */
  readonly sentBefore: (inputs: readonly RunInput[]) => number | undefined;
} {
  const workbench = useWorkbench();
  const { remembered } = workbench;
  const { startKeys: keys } = remembered;
  const { keyed = kind } = send;
  const left = (inputs: readonly RunInput[]): readonly RunInput[] => {
    if (inputs.length === 1) return inputs;
    const group = groupOf(inputs.map(input => ({ input })));
    return inputs.filter(input => keys.startOf(keyed, { input }, group) === undefined);
  };
  return {
    left,
    action: action(
      async (service, inputs, { signal = new AbortController().signal } = {}) => {
        const unsent = left(inputs);
        const runs: object[] = [];
        const onSuccess = (input: RunInput, _done: number, answer: unknown): void => {
          runs.push(answer as object);
          if (send.starts) workbench.records.started(send.starts(answer as object, input));
        };
        const together = inputs.length === 1 ? [] : inputs.map(input => ({ input }));
        keys.awaitStarts(keyed, together);
        const failed = await sendAll(service, send, unsent, { signal, keys, onSuccess });
        if (failed.length > 0) throw partialError(inputs.length - failed.length, failed);
        keys.forgetStarts(keyed, together);
        return { runs, earlier: inputs.length - unsent.length };
      },
      { touches: send.touches },
    ),
    sentBefore: inputs =>
      left(inputs)
        .map(input => keys.earlier(keyed, input)?.sentAt)
        .find(at => at !== undefined),
  };
}

/** Returns a function that reports the started runs, and opens the run, or the list of several. */
export function useOpenStarted({ kind }: RunStart, benchmark: Benchmark, isOnOne: boolean) {
  const shell = useShell();
  const resource = resourceOfKind(kind);
  const { bench_id } = benchmark;
  return ({ runs, earlier }: StartedRuns): void => {
    const [run = {}] = runs;
    const count = runs.length + earlier;
    if (!resource) return;
    if (count > 1) {
      const before = earlier === 0 ? '' : `, ${earlier} of them earlier`;
      shell.toast({ kind: 'success', text: `Started ${count} ${pluralName(resource)}${before}` });
      const scope = isOnOne && { scope: { benchmark: bench_id }, label: benchmark.label ?? bench_id };
      shell.open({ view: 'list', resource: resource.names[0], ...scope });
      return;
    }
    const otherwise = describeWrongStart(run, { bench_id });
    const text = `Started ${labelOf(resource, run)}`;
    shell.toast(otherwise === undefined ? { kind: 'success', text } : { kind: 'warning', text: otherwise });
    const place = recordPlace(resource, idOf(resource, run), resource.label?.(run));
    shell.open({ ...place, ...(otherwise === undefined && { parent: bench_id }) });
  };
}
