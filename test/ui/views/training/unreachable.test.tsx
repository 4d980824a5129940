/** A training run whose service is down shows its last known status. */
import { expect, it } from 'vitest';
import { NetworkError } from '../../../../src/service/errors.ts';
import { openWorld, world } from '../../program/scripted-world.tsx';

it('says that the service is unreachable, and shows the last known status with its age (B8)', async () => {
  const service = world('none');
  const down = () => {
    throw new NetworkError('connection refused');
  };
  Object.assign(service.answers, { getTrainingRun: down, getTrainingProgress: down });
  const screen = openWorld(service, { view: 'list', resource: 'benchmarks' }, { columns: 120, rows: 40 });
  const at = Date.now() - 3 * 60_000;
  const run = { kind: 'training', id: 'trn_9', label: 'words', status: 'running' };
  screen.workbench.statuses.report([run], { askedAt: at, at });
  await screen.type(':trn_9\r');
  await screen.waitFor(text => /The service cannot be reached; last status: running,.*read 3m ago/s.test(text));
  expect(screen.text()).not.toMatch(/reports no status|not reported/);
});
