import { expect, it } from 'vitest';
import { StorageHosts } from '../../../src/queries/uploads/storage-hosts.ts';
import { remembered } from './world.ts';

it('names a storage host once for a service, also after a new start (X4)', () => {
  const open = remembered();
  const at = (host: string) => ({ url: `https://${host}/bucket/a?signature` });
  const first = open();
  const hosts = new StorageHosts(first);
  expect(hosts.newIn([at('one.example'), at('one.example'), at('service.example')], 'https://service.example')).toEqual(
    ['one.example'],
  );
  expect(hosts.newIn([at('one.example')], 'https://service.example')).toEqual([]);
  first.close();
  const later = new StorageHosts(open());
  expect(later.newIn([at('one.example'), at('two.example')], 'https://service.example')).toEqual(['two.example']);
});
