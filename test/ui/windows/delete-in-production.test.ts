/** Deleting a training run with a checkpoint in production asks the same as undeploying it, everywhere. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TrainingRun } from '../../../src/contract/training.ts';
import { describeOutages } from '../../../src/resources/change-messages.ts';
import { outagesOfRun, withRunsInProduction } from '../../../src/resources/production.ts';
import { CancelledError } from '../../../src/service/errors.ts';
import { RememberedStore } from '../../../src/store/store.ts';
import { cliOn } from '../../commands/cli.ts';
import {
  type Answers,
  notFound,
  pageOf,
  type ScriptedService,
  scriptedService,
} from '../../queries/scripted-service.ts';
import { apiKey, hostileServer, json } from '../../service/hostile-server.ts';
import { openWorld, world } from '../program/scripted-world.tsx';

const run = {
  ...{ training_run_id: 'trn_1', display_name: 'words', status: 'succeeded', bench_id: 'bench_1' },
  base_model_slug: 'acme/small',
};
const served = {
  ...{ deployment_id: 'dep_1', model_slug: 'counter', status: 'DEPLOYED', role: 'production', is_active: true },
  ...{ checkpoint_id: 'ckpt_15', checkpoint_step: 15, base_model_slug: 'acme/small' },
};
const checkpoints = [5, 15].map(step_index => ({ checkpoint_id: `ckpt_${step_index}`, step_index }));
const loses = 'It keeps answering, but its origin is lost: it cannot be evaluated or deployed again.';

async function askToDelete(answers: Answers, runs: readonly TrainingRun[] = [run]) {
  const scripted: ScriptedService = scriptedService({ listCheckpoints: () => checkpoints, ...answers });
  const context = {
    ...{ service: scripted.service, signal: AbortSignal.timeout(10_000) },
    memory: RememberedStore.inMemory('test'),
  };
  const outages = (await withRunsInProduction(runs, context)).flatMap(outagesOfRun);
  return {
    words: describeOutages(outages).trimEnd(),
    typed: outages.map(({ slug }) => slug),
    requests: scripted.requests,
  };
}

describe('the production deployments of a training run', () => {
  it('are those of its checkpoints that answer, and no others', async () => {
    const others = [
      { ...served, deployment_id: 'dep_2', checkpoint_id: 'ckpt_elsewhere' },
      { ...served, deployment_id: 'dep_3', model_slug: 'trial', role: 'test', is_active: false },
    ];
    const { words, typed } = await askToDelete({ listDeployments: () => pageOf([served, ...others]) });
    expect(words).toBe(`In production: counter by dep_1 (step 15). ${loses}`);
    expect(typed).toEqual(['counter']);
  });

  it('include one of its checkpoints that is still being deployed into production', async () => {
    for (const status of ['PENDING', 'MERGING', 'DEPLOYING']) {
      const entering = { ...served, status, is_active: false };
      const others = [
        { ...entering, deployment_id: 'dep_2', role: 'test' },
        { ...entering, deployment_id: 'dep_3', status: 'FAILED' },
      ];
      const { words, typed } = await askToDelete({ listDeployments: () => pageOf([entering, ...others]) });
      expect(words).toBe(
        `A checkpoint may be in production: counter by dep_1 (step 15), still being deployed. If so, i${loses.slice(1)}`,
      );
      expect(typed).toEqual(['counter']);
    }
  });

  it('are found if the service spells the id of the checkpoint in capitals', async () => {
    const checkpoint_id = '0a0b0c0d-1111-2222-3333-444455556666';
    const { typed } = await askToDelete({
      listCheckpoints: () => [{ checkpoint_id, step_index: 15 }],
      listDeployments: () => pageOf([{ ...served, checkpoint_id: checkpoint_id.toUpperCase() }]),
    });
    expect(typed).toEqual(['counter']);
  });

  it('take one request if nothing is in production, and one per run otherwise', async () => {
    const runs = Array.from({ length: 4 }, (_, index) => ({ ...run, training_run_id: `trn_${index}` }));
    const idle = Array.from({ length: 199 }, (_, index) => ({
      ...served,
      ...{ deployment_id: `idle_${index}`, is_active: false },
    }));
    const none = await askToDelete({ listDeployments: () => pageOf(idle) }, runs);
    expect(none).toEqual({ words: '', typed: [], requests: ['listDeployments'] });
    const some = await askToDelete({ listDeployments: () => pageOf([...idle, served]) }, runs);
    expect(some.requests).toHaveLength(1 + runs.length);
  });

  it('are unknown if deployments are unreadable, which then asks for the name of the run', async () => {
    const failing: Answers = {
      listDeployments: () => {
        throw new Error('The disk is full. Nothing was changed.');
      },
    };
    const why = 'A checkpoint may be in production';
    expect(await askToDelete(failing)).toMatchObject({
      words: `${why}: the deployments could not be read: The disk is full. If so, i${loses.slice(1)}`,
      typed: ['words'],
    });
    expect(await askToDelete({})).toMatchObject({
      words: `${why}: this service does not list deployments. If so, i${loses.slice(1)}`,
      typed: ['words'],
    });
    expect(outagesOfRun(run)).toMatchObject([{ slug: 'words', isCertain: false }]);
  });

  it('are unknown if the list of deployments takes too long', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    timeout.mockImplementation(ms => (ms === 15_000 ? AbortSignal.abort() : new AbortController().signal));
    onTestFinished(() => timeout.mockRestore());
    const listDeployments = () => {
      throw new CancelledError('Cancelled. Nothing was changed.');
    };
    const { words, typed } = await askToDelete({ listDeployments });
    expect(words).toContain('the deployments could not be read: no response within 15s. If so');
    expect(typed).toEqual(['words']);
  });

  it('are in doubt if the checkpoint of a deployment is unknown, except for other steps or models', async () => {
    const { checkpoint_id: _, ...unnamed } = served;
    const rows = [
      unnamed,
      { ...unnamed, deployment_id: 'dep_2', checkpoint_step: 6 },
      { ...unnamed, deployment_id: 'dep_3', base_model_slug: 'acme/large' },
    ];
    const { words, typed } = await askToDelete({ listDeployments: () => pageOf(rows) });
    expect(words).toContain('A checkpoint may be in production: counter by dep_1 (step 15) may belong to it.');
    expect(typed).toEqual(['words']);
    const unread = await askToDelete({
      listDeployments: () => pageOf([served]),
      listCheckpoints: () => {
        throw new Error('The disk is full. Nothing was changed.');
      },
    });
    expect(unread.words).toContain(
      'may belong to it, because not all of its checkpoints could be read (The disk is full).',
    );
  });
});

/** A service with the run and these deployments, on screen. */
function screenOf(rows: () => readonly object[]) {
  const service = world('none');
  service.answers.listTrainingRuns = () => (service.asked('deleteTrainingRun') > 0 ? [] : [run]);
  service.answers.getTrainingRun = () => (service.asked('deleteTrainingRun') > 0 ? notFound('trn_1') : run);
  service.answers.listCheckpoints = () => checkpoints;
  service.answers.listDeployments = () => pageOf(rows());
  service.answers.deleteTrainingRun = () => ({});
  const alone = { columns: 70, poll: { focusedMs: 600_000, visibleMs: 600_000 } };
  return { service, screen: openWorld(service, { view: 'list', resource: 'training' }, alone) };
}

