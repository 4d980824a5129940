/** Sends the runs that a form starts: one, or one for each model and seed. */
import { useState } from 'react';
import { orderedJson } from '../../../base/ordered-json.ts';
import { type Action, action, sendAll } from '../../../queries/action.ts';
import type { RunInput } from '../../../queries/run-options.ts';
import type { RunStart } from '../../../resources/action.ts';
import { isUnanswered, ServiceError } from '../../../service/errors.ts';
import { clean } from '../../../text/sanitise.ts';
import { useWorkbench } from '../../data/workbench.tsx';

/** The failure of some of several starts, with what has started. */
function partly(
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

/** Starts that are sent as one action. What has started is not sent again, so that the rest can be. */
export function useStarts({ send }: RunStart): {
  readonly action: Action<readonly RunInput[], readonly object[]>;
  /** When one of the inputs was last sent with an unknown outcome, in epoch milliseconds. */
  readonly sentBefore: (inputs: readonly RunInput[]) => number | undefined;
} {
  const workbench = useWorkbench();
  const { startKeys: keys } = workbench.remembered;
  const [started] = useState(() => new Map<string, object>());
  const left = (inputs: readonly RunInput[]): RunInput[] => inputs.filter(input => !started.has(orderedJson(input)));
  const onSuccess = (input: RunInput, _done: number, answer: unknown): void => {
    started.set(orderedJson(input), answer as object);
    if (send.starts) workbench.started(send.starts(answer as object, input));
  };
  return {
    action: action(
      async (service, inputs, { signal = new AbortController().signal } = {}) => {
        const failed = await sendAll(service, send, left(inputs), { signal, keys, onSuccess });
        if (failed.length > 0) throw partly(inputs.length - failed.length, failed);
        return inputs.flatMap(input => started.get(orderedJson(input)) ?? []);
      },
      { touches: send.touches },
    ),
    sentBefore: inputs =>
      left(inputs)
        .map(input => keys.earlier(send.keyed ?? '', input)?.sentAt)
        .find(at => at !== undefined),
  };
}
