/** Deployments of checkpoints under slugs. At most one deployment per slug is active. */
import type { DeploymentListQuery } from '../../contract/deployments.ts';
import type { Database } from './database.ts';
import { newId, now } from './ids.ts';
import { readPage } from './list-page.ts';
import type { DeploymentRow, Failure } from './records.ts';

const deploymentList = {
  table: 'deployments',
  id: 'deployment_id',
  sorts: {
    created_at: 'created_at',
    updated_at: "coalesce(updated_at, '')",
    model_slug: 'model_slug',
    status: 'status',
    role: 'role',
  },
  searches: ['model_slug', 'deployment_id', 'status', "coalesce(base_model_slug, '')"],
} as const;

type Moved = Partial<Pick<DeploymentRow, 'model_id' | 'base_model_slug' | 'checkpoint_step' | 'weights_hash'>>;

/** A deployment that does not serve its slug, with the name of its training run, if that still exists. */
export type InactiveDeployment = DeploymentRow & { readonly run_name: string | null };

export class DeploymentStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  create(
    organizationId: string,
    request: Pick<
      DeploymentRow,
      'checkpoint_id' | 'model_slug' | 'role' | 'output_speed' | 'expected_concurrency' | 'created_by'
    >,
  ): DeploymentRow {
    const known = this.#database.get<{ model_slug_id: string }>(
      'select model_slug_id from deployments where organization_id = ? and model_slug = ?',
      organizationId,
      request.model_slug,
    );
    const row = {
      deployment_id: newId('deployment'),
      organization_id: organizationId,
      model_slug_id: known?.model_slug_id ?? newId('modelSlug'),
      status: 'PENDING' as const,
      is_active: 0,
      model_id: null,
      base_model_slug: null,
      checkpoint_step: null,
      merge_xid: newId('job'),
      deploy_xid: newId('job'),
      weights_hash: null,
      failure: null,
      leaving: 0,
      created_at: now(),
      updated_at: null,
      completed_at: null,
      ...request,
    };
    this.#database.insert('deployments', row);
    return row;
  }

  get(organizationId: string, deploymentId: string): DeploymentRow | undefined {
    return this.#database.get<DeploymentRow>(
      'select * from deployments where deployment_id = ? and organization_id = ? and leaving = 0',
      deploymentId,
      organizationId,
    );
  }

  list(organizationId: string, { status, ...query }: DeploymentListQuery) {
    const where = { organization_id: organizationId, leaving: 0, status };
    return readPage<DeploymentRow>(this.#database, deploymentList, where, query);
  }

  /** Deployment counts by status, in the formats of two generations. */
  summary(organizationId: string) {
    const rows = this.#database.all<{ status: string; count: number; active: number }>(
      `select status, count(*) as count, sum(is_active) as active from deployments
       where organization_id = ? and leaving = 0 group by status`,
      organizationId,
    );
    const by_status = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    const { PENDING = 0, MERGING = 0, DEPLOYING = 0, DEPLOYED = 0, FAILED = 0 } = by_status;
    return {
      total: rows.reduce((sum, { count }) => sum + count, 0),
      active: rows.reduce((sum, { active }) => sum + active, 0),
      by_status,
      pending: PENDING,
      deploying: MERGING + DEPLOYING,
      deployed: DEPLOYED,
      failed: FAILED,
    };
  }

  /** Deployments in progress, oldest first, including a killed process's deployments. */
  inProgress(): DeploymentRow[] {
    return this.#database.all<DeploymentRow>(
      `select * from deployments where status in ('PENDING', 'MERGING', 'DEPLOYING') and leaving = 0
       order by rowid`,
    );
  }

  /** All organizations' deployments that are up. */
  deployed(): DeploymentRow[] {
    return this.#database.all<DeploymentRow>("select * from deployments where status = 'DEPLOYED' and leaving = 0");
  }

  /** The deployments that answer chats for an organization, newest first. */
  answering(organizationId: string): DeploymentRow[] {
    return this.#database.all<DeploymentRow>(
      `select * from deployments where organization_id = ? and status = 'DEPLOYED' and leaving = 0
       order by created_at desc, deployment_id`,
      organizationId,
    );
  }

  undeploying(): DeploymentRow[] {
    return this.#database.all<DeploymentRow>('select * from deployments where leaving = 1');
  }

  /** Advances a deployment. Returns whether it still exists. */
  move(deploymentId: string, status: 'MERGING' | 'DEPLOYING', moved: Moved = {}): boolean {
    const fields = Object.keys(moved)
      .map(name => `, ${name} = ?`)
      .join('');
    return (
      this.#database.run(
        `update deployments set status = ?, updated_at = ?${fields} where deployment_id = ? and leaving = 0`,
        status,
        now(),
        ...Object.values(moved),
        deploymentId,
      ) > 0
    );
  }

  /**
   * Completes a deployment. If its role is still production, it becomes active for its slug, unless a later request's
   * deployment is already active: a crash or a full disk may delay the earlier one.
   */
  deploy(deploymentId: string): void {
    this.#database.transaction(() => {
      const deployed = this.#database.get<DeploymentRow>(
        `update deployments set status = 'DEPLOYED', updated_at = ?1, completed_at = coalesce(completed_at, ?1)
         where deployment_id = ?2 and leaving = 0 returning *`,
        now(),
        deploymentId,
      );
      if (deployed?.role === 'production' && !this.#isSuperseded(deployed)) this.#activate(deployed);
    });
  }

  /** Compares row ids, because two requests may have been made at the same time. */
  #isSuperseded({ organization_id, model_slug, deployment_id }: DeploymentRow): boolean {
    const later = this.#database.get(
      `select 1 from deployments where organization_id = ?1 and model_slug = ?2 and is_active = 1
       and rowid > (select rowid from deployments where deployment_id = ?3)`,
      organization_id,
      model_slug,
      deployment_id,
    );
    return later !== undefined;
  }

  /** Returns whether it still existed. */
  fail(deploymentId: string, failure: Failure): boolean {
    const sql = `update deployments set status = 'FAILED', is_active = 0, failure = ?, updated_at = ?
       where deployment_id = ? and leaving = 0`;
    return this.#database.run(sql, JSON.stringify(failure), now(), deploymentId) > 0;
  }

  #activate({ organization_id, model_slug, deployment_id }: DeploymentRow): void {
    const updated_at = now();
    this.#database.run(
      `update deployments set is_active = 0, updated_at = ? where organization_id = ? and model_slug = ? and is_active = 1
       and deployment_id <> ?`,
      updated_at,
      organization_id,
      model_slug,
      deployment_id,
    );
    this.#database.run(
      "update deployments set is_active = 1, role = 'production', updated_at = ? where deployment_id = ?",
      updated_at,
      deployment_id,
    );
  }

  /** Makes a deployment active for its slug, and the previous one inactive; also demotes another one if given. */
  promote(deployment: DeploymentRow, demotedId?: string): void {
    this.#database.transaction(() => {
      if (demotedId !== undefined) this.unpromote(demotedId);
      this.#activate(deployment);
    });
  }

  /** Makes a deployment a test deployment, which answers only under its id, even if it is still in progress. */
  unpromote(deploymentId: string): void {
    this.#database.run(
      "update deployments set is_active = 0, role = 'test', updated_at = ? where deployment_id = ?",
      now(),
      deploymentId,
    );
  }

  /** A slug's active deployment, or the one with this id. */
  serving(organizationId: string, name: string): DeploymentRow | undefined {
    return this.#database.get<DeploymentRow>(
      `select * from deployments where organization_id = ?1 and status = 'DEPLOYED' and leaving = 0
       and (deployment_id = ?2 or (model_slug = lower(?2) and is_active = 1))`,
      organizationId,
      name,
    );
  }

  /** The deployments with this slug or id, the newest last. */
  inactive(organizationId: string, name: string): readonly InactiveDeployment[] {
    return this.#database.all<InactiveDeployment>(
      `select deployments.*, display_name as run_name from deployments
       left join checkpoints using (checkpoint_id) left join training_runs using (training_run_id)
       where deployments.organization_id = ?1 and leaving = 0 and (deployment_id = ?2 or model_slug = lower(?2))
       order by deployments.created_at, deployments.rowid`,
      organizationId,
      name,
    );
  }

  /** Hides the deployment immediately; it is deleted no later than the next start. */
  beginUndeploy(deploymentId: string): void {
    this.#database.run('update deployments set leaving = 1, is_active = 0 where deployment_id = ?', deploymentId);
  }

  delete(deploymentId: string): boolean {
    return this.#database.run('delete from deployments where deployment_id = ?', deploymentId) > 0;
  }

  /** Ids of all deployments, for finding orphaned files. */
  allIds(): string[] {
    return this.#database
      .all<{ deployment_id: string }>('select deployment_id from deployments')
      .map(row => row.deployment_id);
  }
}
