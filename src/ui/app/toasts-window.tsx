/** The notices since the program started. */
import { useContext, useMemo } from 'react';
import { clock } from '../../text/time.ts';
import { wrap } from '../../text/wrap.ts';
import { globalCommands } from '../keys/general.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { ReadingWindow, useReadingWidth } from './reading-window.tsx';
import { toastMarks } from './shell-context.tsx';
import { NoticeLogContext } from './toasts.ts';

const indent = ' '.repeat(11);

export function ToastsWindow({ onClose }: { onClose: () => void }) {
  const log = useContext(NoticeLogContext);
  const { styles, glyphs } = useTheme();
  const width = useReadingWidth();
  const lines = useMemo(
    () =>
      log.flatMap(({ kind, text, tail = '', at }) => {
        const [first = '', ...rest] = wrap(`${text}${tail}`, width - indent.length);
        const begin = `${clock(at)} ${glyphs[toastMarks[kind]]} ${first}`;
        const style = kind === 'danger' || kind === 'warning' ? styles[kind] : undefined;
        return [begin, ...rest.map(line => indent + line)].map(line => ({ text: line, style }));
      }),
    [log, width, glyphs, styles],
  );
  return (
    <ReadingWindow
      title="Notices"
      lines={lines}
      words={lines.length === 0 ? 'No notices yet' : 'newest first'}
      opener={globalCommands.notices}
      onClose={onClose}
    />
  );
}
