/** The form that searches trajectories. */
import { useMemo } from 'react';
import type { SearchedTexts } from '../../../resources/place.ts';
import { parseLineSearch } from '../../../text/line-search.ts';
import { sanitiseLine } from '../../../text/sanitise.ts';
import { useShell } from '../../app/shell-context.tsx';
import type { FieldSpec } from '../../widgets/form/form-state.ts';
import { PlainFormWindow } from '../../windows/form-window.tsx';

/** Whether the text after `//` is a complete expression, as in `//re/`, which filters the rows. */
const isExpression = (text: string): boolean => /^[^/](?:[^\\]|\\.)*\/i?$/su.test(text) && !/\s/.test(text);

interface SearchWindowProps {
  readonly texts: SearchedTexts;
  /** Whether the list is filtered, which does not limit the search. */
  readonly isFiltered: boolean;
  /** The text typed so far. */
  readonly initial: string;
  /** Called to filter the rows instead. */
  readonly onFilter: (filter: string) => void;
  readonly onClose: () => void;
}

function SearchWindow({ texts, isFiltered, initial, onFilter, onClose }: SearchWindowProps) {
  const shell = useShell();
  const fields = useMemo(
    (): readonly FieldSpec[] => [
      {
        kind: 'text',
        name: 'query',
        label: 'Search for',
        initial,
        help: 'Words and "phrases" within one line, or /an expression/. An expression without the first / filters the rows instead.',
        check: value => {
          const search = parseLineSearch(value);
          return search.ok ? undefined : search.error;
        },
      },
    ],
    [initial],
  );
  return (
    <PlainFormWindow
      verb="search"
      title={`Search in ${sanitiseLine(texts.label)}${isFiltered ? ', including what the filter hides' : ''}`}
      fields={fields}
      onSubmit={({ query = '' }) => {
        if (isExpression(query)) onFilter(`/${query}`);
        else shell.open({ view: 'search', query: query.trim(), ...texts });
      }}
      onClose={onClose}
    />
  );
}

/** Returns a function that opens the window, or filters the rows if there is nothing to search. */
export function useSearchTexts(
  textsOf: () => SearchedTexts | undefined,
  isFiltered: () => boolean,
  onFilter: SearchWindowProps['onFilter'],
): (initial: string) => void {
  const shell = useShell();
  return initial => {
    const texts = textsOf();
    if (!texts) return onFilter(`/${initial}`);
    shell.showOverlay('search', close => (
      <SearchWindow texts={texts} isFiltered={isFiltered()} initial={initial} onFilter={onFilter} onClose={close} />
    ));
  };
}
