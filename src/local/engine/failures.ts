/** Job failures, in the contract's form. */
import { errorCode, errorMessage, isDiskFull } from '../../base/errors.ts';
import { own } from '../../base/own-property.ts';
import type { Failure } from '../store/records.ts';

/** Failure codes and their types. Any other code is an `api_error`. */
const types: Readonly<Record<string, Failure['type']>> = {
  weights_missing: 'dependency_error',
  weights_corrupt: 'dependency_error',
  model_not_found: 'dependency_error',
  probe_failed: 'dependency_error',
  upstream_failed: 'dependency_error',
  no_train_tasks: 'invalid_request_error',
  training_diverged: 'invalid_request_error',
  no_rollout_scored: 'api_error',
  worker_failed: 'api_error',
};

/** An error's code, if it is listed here. */
export function failureCodeOf(error: unknown): string {
  if (isDiskFull(error)) return 'disk_full';
  const code = errorCode(error);
  return code !== undefined && Object.hasOwn(types, code) ? code : 'internal_error';
}

export function failureOf(
  error: unknown,
  context: Readonly<Record<string, unknown>>,
  code: string = failureCodeOf(error),
): Failure {
  const isFull = code === 'disk_full';
  const message = isFull ? 'The disk of this machine is full; free some space and start again.' : errorMessage(error);
  return { type: own(types, code) ?? 'api_error', code, message, context };
}
