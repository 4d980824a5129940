/** What the failures of an upload mean: whether its id is known, and whether the benchmark was ingested. */
import { isGone, ServiceError } from '../../service/errors.ts';

/** The service took this benchmark in before, from something else than what the folder holds now. */
export class IngestedDifferently extends Error {
  override readonly name = 'IngestedDifferently';

  constructor(benchId: string) {
    super(
      `${benchId} was ingested already, from something else than what the folder holds now. It was not changed. Upload the folder as a new benchmark to have both.`,
    );
  }
}

/** The service does not know the id under which files were sent: they are gone. */
export class ForgottenUpload extends Error {
  override readonly name = 'ForgottenUpload';
}

/** The service itself says so, and not a gateway in front of it. */
export const isUnknown = (error: unknown): boolean => isGone(error);

/** The contract says that an ingested id is rejected, and not by which code. */
export const isIngested = (error: unknown): boolean =>
  error instanceof ServiceError &&
  (error.code === 'benchmark_already_ingested' || (error.kind === 'conflict' && /ingested/i.test(error.message)));

/** Whether a failed ingest may have been carried out. */
export function mayHaveHappened(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.outcomeUnknown || (error.status ?? 0) >= 500;
}
