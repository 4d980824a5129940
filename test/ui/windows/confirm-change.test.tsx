/** A confirmation is still true when it is answered: the records are read again before anything is sent. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../../eventually.ts';
import { notFound, pageOf } from '../../queries/scripted-service.ts';
import { openWorld, world } from '../program/scripted-world.tsx';

const test = { status: 'DEPLOYED', role: 'test', is_active: false };
const production = { role: 'production', is_active: true };
const record = { view: 'record', resource: 'deployments', id: 'dep_1', label: 'tutor' } as const;
const list = { view: 'list', resource: 'deployments' } as const;
/** So narrow that the window fills the lines it is on, and hardly polled. */
const alone = { columns: 70, poll: { focusedMs: 600_000, visibleMs: 600_000 } };

/** Deployments on a service that lists and reads them, and tears them down. */
function deployed(...slugs: readonly string[]) {
  const service = world('none');
  const rows = new Map<string, object>(
    slugs.map((model_slug, index) => [
      `dep_${index + 1}`,
      { deployment_id: `dep_${index + 1}`, model_slug, checkpoint_step: index + 1, ...test },
    ]),
  );
  const change = (id: string, to: object): void => void rows.set(id, { ...rows.get(id), ...to });
  service.answers.listDeployments = () => pageOf([...rows.values()]);
  service.answers.getDeployment = ({ deployment_id: id = '' }) => rows.get(id) ?? notFound(id);
  service.answers.undeploy = ({ deployment_id: id = '' }) => {
    rows.delete(id);
    return { deployment_id: id };
  };
  service.answers.promoteDeployment = ({ deployment_id: id = '' }) => rows.get(id);
  return { service, change };
}

const flat = (text: string): string => text.replaceAll(/[│\s]+/g, ' ');

