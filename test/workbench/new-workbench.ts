/** A workbench for tests: on a service without answers, always connected, with everything in memory. */
import { alarmDefaults } from '../../src/config/alarms.ts';
import { compareDefaults, triageDefaults } from '../../src/config/preferences.ts';
import { defaultIntervals } from '../../src/queries/polling.ts';
import { kinds } from '../../src/resources/catalogue.ts';
import { fixedConnection } from '../../src/service/supervisor.ts';
import { RememberedStore } from '../../src/store/store.ts';
import { TextIndex } from '../../src/store/text-index.ts';
import { Workbench, type WorkbenchOptions } from '../../src/workbench/workbench.ts';
import { fakeService, openGate } from '../service/fake-service.ts';

export function newWorkbench(options: Partial<WorkbenchOptions> = {}): Workbench {
  const { profile = 'test' } = options;
  return new Workbench({
    kinds,
    service: async () => fakeService(),
    connection: fixedConnection,
    gate: openGate,
    profile,
    readOnly: false,
    keepsChats: true,
    file: undefined,
    poll: defaultIntervals,
    compare: compareDefaults,
    priceUnit: undefined,
    alarms: alarmDefaults,
    triage: triageDefaults,
    texts: () => TextIndex.inMemory({ service: profile, mostBytes: Number.POSITIVE_INFINITY }),
    remembered: () => RememberedStore.inMemory(profile),
    ...options,
  });
}
