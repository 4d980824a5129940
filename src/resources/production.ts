/** Deployments in production: which of them a new deployment replaces, and which depend on a training run. */
import { inParallel } from '../base/in-parallel.ts';
import { pushAll } from '../base/many.ts';
import { spelledId } from '../contract/common.ts';
import type { Deployment } from '../contract/deployments.ts';
import { statusMeaning } from '../contract/status.ts';
import type { TrainingRun } from '../contract/training.ts';
import type { Origin } from '../queries/checkpoint-memory.ts';
import { unreadCheckpoints } from '../queries/checkpoint-names.ts';
import { OriginSearch } from '../queries/checkpoint-origins.ts';
import { checkpointsByStep } from '../queries/checkpoints.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { clean } from '../text/sanitise.ts';
import { typeable } from '../text/typed.ts';
import type { Outage } from './action.ts';
import { changedMessage, type Rechecked } from './changes.ts';
import { calledName, deployments, surelyInProduction, withStep } from './deployments.ts';
import { areOfDifferentBenchmarks, patienceMs, readInTime, type TracedDeployment, withOrigin } from './origins.ts';
import { pagesOf } from './pages.ts';
import type { Scope } from './place.ts';

/** Compares slugs case-insensitively, because services store them in lower case. */
const isSameSlug = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** A deployment that enters production. */
export interface Entry {
  readonly slug: string;
  /** Its id, if it already exists. */
  readonly id?: string | undefined;
  /** The deployment that the user chose to demote. */
  readonly demoted?: TracedDeployment | undefined;
  /** Its checkpoint's origin, if known. */
  readonly from_run?: Origin | undefined;
}

/** Notes that a deployment's held-out reward cannot be compared with the entering deployment's. */
const notComparable = ({ from_run }: Entry, { deployment_id, from_run: other }: TracedDeployment): string =>
  areOfDifferentBenchmarks(from_run, other)
    ? clean` Not comparable: ${deployment_id} was trained on another benchmark.`
    : '';

/**
 * Describes the deployment that leaves production: the one that serves the slug now, or the one that the user chose.
 *
 * @param rows the known deployments
 * @param complete whether `rows` is the complete list
 */
export function describeReplaced(entry: Entry, rows: readonly TracedDeployment[], complete: boolean): string {
  const { slug, id, demoted } = entry;
  const ofSlug = rows.filter(row => row.deployment_id !== id && isSameSlug(calledName(row), slug));
  const active = ofSlug.find(surelyInProduction);
  const isKnown = complete && ofSlug.every(row => surelyInProduction(row) === false);
  const replaced = active
    ? `${clean`${withStep(active)} serves ${slug} now and is replaced.`}${notComparable(entry, active)}`
    : isKnown
      ? clean`Nothing serves ${slug} now.`
      : clean`Any deployment that serves ${slug} now is replaced.`;
  if (!demoted) return replaced;
  const chosen = rows.find(({ deployment_id }) => deployment_id === demoted.deployment_id);
  const isActive = chosen ? surelyInProduction(chosen) : complete ? false : undefined;
  const leaving = chosen ?? demoted;
  const [called, served] = [withStep(leaving), calledName(leaving)];
  if (isActive) return `${clean`${called}, which serves ${served}, is demoted.`}${notComparable(entry, leaving)}`;
  if (isActive === false) return clean`${called} no longer serves ${served}. ${replaced}`;
  return `${clean`${called} is demoted, if it still serves ${served}.`}${notComparable(entry, leaving)}`;
}

/** Maximum number of rows to read, because a list may be endless. */
const maxRows = 2_000;

/** Maximum number of deployments to name. */
const maxNamed = 5;

interface Deployments {
  readonly rows: readonly Deployment[];
  /** Why deployments may be missing; undefined if none are. */
  readonly unread: string | undefined;
}

/** Reads the list of deployments again. @param scope their status, if not any @throws AbortError if the user interrupts */
export async function readDeployments(
  context: QueryContext,
  scope: Scope = {},
  late: AbortSignal = AbortSignal.timeout(patienceMs),
): Promise<Deployments> {
  const rows: Deployment[] = [];
  let unread: string | undefined;
  const { why } = await readInTime(
    async reading => {
      for await (const page of pagesOf(deployments, scope, reading)) {
        pushAll(rows, page.rows);
        const isWhole = page.unread.length === 0 && !page.isCutOff && rows.length < maxRows;
        if (page.isRemembered) unread = 'this service does not list deployments';
        else unread = isWhole ? undefined : 'not all deployments could be read';
        if (rows.length >= maxRows) break;
      }
    },
    context,
    late,
  );
  return { rows, unread: why === undefined ? unread : clean`the deployments could not be read: ${why}` };
}

/** The deployment that leaves production, as `describeReplaced` describes it. */
export interface ReplacementText {
  readonly words: string;
  /** The words without origins, which may be read later. */
  readonly plain: string;
}

export function replacement(entry: Entry, rows: readonly TracedDeployment[], complete: boolean): ReplacementText {
  const untraced = (row: TracedDeployment): Deployment => ({ ...row, from_run: undefined });
  const demoted = entry.demoted && untraced(entry.demoted);
  return {
    words: describeReplaced(entry, rows, complete),
    plain: describeReplaced({ ...entry, demoted }, rows.map(untraced), complete),
  };
}

/**
 * Reads the service's list again and describes the deployment that leaves production.
 *
 * @throws AbortError if the user interrupts
 */
