import { expect, it } from 'vitest';
import { Modes, switchAllOff } from '../../../../src/ui/app/terminal/modes.ts';

const off = ['?1049l', '?25h', '?7h', '?2004l', '?1000l', '?1002l', '?1006l', '?1l'].map(mode => `\u001b[${mode}`);

it('resets every mode that a killed pager may have set, the hidden cursor too (E2)', () => {
  const bytes = switchAllOff();
  expect(off.filter(sequence => !bytes.includes(sequence))).toEqual([]);
  // The terminal that saved the title of the shell restores it.
  expect(bytes).not.toContain('\u001b[23;2t');
});

it('resets what it has set, once, and shows the cursor again (E1)', () => {
  const modes = new Modes();
  expect(modes.enter('alternateScreen', 'hiddenCursor')).toBe('\u001b[?1049h\u001b[?25l');
  expect(modes.enter('hiddenCursor', 'noWrap')).toBe('\u001b[?7l');
  expect(modes.renew()).toBe('\u001b[?1049h\u001b[?25l\u001b[?7l');
  expect(modes.leave()).toBe('\u001b[?2026l\u001b[m\u001b[r\u001b[?7h\u001b[?25h\u001b[?1049l');
  expect(modes.leave()).toBe('');
});
