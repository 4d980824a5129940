/** The record of any resource; records with more content build on it. */

import { stripVTControlCharacters } from 'node:util';
import { useEffect } from 'react';
import type { Fact } from '../../../present/fact.ts';
import type { LiveQuery } from '../../../queries/live-query.ts';
import { resourceAt } from '../../../resources/catalogue.ts';
import { labelOf, type ResourceOf } from '../../../resources/define.ts';
import type { Place } from '../../../resources/place.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { noteLines, useDeleted, useErrorBindings, useSettingAdvice } from '../../app/error-note.tsx';
import { useLoadingText } from '../../app/loading.tsx';
import type { ViewProps } from '../../app/registry.ts';
import { useShell } from '../../app/shell-context.tsx';
import { usePane, View } from '../../app/view.tsx';
import { useLive } from '../../data/use-live.ts';
import { ScrollView, scrollViewLines } from '../../widgets/scroll-view/scroll-view.tsx';
import { useScroll } from '../../widgets/scroll-view/use-scroll.ts';
import { useTheme } from '../../widgets/theme/theme.tsx';
import { useActions } from './use-actions.tsx';
import { useRecordBindings } from './use-record-bindings.tsx';
import { useReferences } from './use-references.ts';

interface RecordViewProps<Row extends object> {
  readonly resource: ResourceOf<Row>;
  readonly place: Place<'record'>;
  /** The fields that are known before the record is read. */
  readonly unread?: Row;
  /** The facts to show; by default, those that the resource declares. */
  readonly facts?: (row: Row) => readonly Fact[];
  /** Lines below the name, once it is read. */
  readonly head?: (row: Row) => readonly string[];
}

/** A full record: its name, the lines below the name, and its facts. */
export function RecordView<Row extends object>(props: RecordViewProps<Row>) {
  const { resource, place, unread, head, facts = resource.facts } = props;
  const shell = useShell();
  const actions = useActions(resource, { onRemoved: () => shell.navigate({ kind: 'up' }) });
  const { id } = place;
  const pane = usePane('main');
  const theme = useTheme();
  const asking = useLoadingText();
  const advice = useSettingAdvice();
  const live = useLive(queryOf(resource, id), pane.attention);
  const shown = live.data ?? unread;
  const deleted = useDeleted(resource.kind ?? '', id);
  const error = deleted && live.data ? undefined : live.error;
  const title = live.data ? labelOf(resource, live.data) : (place.label ?? id);
  const room = pane.width - 2;
  const before = [
    theme.styles.title(sanitiseLine(title)),
    ...(live.data ? (head?.(live.data) ?? []) : []),
    ...(deleted && !error ? [theme.styles.danger(`${theme.glyphs.cross} ${deleted}`)] : []),
    ...(error ? noteLines(error, { width: room, height: pane.height }, theme, advice) : []),
    '',
  ];
  const references = useReferences([{ lines: before, facts: shown ? facts(shown) : [] }], {
    pane: 'main',
    width: room,
  });
  const lines = [...references.lines, ...(shown || deleted ? [] : [theme.styles.muted(asking)])].map(
    line => ` ${line}`,
  );
  const plainAt = (line: number): string => stripVTControlCharacters(lines[line] ?? '');
  const scroll = useScroll({ lineCount: lines.length, textAt: plainAt, height: pane.height - scrollViewLines });
  const { dispatch } = scroll;
  const { at } = references;
  useEffect(() => {
    if (at !== undefined) dispatch({ kind: 'show', place: at, before: Math.floor(pane.height / 2) });
  }, [dispatch, at, pane.height]);
  const bindings = useRecordBindings({
    record: shown && { id, json: shown },
    pin: resource.kind === undefined ? undefined : { kind: resource.kind, id, label: title },
    subjects: [title],
    refresh: live.refresh,
    siblings: resource.names[0],
    siblingId: id,
    actions: (shown && !deleted && actions([shown])) || [],
  });
  return (
    <View
      freshness={live.freshness}
      bindings={[...bindings, ...references.bindings, ...useErrorBindings(live.error)]}
      main={
        <ScrollView
          scroll={scroll}
          textAt={plainAt}
          drawnAt={line => lines[line] ?? ''}
          width={pane.width}
          focused={pane.focused}
        />
      }
    />
  );
}

export function PlainRecordView({ place }: ViewProps<'record'>) {
  return <RecordView resource={resourceAt(place)} place={place} />;
}

/** @throws Error for a resource whose records cannot be read one by one */
function queryOf<Row extends object>({ get, names }: ResourceOf<Row>, id: string): LiveQuery<Row> {
  if (!get) throw new Error(`${names[0]} are not read one by one`);
  return get(id);
}
