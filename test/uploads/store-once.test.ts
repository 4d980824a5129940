/** Trajectories from outside a file are stored once, unless the user asks for more. */
import { expect, it } from 'vitest';
import type { Service } from '../../src/service/index.ts';
import { tablesInMemory } from '../../src/store/tables.ts';
import { TrajectoryRecords } from '../../src/store/trajectory-records.ts';
import { storeOnce } from '../../src/uploads/store-once.ts';
import { fakeService } from '../service/fake-service.ts';

/** A service that stores all but `bad`. */
function storing(parts: Partial<Service> = {}) {
  const sent: unknown[][] = [];
  const service = fakeService(
    {
      uploadTrajectories: ({ body }) => {
        sent.push(body.trajectories.map(({ trace_id }) => trace_id));
        const status = (id: unknown): string => (id === 'bad' ? 'error' : 'uploaded');
        return {
          trajectories: body.trajectories.map(({ trace_id }, request_index) => ({
            request_index,
            status: status(trace_id),
            ...(trace_id === 'bad' && { failure: { message: 'No.' } }),
          })),
        };
      },
    },
    { skipsStored: () => false, ...parts },
  );
  return { service, sent };
}

const inputOf = (...ids: readonly string[]) => ({ dataset: 'd', trajectories: ids.map(trace_id => ({ trace_id })) });

it('refuses what was sent before, even by another window, names what only another key has sent, and records no refused lines', async () => {
  const records = new TrajectoryRecords(tablesInMemory('test'));
  const { service, sent } = storing();
  await storeOnce(records, 'again')(service, inputOf('a', 'bad'));
  const window = storeOnce(records, 'press enter again');
  await expect(window(service, inputOf('a'))).rejects.toThrow(
    /^Already sent to d \(.*\): nothing was sent now.* press enter again\.$/,
  );
  await expect(window(service, inputOf('a'))).resolves.toBeDefined();
  await window(service, inputOf('bad', 'b'));
  await expect(window(service, inputOf('a'))).rejects.toThrow('Already sent to d (');
  await window({ ...service, accountOf: async () => 'one' }, inputOf('c'));
  const other = { ...service, accountOf: async () => 'other' };
  await expect(window(other, inputOf('c'))).rejects.toThrow(/^Already sent to d \(.*\) with another API key: .*again/);
  await window(other, inputOf('c'));
  expect(sent).toEqual([['a', 'bad'], ['a'], ['bad', 'b'], ['c'], ['c']]);
});

it('refuses what it cannot record, unless the service stores none twice', async () => {
  const records = new TrajectoryRecords(tablesInMemory('test', 'no space left'));
  const { service, sent } = storing();
  const window = storeOnce(records, 'press enter again');
  await expect(window(service, inputOf('a'))).rejects.toThrow(
    /cannot be recorded, .* no space left\. .*enter again\.$/,
  );
  expect(sent).toEqual([]);
  await window(service, inputOf('a'));
  await storeOnce(records, '')(storing({ skipsStored: () => true }).service, inputOf('a'));
  expect(sent).toEqual([['a']]);
});

it('sends the id of the profile’s agent, and refuses what was sent for it under another name', async () => {
  const records = new TrajectoryRecords(tablesInMemory('test'));
  const owners: unknown[] = [];
  const serviceOf = (agent: string) =>
    fakeService(
      {
        listAgents: () => ({ items: [{ agent_id: 'agent_1', name: 'alice' }] }),
        uploadTrajectories: ({ body }) => {
          owners.push(body.agent_id ?? body.agent_name);
          return { trajectories: [{ request_index: 0, status: 'uploaded' }] };
        },
      },
      { skipsStored: () => false, agent },
    );
  await storeOnce(records, 'again')(serviceOf('alice'), inputOf('a'));
  await expect(storeOnce(records, 'again')(serviceOf('alice'), inputOf('a'))).rejects.toThrow(
    /^Already sent to .* \(.*\): nothing/,
  );
  const window = storeOnce(records, 'again');
  await expect(window(serviceOf('agent_1'), inputOf('a'))).rejects.toThrow(
    /^Already sent to .* \(.*\) for another agent: nothing/,
  );
  await window(serviceOf('agent_1'), inputOf('a'));
  expect(owners).toEqual(['agent_1', 'agent_1']);
});

it('refuses what may have been sent before if the record is unreadable', async () => {
  const tables = tablesInMemory('test');
  const { service, sent } = storing();
  tables.run('drop table sent_lines');
  const window = storeOnce(new TrajectoryRecords(tables), 'press enter again');
  await expect(window(service, inputOf('a'))).rejects.toThrow(/^Nothing was sent: .* cannot be read\..*enter again\.$/);
  expect(sent).toEqual([]);
});
