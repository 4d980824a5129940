/** The problems that keep a benchmark from launching, and how to fix them. */

import { errorMessage } from '../base/errors.ts';
import { isNotOffered } from '../service/errors.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import type { CommandContext } from './with-service.ts';

/** Whether a shell takes the name as one word without quotes. */
const isPlain = (name: string): boolean => /^\w[\w.-]*$/.test(name);

/** E.g. `The secret ATLAS_KEY is missing. Create it: benchtop secret set ATLAS_KEY`. */
function missingSecretAdvice(name: string): string {
  const shown = sanitiseLine(name);
  return `The secret ${shown} is missing. Create it: benchtop secret set ${isPlain(name) ? name : 'NAME'}`;
}

export interface MissingSecrets {
  readonly names: readonly string[];
  /** One sentence per problem. */
  readonly notes: readonly string[];
}

/**
 * The secrets that a benchmark requires and the organization does not have, with a note if they cannot be read. Never
 * rejects: after an abort it returns none, so that the command can still finish its own work.
 */
export async function missingSecrets(
  benchId: string,
  { service, signal }: Pick<CommandContext, 'service' | 'signal'>,
): Promise<MissingSecrets> {
  try {
    const readiness = await service.call('getBenchmarkReadiness', { params: { bench_id: benchId } }, { signal });
    const names = readiness.missing_secret_names ?? [];
    return { names, notes: names.map(missingSecretAdvice) };
  } catch (error) {
    if (signal.aborted || isNotOffered(error)) return { names: [], notes: [] };
    return { names: [], notes: [`Its readiness could not be read. ${errorMessage(error)}`] };
  }
}
