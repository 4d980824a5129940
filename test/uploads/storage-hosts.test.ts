import { expect, it } from 'vitest';
import { StorageHosts } from '../../src/uploads/storage-hosts.ts';
import { serviceAt } from '../service/hostile-server.ts';
import { remembered } from './world.ts';

it('names a storage host once per service, and not after a restart if it has accepted a file (X4, A10)', () => {
  const open = remembered();
  const first = open();
  const hosts = new StorageHosts(first);
  expect([hosts.isNew('one.example'), hosts.isNew('one.example'), hosts.isNew('refused.example')]).toEqual([
    true,
    false,
    true,
  ]);
  hosts.remember('one.example');
  first.close();
  const later = new StorageHosts(open());
  expect([later.isNew('one.example'), later.isNew('refused.example')]).toEqual([false, true]);
});

it.each([
  ['https://storage.example/a?s', 'https://service.example', 'storage.example'],
  ['https://service.example:8443/a', 'https://service.example', 'service.example:8443'],
  ['https://Service.Example:443/a', 'https://service.example', undefined],
  ['http://127.0.0.1:9006/a', 'http://127.0.0.1:9005', '127.0.0.1:9006'],
  ['http://127.0.0.1:9005/a', 'http://127.0.0.1:9005', undefined],
  ['nonsense', 'http://127.0.0.1', undefined],
])('%s of the service %s is stored at %s (A10)', (address, baseUrl, host) => {
  expect(serviceAt(baseUrl).service.storageOf(address)).toBe(host);
});
