/** A name that may be a deployment is looked up once; an aborted look-up says nothing about the name. */
import { expect, it } from 'vitest';
import { chatRoute } from '../../src/chat/route.ts';
import { notFound, scriptedService } from '../queries/scripted-service.ts';

const remembering = (find: () => unknown, list: () => unknown = () => []) => ({ seen: { find, list } }) as never;
const memory = remembering(() => undefined);

it('looks a name up again after a cancelled look-up', async () => {
  const { service, asked } = scriptedService({ getDeployment: ({ deployment_id = '' }) => notFound(deployment_id) });
  await expect(chatRoute(service, memory, 'dep_1', AbortSignal.abort())).rejects.toThrow();
  const { signal } = new AbortController();
  await expect(chatRoute(service, memory, 'dep_1', signal)).resolves.toEqual({ model: 'dep_1' });
  await expect(chatRoute(service, memory, 'dep_1', signal)).resolves.toEqual({ model: 'dep_1' });
  expect(asked('getDeployment')).toBe(2);
});

it('looks up no name that cannot be a deployment’s', async () => {
  const { service, requests } = scriptedService({});
  const { signal } = new AbortController();
  await expect(chatRoute(service, memory, 'words', signal)).resolves.toEqual({ model: 'words' });
  await expect(chatRoute(service, memory, 'acme/words', signal, true)).resolves.toEqual({ model: 'acme/words' });
  expect(requests).toEqual([]);
});

it('looks up a name that may be an id, unless a deployment has been seen with that slug', async () => {
  const { service, asked } = scriptedService({ getDeployment: ({ deployment_id = '' }) => notFound(deployment_id) });
  const { signal } = new AbortController();
  const seen = (label: string) =>
    remembering(
      () => undefined,
      () => [{ label }],
    );
  await chatRoute(service, seen('tutor'), 'tutor', signal, true);
  expect(asked('getDeployment')).toBe(0);
  await chatRoute(service, seen('another'), 'tutor', signal, true);
  expect(asked('getDeployment')).toBe(1);
});

it('does not use what it remembers of a deployment that is gone', async () => {
  const { service } = scriptedService({ getDeployment: ({ deployment_id = '' }) => notFound(deployment_id) });
  const record = { deployment_id: 'dep_1', model_slug: 'tutor', is_active: true };
  const seen = remembering(() => ({ record }));
  const { signal } = new AbortController();
  await expect(chatRoute(service, seen, 'dep_1', signal)).resolves.toEqual({ model: 'dep_1' });
});

it('does not use what serves the slug now if the deployment cannot be read (B5)', async () => {
  const failure = new Error('it is down');
  const { service } = scriptedService({
    getDeployment: () => {
      throw failure;
    },
  });
  const on = { ...service, generation: { current: 'document' } } as typeof service;
  const record = { deployment_id: 'dep_1', model_slug: 'tutor', is_active: true };
  const seen = (more: object) => remembering(() => ({ record: { ...record, ...more } }));
  const { signal } = new AbortController();
  await expect(chatRoute(on, seen({}), 'dep_1', signal)).rejects.toBe(failure);
  const at = 'https://own.example/dep_1';
  const addressed = seen({ playground_endpoint_url: at });
  await expect(chatRoute(on, addressed, 'dep_1', signal)).resolves.toEqual({ model: 'tutor', at });
});
