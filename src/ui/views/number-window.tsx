/** Asks for a number to go to. */
import { capitalised } from '../../base/capitalised.ts';
import { counted } from '../../text/numbers.ts';
import type { Shell } from '../app/shell-context.tsx';
import { PlainFormWindow } from '../windows/form-window.tsx';

export const numberProblem = (text: string): string | undefined =>
  text.trim() !== '' && Number.isFinite(Number(text)) ? undefined : 'Type a number';

/**
 * @param what the noun for one item, e.g. `step`
 * @param count the number of items, if known
 */
export function showNumberWindow(
  { showOverlay }: Pick<Shell, 'showOverlay'>,
  what: string,
  go: (number: number) => void,
  count?: number,
): void {
  showOverlay('number', close => (
    <PlainFormWindow
      verb="go"
      title={`Go to a ${what}${count === undefined ? '' : ` (${counted(count, what)})`}`}
      fields={[{ name: 'number', label: capitalised(what), kind: 'text', check: numberProblem }]}
      onSubmit={({ number = '' }) => go(Number(number))}
      onClose={close}
    />
  ));
}
