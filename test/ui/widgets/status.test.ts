import { expect, it } from 'vitest';
import { statusText } from '../../../src/ui/widgets/status.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

it('cuts a status too long for any pane before it is measured', () => {
  const shown = statusText('😀'.repeat(60_000), createTheme());
  expect(shown.length).toBeLessThan(400);
  expect(shown.isWellFormed()).toBe(true);
});
