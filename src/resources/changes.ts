/** Changes to rows: confirms them, checks that the confirmation still holds, and sends them. */

import { asError } from '../base/errors.ts';
import { inParallel } from '../base/in-parallel.ts';
import { type Action, action as actionOf } from '../queries/action.ts';
import type { LiveQuery } from '../queries/live-query.ts';
import type { QueryContext } from '../queries/query-context.ts';
import { describeError, isGone } from '../service/errors.ts';
import { clean } from '../text/sanitise.ts';
import type { ChangeAction } from './action.ts';
import { outagesOf } from './change-messages.ts';
import { idOf, labelOf, type ResourceOf } from './define.ts';
import { readInTime } from './origins.ts';

/** The current state of what the user confirmed. */
export interface Rechecked<Shown> {
  readonly now: Shown;
  /** Why it must be confirmed again; undefined if the confirmation still holds. */
  readonly objection: string | undefined;
}

/** Shown before the new question. */
export const changedMessage = 'This has changed since you were asked. Nothing was sent: confirm the current state.';

/**
 * Asks until the confirmation holds. @param ask throws unless the user confirms @param again reads the current state
 */
export async function confirmed<Shown>(
  shown: Shown,
  ask: (shown: Shown) => Promise<void>,
  again: (shown: Shown) => Promise<Rechecked<Shown>>,
  note: (objection: string) => void,
): Promise<void> {
  await ask(shown);
  const { now, objection } = await again(shown);
  if (objection === undefined) return;
  note(objection);
  await confirmed(now, ask, again, note);
}

/** A row in the state that the confirmation showed, with the change to it. */
export interface ConfirmedRow<Row extends object> {
  readonly resource: Pick<ResourceOf<Row>, 'get' | 'label' | 'list'>;
  readonly action: Pick<ChangeAction<Row>, 'change' | 'destructive'>;
  readonly row: Row;
}

/** Whether a change deletes something, or may take something out of production. */
const isRechecked = ({ action: { change, destructive } }: Pick<ConfirmedRow<object>, 'action'>): boolean =>
  destructive === true || change.outages !== undefined;

/** Whether it is certain what a change to a row takes out of production. */
export const isCertain = (each: Pick<ConfirmedRow<object>, 'action' | 'row'>): boolean =>
  outagesOf([each]).every(outage => outage.isCertain);

/** The fields of a row that have a value. */
const knownOf = <Row extends object>(row: Row): object =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value != null));

/**
 * Whether a row's name has changed since the confirmation. A field that only one version has does not count as a
 * change.
 */
function isRenamed<Row extends object>({ resource, action, row }: ConfirmedRow<Row>, now: Row): boolean {
  const nameOf = action.change.nameOfRow ?? ((each: Row) => labelOf(resource, each));
  const [before, after] = [knownOf(row), knownOf(now)];
  return nameOf({ ...after, ...before } as Row) !== nameOf({ ...before, ...after } as Row);
}

/**
 * Whether the confirmation for a row still holds. Typing a slug that may be in production also confirms the case that
 * it is.
 */
function isStillTrue<Row extends object>(asked: ConfirmedRow<Row>, row: Row): boolean {
  const slugs = new Set(outagesOf([asked]).map(({ slug }) => slug));
  return !isRenamed(asked, row) && outagesOf([{ ...asked, row }]).every(({ slug }) => slugs.has(slug));
}

/** Adds to each row whether it is in production, or its names. @throws AbortError if the user interrupts */
export async function withRead<Each extends Pick<ConfirmedRow<object>, 'action' | 'row'>>(
  what: 'withProduction' | 'withNames',
  asked: readonly Each[],
  context: QueryContext,
): Promise<readonly Each[]> {
  const known = new Map<Each, object>();
  for (const [read, group] of Map.groupBy(asked, ({ action }) => action.change[what])) {
    const rows = group.map(({ row }) => row);
    for (const [index, row] of ((await read?.(rows, context)) ?? []).entries()) known.set(group[index] as Each, row);
  }
  return asked.map(each => ({ ...each, row: known.get(each) ?? each.row }));
}

/** Finds out which rows are in production, to say so in the question. @throws AbortError if the user interrupts */
export async function withOutages<Each extends ConfirmedRow<object>>(
  asked: readonly Each[],
  context: QueryContext,
): Promise<readonly Each[]> {
  const readUncertain = async (each: Each): Promise<Each> => {
    const { action, resource } = each;
    if (action.change.withProduction || isCertain(each)) return each;
    const query = resource.get?.(idOf(resource, each.row));
    const { answer } = query ? await readInTime(query.read, context) : {};
    return answer ? { ...each, row: answer } : each;
  };
  return withRead('withProduction', await Promise.all(asked.map(readUncertain)), context);
}

/**
 * Reads the rows of dangerous changes again, a few at a time. A row that cannot be read is treated as remembered, so it
 * is unknown whether it is in production. A row that no longer exists stays unchanged.
 *
 * @param read reads a record, bypassing the cache
 * @throws `read`'s error after the user interrupts
 */
export async function recheck<Each extends ConfirmedRow<object>>(
  asked: readonly Each[],
  read: (query: LiveQuery<object>) => Promise<object>,
  context: QueryContext,
): Promise<Rechecked<readonly Each[]>> {
  const again = new Map<Each, Each>();
  const unread = new Map<Each, string>();
  const readAgain = async (each: Each): Promise<void> => {
    const id = idOf(each.resource, each.row);
    const query = each.resource.get?.(id);
    try {
      again.set(each, query ? { ...each, row: await read(query) } : each);
    } catch (error) {
      if (context.signal.aborted) throw error;
      if (isGone(error)) return;
      again.set(each, { ...each, row: { ...each.row, remembered_at: new Date().toISOString() } });
      unread.set(each, clean`${id} could not be read again. Nothing was sent. ${describeError(asError(error))}`);
    }
  };
  await inParallel(asked.filter(isRechecked), readAgain);
  const found = await withRead('withProduction', [...again.values()], context);
  const nowOf = new Map([...again.keys()].map((each, index) => [each, found[index]]));
  const now = asked.map(each => nowOf.get(each) ?? each);
  const changed = asked.findLast((each, index) => !isStillTrue(each, now[index]?.row ?? each.row));
  return { now, objection: changed && (unread.get(changed) ?? changedMessage) };
}

/** Sends the request of each row's own action. */
export function changeEach<Each extends Pick<ConfirmedRow<object>, 'action' | 'row'>>(
  rows: readonly Each[],
): Action<Each> {
  const sends = [...new Set(rows.map(({ action }) => action.change.send))];
  const removes: Action<Each>['removes'] = {
    resource: ({ action, row }, answer) => action.change.send.removes?.resource(row, answer),
    reread: async (service, { action, row }, options) => action.change.send.removes?.reread(service, row, options),
    kept: (record, { action, row }) => action.change.send.removes?.kept?.(record, row),
  };
  return actionOf((service, { action, row }, options) => action.change.send(service, row, options), {
    touches: sends.flatMap(({ touches }) => touches),
    ...(sends.every(send => send.removes) && { removes }),
  });
}
