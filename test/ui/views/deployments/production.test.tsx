/** Nothing enters or leaves production by one key or by default: the slug is typed (W3, W43). */
import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../../../src/contract/deployments.ts';
import { emptyCurve } from '../../../../src/contract/trainer-curve.ts';
import { listQuery } from '../../../../src/queries/lists/list-query.ts';
import { fetchOnce } from '../../../../src/queries/live-query.ts';
import { type AuditReport, auditList, describeAudit } from '../../../../src/resources/audit.ts';
import {
  deploymentActions,
  deployments,
  isInProduction,
  surelyInProduction,
} from '../../../../src/resources/deployments.ts';
import { describeReplaced } from '../../../../src/resources/production.ts';
import { NetworkError } from '../../../../src/service/errors.ts';
import { DeployWindow } from '../../../../src/ui/views/deployments/deploy.tsx';
import { type FormState, formValues, initialFormState } from '../../../../src/ui/widgets/form/form-state.ts';
import { pageOf } from '../../../queries/scripted-service.ts';
import { type Answers, fakeService } from '../../../service/fake-service.ts';
import { openOnStage } from '../../stage.tsx';

const active: Deployment = {
  deployment_id: 'dep_1',
  model_slug: 'tutor',
  status: 'DEPLOYED',
  role: 'production',
  is_active: true,
  checkpoint_step: 20,
};

describe('the deployment that answers for a slug', () => {
  it('is the active one, or that in production if the service does not report which is active', () => {
    expect(isInProduction(active)).toBe(true);
    expect(isInProduction({ ...active, is_active: false })).toBe(false);
    expect(isInProduction({ ...active, is_active: undefined })).toBe(true);
    expect(isInProduction({ ...active, is_active: undefined, status: 'PENDING' })).toBe(false);
  });

  it('is unknown if that is unreadable, or the role does not tell', () => {
    const unreadable = { is_active: undefined, unreadable_fields: { is_active: 'true' } };
    for (const role of ['test', 'production']) {
      const row = { ...active, ...unreadable, role };
      expect(surelyInProduction(row)).toBeUndefined();
      expect(describeReplaced({ slug: 'tutor' }, [row], true)).toBe(
        'Any deployment that serves tutor now is replaced.',
      );
    }
    const other = { ...active, ...unreadable, model_slug: 'talker' };
    expect(describeReplaced({ slug: 'tutor' }, [other], true)).toBe('Nothing serves tutor now.');
    expect(surelyInProduction({ ...active, is_active: undefined, role: 'test' })).toBe(false);
    expect(surelyInProduction({ ...active, is_active: undefined, role: 'PRODUCTION' })).toBeUndefined();
    expect(surelyInProduction({ ...active, is_active: false, role: 'live' })).toBe(false);
  });

  it('can be taken out of production unless it surely is not there', () => {
    const { appliesTo } = deploymentActions.unpromote;
    const row = { ...active, is_active: undefined };
    expect(appliesTo([row])).toEqual([row]);
    expect(appliesTo([{ ...row, unreadable_fields: { is_active: 1 } }])).toHaveLength(1);
    expect(appliesTo([{ ...row, is_active: false }])).toBe('It does not serve its slug');
  });

  it('is taken out of production alone, whatever else is marked (U46)', () => {
    const rows = [active, { ...active, deployment_id: 'dep_2' }];
    expect(deploymentActions.unpromote.appliesTo(rows)).toBe('2 are marked; this works on one at a time');
  });

  it('is named only as far as it is known', () => {
    expect(describeReplaced({ slug: 'Tutor' }, [active], false)).toBe(
      'dep_1 (step 20) serves Tutor now and is replaced.',
    );
    expect(describeReplaced({ slug: 'tutor', id: 'dep_1' }, [active], true)).toBe('Nothing serves tutor now.');
    expect(describeReplaced({ slug: 'other' }, [active], false)).toBe(
      'Any deployment that serves other now is replaced.',
    );
  });
});

it('is demoted if another deployment serves the slug, for programs and filters too (out34 B2)', () => {
  const column = deployments.columns.find(({ id }) => id === 'role');
  const texts = [active, { ...active, is_active: false }, { ...active, is_active: undefined }].map(row =>
    column?.value(row),
  );
  expect(texts).toEqual(['production', 'demoted', 'production']);
});

describe('held-out rewards side by side', () => {
  const of = { training_run_id: 'trn_2', display_name: 'adder', step: 4 };
  const held_out = { reward: 0.671, step: 4, samples: undefined };
  const from_run = { ...of, held_out, bench_id: 'b2', benchmark: 'small-sums' };
  const serving = { ...active, from_run };
  const words = 'dep_1 (adder step 4, held-out 0.671 on small-sums) serves tutor now and is replaced.';
  const other = 'Not comparable: dep_1 was trained on another benchmark.';

  it.each([
    ['b1', `${words} ${other}`],
    ['b2', words],
    [undefined, words],
  ])('name their benchmarks, and are marked as not comparable if these differ: %s', (bench_id, expected) => {
    const entry = { slug: 'tutor', from_run: { ...of, bench_id } };
    expect(describeReplaced(entry, [serving], true)).toBe(expected);
  });

  it('are not comparable with the deployment that the user demotes either', () => {
    const entry = { slug: 'talker', demoted: serving, from_run: { ...of, bench_id: 'b1' } };
    expect(describeReplaced(entry, [serving], true)).toMatch(new RegExp(`is demoted\\. ${other}$`));
  });
});

