/** Deployments: checkpoints that are served. */
import { type Deployment, knownDeploymentStatuses, modelSlug } from '../contract/deployments.ts';
import type { Column } from '../present/column.ts';
import type { CommandTable } from '../present/command.ts';
import { type Fact, failureFacts, statusFact } from '../present/fact.ts';
import { instantFact, timeColumn, timeFact } from '../present/times.ts';
import { deploymentKeys, deploymentList, deploymentQuery, deploymentsWithStatus } from '../queries/deployments.ts';
import { rememberedAt } from '../queries/remembered/seen.ts';
import { typeable } from '../text/typed.ts';
import { defineResource } from './define.ts';
import { readOf } from './watching.ts';

export const deploymentColumns: readonly Column<Deployment>[] = [
  {
    id: 'slug',
    title: 'DEPLOYMENT',
    field: 'model_slug',
    width: { min: 12, max: 40, grow: 2 },
    value: row => row.model_slug ?? row.deployment_id,
  },
  { id: 'status', title: 'STATUS', field: 'status', width: 12, value: row => row.status ?? 'unknown', status: true },
  { id: 'active', title: 'ACTIVE', width: 6, value: row => (row.is_active ? 'yes' : '') },
  { id: 'role', title: 'ROLE', field: 'role', width: 10, value: row => row.role ?? undefined },
  {
    id: 'step',
    title: 'STEP',
    field: 'checkpoint_step',
    width: 5,
    align: 'right',
    value: row => row.checkpoint_step ?? undefined,
  },
  {
    id: 'base',
    title: 'BASE MODEL',
    field: 'base_model_slug',
    width: { min: 10, max: 36, grow: 1 },
    wide: true,
    cutAt: 'start',
    value: row => row.base_model_slug ?? undefined,
  },
  timeColumn('updated', 'CHANGED', row => row.updated_at ?? row.created_at),
  { id: 'by', title: 'BY', width: { min: 8, max: 24, grow: 1 }, wide: true, value: row => row.created_by ?? undefined },
  { id: 'id', title: 'ID', width: { min: 12, max: 40, grow: 1 }, wide: true, value: row => row.deployment_id },
];

export function deploymentFacts(deployment: Deployment): readonly Fact[] {
  const { is_active } = deployment;
  return [
    { label: 'slug', value: deployment.model_slug },
    { label: 'id', value: deployment.deployment_id },
    statusFact('status', deployment.status ?? 'unknown'),
    instantFact('seen', rememberedAt(deployment)),
    ...failureFacts(deployment.failure),
    { label: 'role', value: deployment.role },
    { label: 'active', value: is_active == null ? undefined : is_active ? 'yes, answers for its slug' : 'no' },
    { label: 'base model', value: deployment.base_model_slug },
    { label: 'step', value: deployment.checkpoint_step },
    { label: 'checkpoint', value: deployment.checkpoint_id },
    { label: 'model', value: deployment.model_id },
    { label: 'endpoint', value: deployment.playground_endpoint_url },
    { label: 'endpoint id', value: deployment.model_endpoint_id },
    { label: 'speed', value: deployment.output_speed },
    { label: 'concurrency', value: deployment.expected_concurrency },
    { label: 'merge job', value: deployment.merge_xid },
    { label: 'deploy job', value: deployment.deploy_xid },
    { label: 'slug id', value: deployment.model_slug_id },
    { label: 'by', value: deployment.created_by },
    timeFact('requested', deployment.created_at),
    timeFact('deployed', deployment.completed_at),
    timeFact('changed', deployment.updated_at),
  ];
}

const group = 'Deployment';

export const deploymentCommands = {
  deploy: { id: 'deployment.deploy', title: 'deploy a checkpoint', keys: ['D'], group, hint: 'deploy', writes: true },
  chat: { id: 'deployment.chat', title: 'chat with it', keys: ['t'], group, hint: 'chat' },
  promote: { id: 'deployment.promote', title: 'promote it: answer for its slug', keys: ['e'], group, writes: true },
  unpromote: {
    id: 'deployment.unpromote',
    title: 'stop it from answering for its slug',
    keys: ['u'],
    group,
    writes: true,
  },
  undeploy: { id: 'deployment.undeploy', title: 'undeploy', keys: ['d'], group, writes: true, destructive: true },
} as const satisfies CommandTable;

export const deployments = defineResource<Deployment>({
  names: ['deployments', 'deployment', 'deploy', 'dep', 'd'],
  order: 50,
  idPattern: /^dep[_-]/,
  kind: 'deployment',
  scopes: ['status'],
  statuses: knownDeploymentStatuses,
  list: ({ status }) => (status === undefined ? deploymentList : deploymentsWithStatus(status)),
  get: deploymentQuery,
  columns: deploymentColumns,
  facts: deploymentFacts,
  label: row => row.model_slug,
  commands: deploymentCommands,
  watch: {
    status: id => [readOf(deploymentQuery(id))],
    running: deploymentList,
    shownIn: id => [deploymentKeys.list, deploymentKeys.one(id), deploymentKeys.summary],
  },
  emptyAdvice: { command: deploymentCommands.deploy, words: 'on a training run deploys its last checkpoint' },
});

/** Whether it answers for its slug. A service that does not say which deployment is active says its role. */
export function isInProduction({ is_active, role, status }: Deployment): boolean {
  return is_active ?? (role === 'production' && status === 'DEPLOYED');
}

/** What a deployment is called in sentences, and where it has to be typed: its slug, or its id if that shows nothing. */
export const calledName = ({ model_slug, deployment_id }: Deployment): string => typeable(model_slug, deployment_id);

/** A deployment by its id, with the step that it serves. */
export const withStep = ({ deployment_id, checkpoint_step }: Deployment): string =>
  checkpoint_step == null ? deployment_id : `${deployment_id} (step ${checkpoint_step})`;

/** Whether two slugs are the same: services store them in lower case. */
const isSameSlug = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/**
 * What answers for a slug now, in words, and is replaced by another deployment.
 *
 * @param rows the deployments as far as they are known
 * @param complete whether these are all of them
 * @param except a deployment that is left out
 */
export function replacedWords(slug: string, rows: readonly Deployment[], complete: boolean, except = ''): string {
  const active = rows.find(
    row => row.deployment_id !== except && isSameSlug(calledName(row), slug) && isInProduction(row),
  );
  if (active) {
    return `${withStep(active)} answers for ${slug} now and is replaced.`;
  }
  return complete ? `Nothing answers for ${slug} now.` : `What answers for ${slug} now, if anything, is replaced.`;
}

/** Derives a slug from a name: characters that are not allowed become a dash. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, modelSlug.maximum);
}
