/** Deployments: checkpoints that are being served. */
import { pushAll } from '../base/many.ts';
import { trimEnd } from '../base/trim.ts';
import type { Deployment } from '../contract/deployments.ts';
import { isUnreadable } from '../contract/lists.ts';
import { modelSlug } from '../contract/model-slug.ts';
import { knownDeploymentStatuses, statusMeaning } from '../contract/status.ts';
import { type Column, idColumn, plainColumn, statusColumn } from '../present/column.ts';
import type { CommandTable } from '../present/command.ts';
import { type Fact, failureFacts, referenceFact, statusFact } from '../present/fact.ts';
import type { Range } from '../present/statistics/tasks.ts';
import { instantFact, timeColumn, timeFact } from '../present/times.ts';
import { knownOrigin } from '../queries/checkpoint-memory.ts';
import { OriginSearch } from '../queries/checkpoint-origins.ts';
import {
  deploymentKeys,
  deploymentList,
  deploymentQuery,
  deploymentsWithStatus,
  keptRecord,
  promote,
  undeploy,
  unpromote,
} from '../queries/deployments.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { isGone } from '../service/errors.ts';
import { rememberedAt } from '../store/seen.ts';
import { clean, sanitiseLine } from '../text/sanitise.ts';
import { typeable } from '../text/typed.ts';
import { fitCells } from '../text/width.ts';
import { type ActionTable, all, type ChangeEnd, type Outage, single } from './action.ts';
import { defineResource, type WholeFacts } from './define.ts';
import { withHeldOutPoint } from './held-out-fields.ts';
import {
  ignoreFailure,
  originColumnIds,
  originColumns,
  originFacts,
  originIfRead,
  originMeasured,
  patienceMs,
  servedBefore,
  servedBeforeFact,
  type TracedDeployment,
  withOrigins,
} from './origins.ts';
import { pagesOf } from './pages.ts';

/** The role in words. A deployment that no longer serves its slug keeps the production role. */
export function formatRole({ role, status, is_active }: Deployment): string {
  const isDemoted = role === 'production' && status === 'DEPLOYED' && is_active === false;
  return isDemoted ? 'demoted' : (role ?? '');
}

const deploymentColumns: readonly Column<Deployment>[] = [
  plainColumn('slug', 'DEPLOYMENT', { min: 12, max: 40, grow: 2 }, row => row.model_slug ?? row.deployment_id, {
    field: 'model_slug',
  }),
  statusColumn(row => row.status, { field: 'status', known: knownDeploymentStatuses }),
  plainColumn('active', 'ACTIVE', 6, row => (row.is_active ? 'yes' : ''), {
    text: row => (row.is_active ? 'yes' : isUnreadable(row, 'is_active') ? '?' : ''),
  }),
  plainColumn('role', 'ROLE', { min: 10, max: 14, grow: 1 }, row => formatRole(row) || undefined),
  plainColumn('step', 'STEP', 5, row => row.checkpoint_step, { field: 'checkpoint_step', align: 'right' }),
  plainColumn('base', 'BASE MODEL', { min: 10, max: 36, grow: 1 }, row => row.base_model_slug, {
    field: 'base_model_slug',
    wide: true,
    cutAt: 'start',
  }),
  timeColumn('updated', 'CHANGED', row => row.updated_at ?? row.created_at),
  { id: 'by', title: 'BY', width: { min: 8, max: 24, grow: 1 }, wide: true, value: row => row.created_by ?? undefined },
  idColumn(row => row.deployment_id),
];

/**
 * The declared columns and the columns for the origin, which distinguish deployments with the same slug.
 *
 * @param isUnread whether a row's origin has not been read yet
 */
export function tracedColumns(
  range: Range,
  isUnread?: (row: TracedDeployment) => boolean,
): readonly Column<TracedDeployment>[] {
  const { run, benchmark, heldOut, interval } = originColumns(range, isUnread);
  const [slug, status, active, role, step, ...others] = deploymentColumns;
  return [slug, run, status, active, step, heldOut, interval, benchmark, role, ...others].filter(
    column => column !== undefined,
  );
}