const reads = 'describe trn_1 --audit reads more';

it('names the audit findings in the curves of a run whose checkpoint goes live', () => {
  const curve = (value: number) => ({
    ...emptyCurve,
    steps: Float64Array.from({ length: 20 }, (_, step) => step),
    rewards: Float64Array.from({ length: 20 }, () => value),
  });
  const origin = { training_run_id: 'trn_1', step: 5 };
  const why =
    "the trainer's reward is 0 in all 20 steps that have one: the grader may never match, or the tasks are too hard";
  const never = `Audit of its curves: ${why} (${reads}).`;
  const trainer = curve(0);
  const words = (report: Partial<AuditReport>, of = origin, curves = trainer) =>
    describeAudit(
      of,
      { trainer: curves, report: { findings: [], read: '', unread: [], texts: 8, lastStep: 5, ...report } },
      [0, 1],
    );
  expect(describeAudit(origin, { trainer }, [0, 1])).toBe(never);
  expect(describeAudit(origin, {}, [0, 1])).toBe('Not audited: describe trn_1 --audit.');
  expect(words({}, origin, curve(0.5))).toBe('Audit findings: none.');
  expect(words({ lastStep: 10 }, origin, curve(0.5))).toBe('Audit findings at step 10: none.');
  const findings = (['held_out', 'cut_off'] as const).map(kind => ({ kind, words: '', evidence: [], of: 1 }));
  expect(words({ findings })).toBe('Audit findings: held-out, cut off, never rewarded.');
  // Not of that step, or not whole (attack29 A1).
  expect(words({ lastStep: 4 })).toBe(never);
  expect(words({ lastStep: undefined })).toBe(never);
  expect(words({ unread: [{ what: 'Step 5', error: new NetworkError('Gone') }] })).toBe(never);
  expect(words({}, { ...origin, step: undefined as never })).toBe(never);
});

const heldOut = [
  { step: 0, held_out_reward: 0.32, completed_samples: 16 },
  { step: 5, held_out_reward: 0.4125, completed_samples: 16 },
  { step: 10, held_out_reward: 0.9, completed_samples: 16 },
];

function openDeploy(size = { columns: 100, rows: 30 }, failure?: Error, more: Answers = {}) {
  const sent: unknown[] = [];
  const answering = fakeService({
    listDeployments: async () => pageOf([{ ...active, checkpoint_id: 'ckpt_0' }]),
    listCheckpoints: async () => [
      { checkpoint_id: 'ckpt_0', step_index: 0 },
      { checkpoint_id: 'ckpt_1', step_index: 5 },
    ],
    getHeldOutRewards: async () => ({ held_out_rewards: heldOut }),
    startDeployment: async ({ body }) => {
      sent.push(body);
      if (failure) throw failure;
      return { ...active, deployment_id: 'dep_2', ...body };
    },
    ...more,
  });
  const run = { training_run_id: 'trn_1', display_name: 'tutor', status: 'completed', bench_id: 'words' };
  const checkpoint = async () => ({ checkpoint_id: 'ckpt_1', step_index: 5 });
  const screen = openOnStage(close => <DeployWindow run={run} checkpoint={checkpoint} onClose={close} />, {
    ...size,
    service: async () => answering,
  });
  return { screen, sent };
}