describe('an open confirmation', () => {
  it('takes one key and one more read for a test deployment', async () => {
    const { service } = deployed('tutor');
    const screen = openWorld(service, list, alone);
    await screen.waitFor('▸ tutor');
    const before = service.asked('getDeployment');
    await screen.press('d');
    await screen.waitFor('Undeploy?');
    await screen.press('y');
    await screen.waitFor('✓ Undeployed tutor');
    expect(service.asked('getDeployment') - before).toBe(1);
    expect(service.asked('undeploy', 'dep_1')).toBe(1);
  });

  it('sends nothing once the deployment went into production, and asks for the slug (A1)', async () => {
    const { service, change } = deployed('tutor');
    const screen = openWorld(service, list, alone);
    await screen.waitFor('▸ tutor');
    await screen.press('d');
    await screen.waitFor('<y> undeploy');
    change('dep_1', production);
    await screen.press('y');
    await screen.waitFor('Type tutor to undeploy:');
    const said = flat(screen.text());
    expect(said).toContain('In production: tutor. Nothing answers there');
    expect(said).toContain('This has changed since you were asked. Nothing was sent');
    expect(service.asked('undeploy')).toBe(0);
    await screen.type('tutor');
    await screen.press('enter');
    await screen.waitFor('✓ Undeployed tutor');
  });

  it('for several deployments asks for the slug of the one that went into production', async () => {
    const { service, change } = deployed('tutor', 'talker', 'third');
    const screen = openWorld(service, list, alone);
    await screen.waitFor(text => text.includes('▸ tutor') && text.includes('talker'));
    await screen.press('space', 'space', 'd');
    await screen.waitFor('Undeploy 2 deployments?');
    change('dep_2', production);
    await screen.press('y');
    await screen.waitFor('Type talker to undeploy:');
    expect(service.asked('undeploy')).toBe(0);
  });

  it('asks only about those that are left after some were sent (B3)', async () => {
    const { service, change } = deployed('tutor', 'talker');
    change('dep_1', production);
    const { undeploy = () => ({}) } = service.answers;
    service.answers.undeploy = (...asked) => {
      if (asked[0]['deployment_id'] === 'dep_2') throw new Error('the disk is full');
      return undeploy(...asked);
    };
    const screen = openWorld(service, list, alone);
    await screen.waitFor(text => text.includes('▸ tutor') && text.includes('talker'));
    await screen.press('space', 'space', 'd');
    await screen.waitFor('Type tutor to undeploy:');
    await screen.type('tutor');
    await screen.press('enter');
    await screen.waitFor('1 undeployed, 1 failed');
    await screen.waitFor('<y> undeploy the other 1');
    expect(flat(screen.text())).not.toContain('In production: tutor');
    service.answers.undeploy = undeploy;
    await screen.press('y');
    await screen.waitFor('✓ Undeployed tutor, talker');
  });

  it('counts a deployment that cannot be read again as in production', async () => {
    const { service } = deployed('tutor');
    const screen = openWorld(service, list, alone);
    await screen.waitFor('▸ tutor');
    service.answers.getDeployment = () => {
      throw new Error('the disk is full');
    };
    await screen.press('d');
    await screen.waitFor('<y> undeploy');
    const before = service.asked('getDeployment');
    await screen.press('y');
    await screen.waitFor('Type tutor to undeploy:');
    expect(service.asked('getDeployment') - before).toBe(1);
    expect(flat(screen.text())).toContain('May be in production: tutor. If so, nothing answers there');
    expect(flat(screen.text())).toContain('dep_1 could not be read again. Nothing was sent. the disk is full');
    expect(service.asked('undeploy')).toBe(0);
    await screen.type('tutor');
    await screen.press('enter');
    await screen.waitFor('✓ Undeployed tutor');
  });

  it.each([
    [{ model_slug: 'talker' }, 'talker, dep_1 (step 1): serving ends', ['y']],
    [production, 'Type tutor to undeploy:', [...'tutor', 'enter']],
  ])('asks about the record if the list later disagrees: %o', async (record, asks, answer) => {
    const { service, change } = deployed('tutor');
    const listed = { deployment_id: 'dep_1', model_slug: 'tutor', checkpoint_step: 1, ...test };
    service.answers.listDeployments = () => pageOf([listed]);
    change('dep_1', record);
    const screen = openWorld(service, list, alone);
    await screen.waitFor('▸ tutor');
    await screen.press('d');
    await screen.waitFor('<y> undeploy');
    const before = service.asked('listDeployments');
    await screen.press('y');
    await screen.waitFor('confirm the current state.');
    await eventually(() => expect(service.asked('listDeployments')).toBeGreaterThan(before));
    await screen.waitFor(text => flat(text).includes(asks));
    expect(service.asked('undeploy')).toBe(0);
    await screen.press(...answer);
    await screen.waitFor('✓ Undeployed');
  });

  it('leaves the question its lines beside a short error if there are few', async () => {
    const { service, change } = deployed('tutor');
    const screen = openWorld(service, list, { ...alone, columns: 60, rows: 15 });
    await screen.waitFor('▸ tutor');
    await screen.press('d');
    await screen.waitFor('<y> undeploy');
    change('dep_1', production);
    await screen.press('y');
    await screen.waitFor('confirm the current state.');
    expect(screen.text()).toContain('another deployment is promoted. tutor, dep_1 (step');
  });

  it('takes no key of the read that opened it, such as an unmarked paste (B4)', async () => {
    const { service } = deployed('tutor');
    const screen = openWorld(service, list, alone);
    await screen.waitFor('▸ tutor');
    await screen.type('dyn\u007fy\u001b[By');
    await screen.waitFor('<y> undeploy');
    await screen.type('y');
    await screen.waitFor('✓ Undeployed tutor');
    expect(service.asked('undeploy')).toBe(1);
  });

  it('stops reading on esc, without sending anything', async () => {
    const { service } = deployed('tutor');
    const screen = openWorld(service, list, alone);
    await screen.waitFor('▸ tutor');
    service.answers.getDeployment = () => new Promise(() => {});
    await screen.press('d');
    await screen.waitFor('<y> undeploy');
    await screen.press('y');
    await screen.waitFor('<esc> stop');
    await screen.press('esc');
    await screen.waitFor('Stopped. Nothing was sent.');
    expect(service.asked('undeploy')).toBe(0);
  });
});