/** The model that a deployment serves, and the deployment's role. */
function servedFacts(deployment: TracedDeployment, range?: Range): readonly Fact[] {
  const { is_active } = deployment;
  return [
    { label: 'role', value: formatRole(deployment) || undefined },
    { label: 'active', value: is_active == null ? undefined : is_active ? 'yes, serves its slug' : 'no' },
    referenceFact('base model', 'models', deployment.base_model_slug),
    { label: 'step', value: deployment.checkpoint_step },
    ...originFacts(deployment, range),
    referenceFact('checkpoint', 'checkpoints', deployment.checkpoint_id, deployment.from_run?.training_run_id),
  ];
}

/** The facts that distinguish deployments in little space: the model, and when it was deployed. */
export const shortFacts = (deployment: Deployment): readonly Fact[] => [
  ...servedFacts(deployment),
  timeFact('deployed', deployment.completed_at),
];

/**
 * @param before the deployment that previously served the slug, if known
 * @param range the range of rewards in the settings
 */
export function deploymentFacts(
  deployment: TracedDeployment,
  before?: TracedDeployment,
  range?: Range,
): readonly Fact[] {
  return [
    { label: 'slug', value: deployment.model_slug },
    { label: 'id', value: deployment.deployment_id },
    statusFact('status', deployment.status),
    instantFact('seen', rememberedAt(deployment)),
    ...failureFacts(deployment.failure),
    ...servedFacts(deployment, range),
    servedBeforeFact(before),
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

/** The facts, including the origin and, if the deployment is active, the deployment it replaced. */
async function withWholeOrigin(deployment: Deployment, context: QueryContext): Promise<WholeFacts> {
  const search = new OriginSearch();
  const trace = async (row: Deployment): Promise<TracedDeployment> => {
    const from_run = await originIfRead(row, context, search);
    return from_run ? { ...row, from_run } : row;
  };
  const whole = await trace(deployment);
  const rows: Deployment[] = [];
  try {
    // Only an active deployment may have replaced another.
    const pages = deployment.is_active ? pagesOf(deployments, {}, context) : [];
    for await (const page of pages) pushAll(rows, page.rows);
  } catch (error) {
    ignoreFailure(error, context);
  }
  const before = servedBefore(deployment, rows);
  const { from_run } = whole;
  const range = context.compare?.rewardRange;
  return {
    facts: deploymentFacts(whole, before && (await trace(before)), range),
    ...(from_run && { fields: { from_run: withHeldOutPoint(from_run, range) } }),
  };
}

const group = 'Deployment';

/** Whether it serves its slug. Services without `is_active` send a role instead. */
export function isInProduction({ is_active, role, status }: Deployment): boolean {
  return is_active ?? (role === 'production' && status === 'DEPLOYED');
}

/** Like `isInProduction`, but undefined if uncertain: the row was only remembered, or was not read in full. */
export function surelyInProduction(row: Deployment): boolean | undefined {
  if (rememberedAt(row) !== undefined || isUnreadable(row, 'is_active')) return undefined;
  if (isInProduction(row)) return true;
  const isTest = row.role === 'test';
  const mayBeDeployed = ['success', 'unknown'].includes(statusMeaning(row.status ?? ''));
  return row.is_active === false || isTest || !mayBeDeployed ? false : undefined;
}

/** A checkpoint's deployments. */
export interface Deployed {
  /** The slugs, in words. */
  readonly deployed: string;
  /** The id of the first deployment. */
  readonly deployment_id: string;
}

/**
 * The slugs under which a checkpoint is deployed, those in production first and marked; undefined if there are none.
 * Ignores remembered deployments, which may have ended.
 */
export function deployedAs(checkpointId: string, rows: readonly Deployment[]): Deployed | undefined {
  const served = rows.filter(
    row => row.checkpoint_id === checkpointId && row.status === 'DEPLOYED' && rememberedAt(row) === undefined,
  );
  const isActive = (row: Deployment): boolean => surelyInProduction(row) === true;
  const sorted = [...served.filter(isActive), ...served.filter(row => !isActive(row))];
  const [first] = sorted;
  const words = sorted.map(row => `${isActive(row) ? 'production: ' : ''}${calledName(row)}`);
  return first && { deployed: words.join('; '), deployment_id: first.deployment_id };
}

/** A deployment's name in sentences and confirmations: its slug, or its id if the slug is blank. */
export const calledName = ({ model_slug, deployment_id }: Deployment): string => typeable(model_slug, deployment_id);

/** The name to use for chatting with a deployment. An inactive one does not serve its slug. */
export const chatName = ({ is_active, model_slug, deployment_id }: Deployment): string =>
  (is_active ? model_slug : undefined) ?? deployment_id;

/** The slug with the id and the step, because deployments may share a slug. */
const slugAndId = (row: Deployment): string => `${calledName(row)}, ${withStep(row)}`;

/** Adds the origins, which `slugAndId` names. */
const withNames = (rows: readonly Deployment[], context: QueryContext): Promise<readonly Deployment[]> =>
  withOrigins(rows, new Set(originColumnIds), context, { silentMs: patienceMs, onUnread: () => {} });

/** The slug that a deployment serves, or may serve. */
function outagesOf(row: Deployment): readonly Outage[] {
  const isActive = surelyInProduction(row);
  if (isActive === false) return [];
  return [{ slug: calledName(row), isCertain: isActive === true, isTest: row.role === 'test' }];
}

/** The final states of an undeployment, for which the service has no status. */
const [gone, inactive] = ['gone', 'inactive'];

/** A deployment is undeployed once the service no longer has it, or has made it inactive. */
const untilUndeployed: ChangeEnd<Deployment> = {
  isDone: status => status === gone || status === inactive || statusMeaning(status) === 'stopped',
  isLast: (status, before) => statusMeaning(status) === 'failure' && status !== before.status,
  readStatus: async ({ deployment_id, is_active: wasActive }, service, signal) => {
    try {
      const { status, is_active } = await service.call('getDeployment', { params: { deployment_id } }, { signal });
      const wasDemoted = wasActive === true && is_active === false;
      return wasDemoted && statusMeaning(status ?? '') !== 'stopping' ? inactive : (status ?? undefined);
    } catch (error) {
      // The path has worked before, so this 404 is about the record.
      if (isGone(error)) return gone;
      throw error;
    }
  },
};

/** For actions on a single deployment that is up. */
function singleServed(rows: readonly Deployment[]): readonly Deployment[] | string {
  const one = single(rows);
  return typeof one === 'string' || one[0]?.status === 'DEPLOYED' ? one : 'It is not deployed';
}

export const deploymentActions = {
  chat: {
    id: 'deployment.chat',
    title: 'chat with it',
    keys: ['t'],
    group,
    hint: 'chat',
    rank: 'main',
    appliesTo: singleServed,
    opens: ([one]) => ({ view: 'chat', model: one ? chatName(one) : '' }),
  },
  promote: {
    id: 'deployment.promote',
    title: 'promote it: serve its slug',
    keys: ['e'],
    group,
    writes: true,
    appliesTo: rows => (rows.length === 1 && rows[0]?.is_active ? 'It already serves its slug' : singleServed(rows)),
    opens: () => 'promote',
    sends: {
      command: 'promote',
      send: promote,
      prints: ['promoteDeployment'],
      describeEffect: (row: Deployment, called: string) => clean`This makes ${called} serve ${calledName(row)}.`,
    },
  },
  unpromote: {
    id: 'deployment.unpromote',
    title: 'stop it from serving its slug',
    keys: ['u'],
    group,
    writes: true,
    appliesTo: rows => {
      const [row] = rows;
      return rows.length === 1 && row && surelyInProduction(row) === false
        ? 'It does not serve its slug'
        : single(rows);
    },
    change: {
      send: unpromote,
      verb: 'unpromote',
      participle: 'unpromoted',
      consequence: 'it stays deployed, and can be reached by its id.',
      nameOfRow: slugAndId,
      withNames,
      confirmTitle: () => 'Stop this deployment from answering?',
      successMessage: names => `${names} no longer answers`,
      outages: outagesOf,
    },
  },
  undeploy: {
    id: 'deployment.undeploy',
    title: 'undeploy',
    keys: ['d'],
    group,
    writes: true,
    destructive: true,
    appliesTo: all,
    change: {
      send: undeploy,
      verb: 'undeploy',
      participle: 'undeployed',
      nameOfRow: slugAndId,
      withNames,
      consequence: 'serving ends and the record is deleted. The checkpoint stays. This cannot be undone.',
      confirmTitle: count => (count === 1 ? 'Undeploy?' : `Undeploy ${count} deployments?`),
      partialOutcome: answer => (keptRecord(answer) ? 'torn down; the service kept its record' : undefined),
      outages: outagesOf,
      command: 'undeploy',
      listedBy: 'listDeployments',
      waitUntil: untilUndeployed,
    },
  },
} as const satisfies ActionTable<Deployment>;

export const deploymentCommands = {
  deploy: { id: 'deployment.deploy', title: 'deploy a checkpoint', keys: ['D'], group, hint: 'deploy', writes: true },
} as const satisfies CommandTable;

export const deployments = defineResource<Deployment>({
  names: ['deployments', 'deployment', 'deploy', 'dep', 'd'],
  order: 50,
  idPattern: /^dep[_-]/,
  kind: 'deployment',
  scopes: ['status'],
  list: ({ status }) => (status === undefined ? deploymentList : deploymentsWithStatus(status)),
  get: deploymentQuery,
  columns: deploymentColumns,
  measures: {
    columns: (_, range) => tracedColumns(range),
    costly: originColumnIds,
    exported: (row: TracedDeployment, range) =>
      row.from_run ? { ...row, from_run: withHeldOutPoint(row.from_run, range) } : row,
    read: withOrigins,
  },
  facts: row => deploymentFacts(row),
  wholeFacts: withWholeOrigin,
  label: row => row.model_slug,
  servesLabel: row => surelyInProduction(row) === true,
  actions: deploymentActions,
  commands: deploymentCommands,
  watch: {
    runs: true,
    apart: (record, isOld, memory) => {
      const row = record as Deployment;
      const active = !isOld && surelyInProduction(row) === true ? 'active' : '';
      const step = row.checkpoint_step == null ? '' : `step ${row.checkpoint_step}`;
      const from = knownOrigin(row.checkpoint_id, memory);
      const origin = from
        ? [fitCells(from.display_name, longestOrigin).trimEnd(), step].filter(Boolean).join(' ')
        : step;
      const words = (what: string): string => [what, active].filter(Boolean).join(', ');
      return [words(origin), words(step)];
    },
    shownIn: id => [deploymentKeys.list, deploymentKeys.one(id), deploymentKeys.summary],
  },
  emptyAdvice: { command: deploymentCommands.deploy, words: 'on a training run deploys its last checkpoint' },
});

/** Maximum width of a training run's name next to a slug, in cells. */
const longestOrigin = 16;

/** `dep_1 (words step 20, held-out 0.412)`; the step alone if the origin has not been read. */
export function withStep({ deployment_id, checkpoint_step, from_run }: TracedDeployment): string {
  const step = checkpoint_step == null ? '' : `step ${checkpoint_step}`;
  const what = from_run ? originMeasured(from_run) : step;
  return what === '' ? sanitiseLine(deployment_id) : clean`${deployment_id} (${what})`;
}

/** Derives a slug from a name: invalid characters become dashes. */
export function slugOf(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+/, '');
  return trimEnd(words, '-').slice(0, modelSlug.maximum);
}
