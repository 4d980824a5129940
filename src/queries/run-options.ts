/** The options that evaluations and training runs take, in the shape in which the service describes them. */
import { ValidationError } from '../service/errors.ts';
import type { Service } from '../service/index.ts';
import type { LiveQuery } from './use-live.ts';

/** Which runs: each has an operation that lists their options. */
export type OptionsOperation = 'getTrainingOptions' | 'getEvalOptions';

/** What the options are asked for: later generations give them by benchmark, and by base model. */
export interface OptionsChoice {
  readonly benchId: string;
  readonly model?: string | undefined;
}

type Described = Readonly<Record<string, unknown>>;

/**
 * The options that the start of a run takes. A service of the document's generation has the same for every benchmark; where
 * it turns out to want another question, it is asked that.
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
  const { stated, found } = service.generation;
  const isOld = (stated ?? found?.generation) === 'document';
  const [first, second] = isOld ? [{}, { query }] : [{ query }, {}];
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
    key: ['run-options', operation, choice.benchId, choice.model ?? ''],
    activity: () => 'settled',
    read: ({ service, signal }) => readRunOptions(service, operation, choice, signal),
  };
}
