/** The notices that were given since the start of the program, to be read again. */
import { useContext, useMemo } from 'react';
import { clock } from '../../text/time.ts';
import { wrap } from '../../text/wrap.ts';
import { globalCommands } from '../keys/general.ts';
import { useTheme } from '../widgets/theme/theme.tsx';
import { ReadingWindow, useReadingWidth } from './reading-window.tsx';
import { toastMarks } from './shell-context.tsx';
import { SaidContext } from './toasts.ts';

const indent = ' '.repeat(11);

export function ToastsWindow({ onClose }: { onClose: () => void }) {
  const said = useContext(SaidContext);
  const { styles, glyphs } = useTheme();
  const width = useReadingWidth();
  const lines = useMemo(
    () =>
      said.flatMap(({ kind, text, tail = '', at }) => {
        const [first = '', ...rest] = wrap(`${text}${tail}`, width - indent.length);
        const begin = `${clock(at)} ${glyphs[toastMarks[kind]]} ${first}`;
        const style = kind === 'danger' || kind === 'warning' ? styles[kind] : undefined;
        return [begin, ...rest.map(line => indent + line)].map(line => ({ text: line, style }));
      }),
    [said, width, glyphs, styles],
  );
  return (
    <ReadingWindow
      title="Notices"
      lines={lines}
      words={lines.length === 0 ? 'Nothing was said yet' : 'the newest first'}
      opener={globalCommands.notices}
      onClose={onClose}
    />
  );
}
