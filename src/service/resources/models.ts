/** Models that can be trained. */
import { modelEndpoints as endpoints } from '../../contract/models.ts';
import type { Calls } from '../caller.ts';
import type { CallOptions } from '../options.ts';

export function modelResource(caller: Calls) {
  return {
    listSupportedTrainingModels: (options?: CallOptions) =>
      caller.call(endpoints.listSupportedTrainingModels, {}, options),
  };
}
