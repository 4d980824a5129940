/** Organization secrets: write-only values, readable metadata. */
import type { ListQuery } from '../../contract/common.ts';
import { type CreateSecretBody, secretEndpoints as endpoints } from '../../contract/secrets.ts';
import type { Calls } from '../caller.ts';
import type { CallOptions } from '../options.ts';
import { paginate } from '../pagination.ts';

export function secretResource(caller: Calls) {
  const list = (query: ListQuery = {}, options?: CallOptions) => caller.call(endpoints.listSecrets, { query }, options);
  return {
    /** Creates a secret. The value is sent, and never comes back, not in an error either. */
    create: (body: CreateSecretBody, options?: CallOptions) => caller.call(endpoints.createSecret, { body }, options),
    /** One page of the secrets, without their values. */
    list,
    listAll: (query: ListQuery = {}, options?: CallOptions) => paginate(next => list(next, options), query),
    delete: (secretId: string, options?: CallOptions) =>
      caller.call(endpoints.deleteSecret, { params: { secret_id: secretId } }, options),
  };
}
