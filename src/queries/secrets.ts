/** What the screens ask about secrets: what is known of them, never their values. */
import type { Secret } from '../contract/secrets.ts';
import type { ListSource } from './list.ts';

export const secretKeys = { all: ['secrets'], list: ['secrets', 'list'] } as const;

export const secretList: ListSource<Secret> = {
  key: secretKeys.list,
  id: row => row.secret_id,
  sorts: true,
  readPage: ({ service, query, signal }) => service.call('listSecrets', { query }, { signal }),
};