const flat = (text: string): string => text.replaceAll(/[│\s]+/g, ' ');

describe('on screen', () => {
  it('the slug is typed', async () => {
    const { service, screen } = screenOf(() => [served]);
    await screen.waitFor('▸ words');
    await screen.press('d');
    await screen.waitFor('Type counter to delete:');
    expect(flat(screen.text())).toContain(`In production: counter by dep_1 (step 15). ${loses} words: all curves`);
    await screen.press('y', 'enter');
    await screen.waitFor('✗ Type counter to delete:');
    expect(service.asked('deleteTrainingRun')).toBe(0);
    await screen.press('backspace');
    await screen.type('counter');
    await screen.press('enter');
    await screen.waitFor('✓ Deleted words');
  });

  it('one key is enough without production, unless it was deployed meanwhile', async () => {
    let rows: readonly object[] = [];
    const { service, screen } = screenOf(() => rows);
    await screen.waitFor('▸ words');
    await screen.press('d');
    await screen.waitFor('<y> delete');
    rows = [served];
    await screen.press('y');
    await screen.waitFor('Type counter to delete:');
    expect(flat(screen.text())).toContain('This has changed since you were asked. Nothing was sent');
    expect(service.asked('deleteTrainingRun')).toBe(0);
    rows = [];
    await screen.type('counter');
    await screen.press('enter');
    await screen.waitFor('✓ Deleted words');
  });
});

describe('a command', () => {
  const server = async (rows: readonly object[] | undefined) => {
    const { url, requests } = await hostileServer((response, request) => {
      const { url: path, method } = request;
      if (method === 'DELETE') return json({ training_run_id: 'trn_1' })(response, request);
      if (path.includes('/checkpoints')) return json({ items: checkpoints, has_more: false })(response, request);
      if (path.startsWith('/api/v1/deploy')) {
        return rows ? json({ items: rows, has_more: false })(response, request) : json({}, 403)(response, request);
      }
      if (path.startsWith('/api/v1/benchmarks')) return json({ items: [{ bench_id: 'bench_1' }] })(response, request);
      return json(path.includes('/runs') ? [run] : run)(response, request);
    });
    const deletions = () => requests.filter(({ method }) => method === 'DELETE').length;
    return { cli: cliOn({ baseUrl: url, apiKey }), deletions };
  };

  it('is refused without a terminal, naming what is in production, and noted with --yes', async () => {
    const { cli, deletions } = await server([served]);
    const refused = await cli('delete', ['trn_1']);
    expect(refused.notes).toContain(`In production: counter by dep_1 (step 15). ${loses}`);
    expect(deletions()).toBe(0);
    const done = await cli('delete', ['trn_1', '--yes']);
    expect(done).toMatchObject({ code: 0, notes: `In production: counter by dep_1 (step 15). ${loses}` });
    expect(deletions()).toBe(1);
  });

  it.each([
    ['the slug', [served], 'counter', 1],
    ['not by yes', [served], 'y', 0],
    ['yes without production', [], 'y', 1],
    ['the name where the deployments cannot be read', undefined, 'words', 1],
  ])('is confirmed at a terminal by %s', async (_, rows, input, sent) => {
    const { cli, deletions } = await server(rows);
    await cli('delete', ['trn_1'], { input: `${input}\n`, asked: true });
    expect(deletions()).toBe(sent);
  });

  it('asks for the slug in line mode', async () => {
    const { cli, deletions } = await server([served]);
    const { out } = await cli('--lines', [], { input: ['training', 'delete 1', 'y', 'quit'].join('\n') });
    expect(out).toMatch(/In production: counter by dep_1 \(step 15\)\. .* Type counter to confirm/);
    expect(deletions()).toBe(0);
    await cli('--lines', [], { input: ['training', 'delete 1', 'counter', 'quit'].join('\n') });
    expect(deletions()).toBe(1);
  });
});