export async function replacedNow(
  entry: Entry,
  context: QueryContext,
  search = new OriginSearch(),
): Promise<ReplacementText> {
  const late = AbortSignal.timeout(patienceMs);
  // Ask even if the list cannot be read.
  const { rows, unread } = await readDeployments(context, {}, late);
  const isNamed = (row: Deployment): boolean =>
    row.deployment_id === entry.demoted?.deployment_id ||
    (isSameSlug(calledName(row), entry.slug) && surelyInProduction(row) === true);
  const found = rows.map(async row => (isNamed(row) ? await withOrigin(row, context, search, late) : row));
  return replacement(entry, await Promise.all(found), unread === undefined);
}

/**
 * Reads the service's list again and describes the deployments that now serve the slugs of removed ones. The list may
 * still contain the removed ones. Leaves out a slug if this is unknown.
 *
 * @throws AbortError if the user interrupts
 */
export async function servedNow(removed: readonly Deployment[], context: QueryContext): Promise<string> {
  const { rows, unread } = await readDeployments(context);
  const others = rows.filter(row => removed.every(({ deployment_id }) => deployment_id !== row.deployment_id));
  return [...new Set(removed.map(calledName))]
    .flatMap(slug => {
      const ofSlug = others.filter(row => isSameSlug(calledName(row), slug));
      const active = ofSlug.find(surelyInProduction);
      if (active) return clean`${withStep(active)} serves ${slug} now.`;
      const isKnown = unread === undefined && ofSlug.every(row => surelyInProduction(row) === false);
      return isKnown ? clean`Nothing serves ${slug} now.` : [];
    })
    .join(' ');
}

/** Reads again what leaves production. A confirmation holds if it named everything that would be replaced now. */
export async function recheckReplaced(
  entry: Entry,
  { plain }: ReplacementText,
  context: QueryContext,
): Promise<Rechecked<ReplacementText>> {
  const now = await replacedNow(entry, context);
  const holds = plain === now.plain || (!entry.demoted && plain === describeReplaced(entry, [], false));
  return { now, objection: holds ? undefined : changedMessage };
}

const production = Symbol('in production');

/** A training run, with those deployments of its checkpoints that are in production. */
type RunInProduction = TrainingRun & { readonly [production]?: readonly Outage[] };

/** The slugs that this training run's checkpoints serve, from `withRunsInProduction`. */
export const outagesOfRun = (run: RunInProduction): readonly Outage[] =>
  run[production] ?? [doubtOf(run, 'the deployments were not read')];

const doubtOf = ({ display_name, training_run_id }: TrainingRun, origin: string): Outage => ({
  slug: typeable(display_name, training_run_id),
  isCertain: false,
  origin,
});

/** Whether a deployment will serve its slug once it is up. */
const isEntering = ({ role, status }: Deployment): boolean =>
  role === 'production' && ['running', 'waiting'].includes(statusMeaning(status ?? ''));

/** An entry for a list of deployments in production. */
const outageWord = (row: Deployment): string =>
  clean`${calledName(row)} by ${withStep(row)}${isEntering(row) ? ', still being deployed' : ''}`;

/** Adds to training runs the deployments of their checkpoints. @throws AbortError if the user interrupts */
export async function withRunsInProduction(
  runs: readonly TrainingRun[],
  context: QueryContext,
): Promise<readonly RunInProduction[]> {
  const late = AbortSignal.timeout(patienceMs);
  const { rows, unread } = await readDeployments(context, {}, late);
  const serving = rows.filter(row => surelyInProduction(row) !== false || isEntering(row));
  const found: RunInProduction[] = [...runs];
  await inParallel(runs.entries(), async ([index, run]) => {
    const own = serving.length === 0 ? { sure: [], doubt: undefined } : await servingOf(run, serving, context, late);
    const doubts = [unread, own.doubt].filter(each => each !== undefined);
    const sure = own.sure.map(row => ({
      slug: calledName(row),
      isCertain: !isEntering(row),
      origin: outageWord(row),
    }));
    const outages = [...sure, ...(doubts.length === 0 ? [] : [doubtOf(run, doubts.join(', and '))])];
    found[index] = { ...run, [production]: outages };
  });
  return found;
}

/** Finds the deployments that serve a checkpoint of the run, and describes those that might. @throws AbortError */
async function servingOf(
  run: TrainingRun,
  serving: readonly Deployment[],
  context: QueryContext,
  late: AbortSignal,
): Promise<{ readonly sure: readonly Deployment[]; readonly doubt: string | undefined }> {
  const read = ({ service, signal }: QueryContext) => checkpointsByStep(service, run.training_run_id, { signal });
  const { answer: checkpoints = [], why: unread = unreadCheckpoints(checkpoints) } = await readInTime(
    read,
    context,
    late,
  );
  const ids = new Set(checkpoints.map(({ checkpoint_id }) => spelledId(checkpoint_id)));
  const steps = new Set(checkpoints.map(({ step_index }) => step_index));
  const servesRun = ({ checkpoint_id: id, checkpoint_step: step, base_model_slug: base }: Deployment) => {
    const isKnown = id != null && ids.has(spelledId(id));
    if (isKnown || (id != null && unread === undefined)) return isKnown;
    // Some services do not report the checkpoint.
    const differs = base != null && run.base_model_slug != null && base !== run.base_model_slug;
    return differs || (step != null && unread === undefined && !steps.has(step)) ? false : undefined;
  };
  const sure = serving.filter(row => servesRun(row) === true && (surelyInProduction(row) === true || isEntering(row)));
  const unsure = serving.filter(row => servesRun(row) !== false && !sure.includes(row));
  if (unsure.length === 0) return { sure, doubt: undefined };
  const named = unsure.slice(0, maxNamed).map(outageWord);
  const more = unsure.length > maxNamed ? ` and ${unsure.length - maxNamed} more` : '';
  const why = unread === undefined ? '' : clean`, because not all of its checkpoints could be read (${unread})`;
  return { sure, doubt: `${named.join(', ')}${more} may belong to it${why}` };
}
