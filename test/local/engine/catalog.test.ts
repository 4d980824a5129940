/** Which models answer chats. */
import { expect, it } from 'vitest';
import { Catalog } from '../../../src/local/engine/catalog.ts';

it('lists deployments that are up, even if a newer one has failed (attack26 C5)', () => {
  const row = (deployment_id: string, status: string) => ({
    deployment_id,
    status,
    checkpoint_step: 5,
    run_name: null,
  });
  const inactive = [row('dep_1', 'DEPLOYED'), row('dep_2', 'FAILED')];
  const deployments = { serving: () => undefined, inactive: () => inactive } as never;
  const catalog = new Catalog(deployments, undefined as never, undefined);
  const words = 'none of its deployments is active; promote one, or chat with it under its id: dep_1 (step 5)';
  expect(() => catalog.forChat('org', 'm')).toThrow(words);
});