describe('a checkpoint', () => {
  it('is deployed as a test by default (W3)', async () => {
    const { screen, sent } = openDeploy();
    await screen.waitFor('Deploy step 5 of tutor');
    expect(screen.text()).toContain('test  reached by its id');
    expect(screen.text()).not.toContain('Type the slug');
    await screen.press('enter');
    await screen.waitFor(() => sent.length > 0);
    expect(sent).toEqual([{ checkpoint_id: 'ckpt_1', model_slug: 'tutor', role: 'test' }]);
  });

  it('keeps what was typed in its form for the next one, except the confirmation', async () => {
    const { screen } = openDeploy();
    await screen.waitFor('Deploy step 5 of tutor');
    await screen.type('-v2');
    await screen.press('tab', 'right', 'tab');
    await screen.waitFor('Type the slug');
    await screen.type('tutor-v2');
    await screen.waitFor(() => screen.workbench.drafts.size === 1);
    const [kept] = [...screen.workbench.drafts.values()] as FormState[];
    const text = { kind: 'text', label: '' } as const;
    const fields = [
      { ...text, name: 'model_slug' },
      { ...text, name: 'confirmed', isConfirmation: true },
    ];
    expect(formValues(initialFormState(fields, kept), fields)).toEqual({ model_slug: 'tutor-v2', confirmed: '' });
  });

  it('with a lost start is looked for in the list', async () => {
    const lost = new NetworkError('Check before you repeat it.', { outcomeUnknown: true });
    const { screen } = openDeploy(undefined, lost);
    await screen.waitFor('Deploy step 5 of tutor');
    await screen.press('enter');
    const advice = 'repeat it. If this service lists deployments, :deployments shows whether it has started.';
    await screen.waitFor(text => text.replaceAll(/[│\s]+/g, ' ').includes(advice));
  });

  it.each([
    { columns: 100, rows: 30 },
    { columns: 60, rows: 15 },
  ])('goes into production only after the slug is typed, and names what it replaces: %j (W3)', async size => {
    const { screen, sent } = openDeploy(size);
    await screen.waitFor('Deploy step 5 of tutor');
    await screen.press('tab', 'right');
    await screen.waitFor('serves the slug');
    // Before anything is typed or refused (C7).
    const replaces = 'dep_1 (trn_1 step 0, held-out 0.320) serves tutor now and is replaced.';
    const says = (words: string) => (text: string) => text.replaceAll(/[│\s]+/g, ' ').includes(words);
    await screen.waitFor(says(replaces));
    expect(screen.text()).not.toContain('✗');
    await screen.press('enter');
    await screen.waitFor(says('✗ Type tutor Goes live: step 5 of tutor'));
    await screen.press('enter', 'enter');
    await screen.waitFor('Type tutor');
    expect(sent).toEqual([]);
    await screen.type('tutor');
    await screen.waitFor(text => {
      const words = text.replaceAll(/[│\s]+/g, ' ');
      return [
        'Goes live: step 5 of tutor, held-out 0.412 from 16 samples on words; ',
        'step 10 had 0.900, but has no checkpoint. ',
        'dep_1 (trn_1 step 0, held-out 0.320) serves tutor now and is replaced. Not audited: <Q> on the training run.',
      ].every(part => words.includes(part));
    });
    await screen.press('enter');
    await screen.waitFor(() => sent.length > 0);
    expect(sent).toEqual([{ checkpoint_id: 'ckpt_1', model_slug: 'tutor', role: 'production' }]);
  });

  it.each([
    { columns: 100, rows: 30 },
    { columns: 60, rows: 15 },
  ])('is confirmed again if another deployment serves the slug when it is sent: %j', async size => {
    let serving: Deployment = { ...active, checkpoint_id: 'ckpt_0' };
    let reads = 0;
    const { screen, sent } = openDeploy(size, undefined, {
      listDeployments: async () => {
        reads += 1;
        return pageOf([serving]);
      },
    });
    const says = (words: string) => screen.waitFor(text => text.replaceAll(/[│\s]+/g, ' ').includes(words));
    await screen.waitFor('Deploy step 5 of tutor');
    await screen.press('tab', 'right', 'tab');
    await says('dep_1 (trn_1 step 0, held-out 0.320) serves tutor now and is replaced.');
    serving = { ...serving, deployment_id: 'dep_3', checkpoint_step: 30, checkpoint_id: undefined };
    await screen.type('tutor');
    await screen.press('enter');
    await says('This has changed since you were asked. Nothing was sent: confirm the current state.');
    await says('dep_3 (step 30) serves tutor now and is replaced.');
    expect(sent).toEqual([]);
    // What was typed confirmed something else.
    await screen.press('enter');
    await says('✗ Type tutor');
    expect(sent).toEqual([]);
    await screen.type('tutor');
    const before = reads;
    await screen.press('enter');
    await screen.waitFor(() => sent.length > 0);
    expect(sent).toEqual([{ checkpoint_id: 'ckpt_1', model_slug: 'tutor', role: 'production' }]);
    expect(reads).toBeGreaterThan(before);
  });

  it('is not called free of findings while its audit is being read, or is unreadable (attack29 A1)', async () => {
    const reading = Promise.withResolvers<void>();
    let audits = 0;
    const { screen } = openDeploy(undefined, undefined, {
      getTrainerRewards: () => ({ trainer_rewards: [{ step: 5, trainer_reward: 0.5 }] }),
      getStepTrajectoryRewards: async () => {
        audits += 1;
        if (audits > 1) throw new NetworkError('Not reached.');
        await reading.promise;
        return { trajectory_rewards: [{ task_id: 'a', trajectory_id: 'traj_1', reward: 0.5 }] };
      },
      getTrajectory: () => ({ trajectory_id: 'traj_1', status: 'completed' }),
    });
    const { workbench } = screen;
    const says = (words: string) => screen.waitFor(text => text.replaceAll(/[│\s]+/g, ' ').includes(words));
    await screen.waitFor('Deploy step 5 of tutor');
    const audit = listQuery(workbench, auditList('trn_1', [0, 1]));
    await screen.press('tab', 'right');
    await says('replaced. Not audited: <Q> on the training run.');
    const read = fetchOnce(workbench, audit);
    await screen.press('left', 'right');
    await says('replaced. Not audited: <Q> on the training run.');
    reading.resolve();
    await read;
    await says('replaced. Audit findings: none.');
    await expect(fetchOnce(workbench, audit)).rejects.toThrow('Not reached.');
    // What the audit before found stays true (out30 B1).
    await screen.press('left', 'right');
    await says('replaced. Audit findings: none.');
  });
});
