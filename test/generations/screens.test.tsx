/** Every view and every action of the screen on both generations of the service, which reject unknown requests. */
import { describe, expect, it } from 'vitest';
import { registry } from '../../src/ui/views/registry.ts';
import { planUpload } from '../../src/uploads/benchmark-plan.ts';
import { BenchmarkUpload } from '../../src/uploads/benchmark-upload.ts';
import { eventually } from '../eventually.ts';
import { type SeenRequest, serviceAt } from '../service/hostile-server.ts';
import { placeIn } from '../ui/places.ts';
import { openProgram } from '../ui/program/rig.tsx';
import { smallFolder } from '../uploads/small-folder.ts';
import { standIn } from './stand-in.ts';

/** The program at a view, on a stand-in whose generation is known. */
async function openAt(viewId: string, generation: 'document' | 'newest') {
  const double = await standIn(generation);
  const { service } = serviceAt(double.url, {
    generation: undefined,
    ...(generation === 'newest' && { agent: 'agent-1' }),
  });
  await service.call('listSupportedTrainingModels');
  const { bench, run, training, trajectory, test } = double.ids;
  const folder = smallFolder();
  const ids = { benchId: bench, runId: run, trainingId: training, endedTrajectory: trajectory, deploymentId: test };
  const start = placeIn({ ...ids, jobId: folder }, viewId, 't-words');
  const rig = openProgram({ service, start });
  rig.workbench.jobs.add(new BenchmarkUpload(folder, await planUpload(folder), rig.workbench.remembered));
  const settled = () => eventually(async () => expect(rig.workbench.cache.isFetching()).toBe(0));
  await rig.screen.press();
  await settled();
  await rig.screen.type('');
  await settled();
  return { ...rig, ...double, settled };
}

const words: Readonly<Record<string, Readonly<Record<'document' | 'newest', readonly string[]>>>> = {
  'record benchmarks': {
    document: ['1 of 2 images ready, 1 failed', 'baseline'],
    newest: ['3 tasks', '1 of 3 images ready, 1 failed', 'baseline', '1 row could not be read'],
  },
  'record runs': { document: ['0.500 over 6 rewards'], newest: ['0.500 over 6 rewards'] },
  'list runs': { document: ['baseline', 'failed'], newest: ['baseline'] },
  'record training': {
    document: ['14 of 16 samples'],
    newest: ['14 of 16 samples, 2 cancelled', '1 point on the curves could not be read'],
  },
  'record trajectories': { document: ['hello'], newest: ['hello', '1 message could not be read'] },
  'list images': { document: ['failed'], newest: ['no space'] },
  'list models': { document: ['acme/small'], newest: ['acme/small'] },
  'list deployments': { document: ['✗ failed', '3 in all'], newest: ['cancelled', '3 in all'] },
  'list benchmarks': {
    document: ['t-words', '1 row could not be read'],
    newest: ['t-words', '1 row could not be read'],
  },
};

describe.each(['document', 'newest'] as const)('on a service of generation %s', generation => {
  it.each(registry.views.map(({ id }) => id))('the view %s', async viewId => {
    const { screen, failed, refused, close } = await openAt(viewId, generation);
    for (const word of words[viewId]?.[generation] ?? []) await screen.waitFor(word);
    expect(failed).toEqual([]);
    expect(refused).toEqual([]);
    close();
  });

  it('the evaluate form has the options that the service takes', async () => {
    const { screen, failed, refused, requests, settled, close } = await openAt('record benchmarks', generation);
    await screen.press('e');
    await screen.waitFor('▸ Model');
    if (generation === 'document') {
      // Endpoints that it does not have are not requested.
      expect(screen.text()).not.toContain('evaluation_max_samples');
      close();
      return;
    }
    await screen.waitFor('evaluation_max_samples');
    await screen.press('tab', 'tab', 'tab');
    await screen.type('30');
    await screen.press('enter');
    await screen.waitFor('From 1 to 9');
    await screen.press('backspace', 'enter');
    const isStart = ({ method, url }: SeenRequest) => method === 'POST' && url.startsWith('/api/v1/eval');
    await expect.poll(() => requests.filter(isStart)).toHaveLength(1);
    await settled();
    const body = JSON.parse(requests.find(isStart)?.body ?? '{}') as Record<string, unknown>;
    expect(body['options']).toEqual({ evaluation_max_samples: 3 });
    expect([failed, refused]).toEqual([[], []]);
    close();
  });

  it('promote asks which deployment to demote', async () => {
    const { screen, requests, ids, settled, close } = await openAt('record deployments', generation);
    await screen.waitFor(text => /role +test/.test(text));
    await screen.press('e');
    await screen.waitFor('which one should be demoted');
    await screen.press('down', 'enter');
    await screen.waitFor('Type talker to promote');
    await screen.type('talker\r');
    const isSent = ({ url }: SeenRequest) => url.endsWith('/promote');
    await expect.poll(() => requests.filter(isSent)).toHaveLength(1);
    await settled();
    expect(JSON.parse(requests.find(isSent)?.body ?? '{}')).toEqual({ demote_deployment_id: ids.production });
    close();
  });

  const acting = registry.views.filter(({ commands }) => commands.some(({ writes }) => writes));
  it.each(acting.map(({ id }) => id))('the actions of the view %s', async viewId => {
    const view = registry.views.find(({ id }) => id === viewId);
    const keys = new Set((view?.commands ?? []).filter(({ writes }) => writes).flatMap(command => command.keys));
    for (const key of keys) {
      const { screen, failed, refused, settled, close } = await openAt(viewId, generation);
      await screen.press(key);
      await settled();
      // A form with its defaults, or a question answered with yes.
      await screen.press('ctrl-s', 'y', 'enter', 'enter', 'enter', 'enter', 'enter');
      await settled();
      // An agent has been typed there, which only the newest generation takes.
      const isForeign = (words: string) => key === 'A' && generation === 'document' && words.includes('agent_id');
      expect([key, failed, refused.filter(words => !isForeign(words))]).toEqual([key, [], []]);
      close();
    }
  });
});
