/** The options of evaluations and training runs, as the service describes them. */

import type { EvalRun } from '../contract/evaluations.ts';
import { ValidationError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { LiveQuery } from './live-query.ts';

/** The operations that list options, one per kind of run. */
export type OptionsOperation = 'getTrainingOptions' | 'getEvalOptions';

/** Later generations list options by benchmark and base model. */
interface OptionsChoice {
  readonly benchId: string;
  readonly model?: string | undefined;
}

/** The input for a new evaluation or training run: a model, a checkpoint, or both. */
export interface RunInput {
  readonly bench_id: string;
  readonly model?: string | undefined;
  readonly checkpoint?: string | undefined;
  /** The checkpoint's origin, if known. Not sent, but remembered, because the service may not report it. */
  readonly trained?: Pick<EvalRun, 'training_run_id' | 'step'> | undefined;
  readonly display_name?: string | undefined;
  readonly options?: Readonly<Record<string, unknown>>;
}

type Described = Readonly<Record<string, unknown>>;

/**
 * The options for a new run. In the document, they are the same for every benchmark; later services require the
 * benchmark.
 *
 * @throws ServiceError
 */
export async function readRunOptions(
  service: Service,
  operation: OptionsOperation,
  { benchId, model }: OptionsChoice,
  signal: AbortSignal,
): Promise<Described> {
  const query = { bench_id: benchId, ...(model === undefined ? {} : { base_model_slug: model }) };
  const [first, second] = service.generation.known === 'document' ? [{}, { query }] : [{ query }, {}];
  try {
    return await service.call(operation, first, { signal });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return await service.call(operation, second, { signal }).catch(() => {
      throw error;
    });
  }
}

export function runOptionsQuery(operation: OptionsOperation, choice: OptionsChoice): LiveQuery<Described> {
  return {
    key: ['run-options', operation, choice.benchId, choice.model],
    activity: () => 'settled',
    read: ({ service, signal }) => readRunOptions(service, operation, choice, signal),
  };
}
