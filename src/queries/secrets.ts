/** Queries and actions for secrets. Queries return their metadata, never their values. */
import type { CreateSecretBody, Secret } from '../contract/secrets.ts';
import { ApiError } from '../service/errors.ts';
import { findOnPages } from '../service/pagination.ts';
import { action } from './action.ts';
import { benchmarkKeys } from './benchmarks.ts';
import type { ListSource } from './lists/list-source.ts';

const secretKeys = { all: ['secrets'], list: ['secrets', 'list'] } as const;

export const secretList: ListSource<Secret> = {
  key: secretKeys.list,
  id: row => row.secret_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.call('listSecrets', { query }, { signal }),
};

/** Creates a secret, or replaces its value. No response or error repeats the value. */
export const createSecret = action(
  async (service, body: CreateSecretBody, options) => (await service.call('createSecret', { body }, options)).secret,
  { touches: [secretKeys.all, benchmarkKeys.all] },
);

export const deleteSecret = action(
  async (service, { secret_id }: Pick<Secret, 'secret_id'>, options) => {
    const answer = await service.call('deleteSecret', { params: { secret_id } }, options);
    if (answer.deleted === false) {
      throw new ApiError('The service reports that it did not revoke the secret.', { code: 'not_ok' });
    }
    return answer;
  },
  {
    touches: [secretKeys.all, benchmarkKeys.all],
    removes: {
      resource: ({ secret_id }) => ({ id: secret_id }),
      // Secrets can only be listed.
      reread: (service, { secret_id }, options) =>
        findOnPages(
          cursor => service.call('listSecrets', { query: { cursor } }, options),
          each => each.secret_id === secret_id,
        ),
    },
  },
);