describe('a deployment with an unknown record', () => {
  it('is taken out of production by its slug only, while it is read and after that failed (A2)', async () => {
    const { service, change } = deployed('tutor');
    change('dep_1', production);
    const reads: (() => void)[] = [];
    service.answers.getDeployment = () =>
      new Promise((_, reject) => reads.push(() => reject(new Error('the disk is full'))));
    const screen = openWorld(service, record, alone);
    await screen.waitFor('tutor');
    await screen.press('d');
    await screen.waitFor('Undeploy?');
    await eventually(() => expect(service.asked('getDeployment')).toBe(2));
    await screen.press('y', 'enter');
    expect(screen.text()).not.toContain('<y> undeploy');
    await screen.press('esc');
    service.answers.getDeployment = () => {
      throw new Error('the disk is full');
    };
    for (const fail of reads) fail();
    await screen.waitFor('the disk is full');
    await screen.press('d');
    await screen.waitFor('Type tutor to undeploy:');
    expect(flat(screen.text())).toContain('May be in production: tutor.');
    expect(service.asked('undeploy')).toBe(0);
  });

  it('is not taken from memory on a service that does not list deployments (A2)', async () => {
    const { service, change } = deployed('tutor');
    delete service.answers.listDeployments;
    const screen = openWorld(service, record, alone);
    await screen.waitFor('active  no');
    await screen.press(':');
    await screen.type('deployments');
    await screen.press('enter');
    await screen.waitFor('▸ tutor');
    change('dep_1', production);
    // Its record is read before the question is asked.
    await screen.press('d');
    await screen.waitFor('Type tutor to undeploy:');
    expect(flat(screen.text())).toContain('In production: tutor. Nothing answers there');
    await screen.press('y', 'enter');
    await screen.waitFor('✗ Type tutor to undeploy:');
    expect(service.asked('undeploy')).toBe(0);
  });
});

describe('a promotion', () => {
  it('asks again once another deployment serves the slug, and names it', async () => {
    const { service, change } = deployed('tea', 'tea', 'tea');
    change('dep_1', production);
    const screen = openWorld(service, { ...record, id: 'dep_3', label: 'tea' }, alone);
    await screen.waitFor('tea');
    await screen.waitFor('deployed');
    await screen.press('e');
    await screen.waitFor('which one should be demoted?');
    await screen.press('enter');
    await screen.waitFor('dep_1 (step 1) serves');
    change('dep_1', test);
    change('dep_2', production);
    await screen.type('tea');
    await screen.press('enter');
    await screen.waitFor('dep_2 (step 2) serves');
    expect(service.asked('promoteDeployment')).toBe(0);
    // Text typed before confirms nothing.
    await screen.press('enter');
    await screen.waitFor('✗ Type tea to promote:');
    await screen.type('tea');
    await screen.press('enter');
    await screen.waitFor('✓ tea serves its slug');
    expect(service.asked('promoteDeployment', 'dep_3')).toBe(1);
  });

  it('says that the deployment picked for demotion no longer serves', async () => {
    const { service, change } = deployed('tea', 'tea', 'tea');
    change('dep_1', production);
    const screen = openWorld(service, { ...record, id: 'dep_3', label: 'tea' }, alone);
    await screen.waitFor('deployed');
    await screen.press('e');
    await screen.waitFor('which one should be demoted?');
    await screen.press('down', 'enter');
    await screen.waitFor('dep_1 (step 1), which');
    change('dep_1', test);
    await screen.type('tea');
    await screen.press('enter');
    await screen.waitFor('longer serves tea. Nothing serves tea now.');
    expect(service.asked('promoteDeployment')).toBe(0);
  });
});

it('tells runs of one name apart by id, before and after', async () => {
  const service = world('none');
  const runs = ['lost', 'lost', 'v2'].map((display_name, index) => ({
    ...{ eval_run_id: `evr_${index + 1}`, bench_id: 'bench_1', display_name, status: 'completed' },
  }));
  service.answers.listEvalRuns = () => runs;
  service.answers.getEvalRun = ({ eval_run_id = '' }) =>
    runs.find(run => run.eval_run_id === eval_run_id) ?? notFound(eval_run_id);
  service.answers.deleteEvalRun = () => ({});
  const screen = openWorld(service, { view: 'list', resource: 'runs', scope: { benchmark: 'bench_1' } }, alone);
  await screen.waitFor('v2');
  await screen.press('space', 'space', 'space', 'd');
  await screen.waitFor('Delete 3 runs?');
  expect(flat(screen.text())).toContain('lost (evr_1), lost (evr_2), v2:');
  await screen.press('y');
  await screen.waitFor('✓ Deleted lost (evr_1), lost (evr_2), v2');
});
