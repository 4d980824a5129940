import { expect, it } from 'vitest';
import { differenceStyle, jsonLine } from '../../../src/ui/widgets/syntax.ts';
import { createTheme } from '../../../src/ui/widgets/theme/theme.tsx';

const { styles } = createTheme();

it('colours keys, strings and other values, without changing the text', () => {
  const { accent, success, code } = styles;
  expect(jsonLine('  "a\\"b": "text",', styles)).toBe(`  ${accent('"a\\"b"')}: ${success('"text"')},`);
  expect(jsonLine('"n": -1.5e3', styles)).toBe(`${accent('"n"')}: ${code('-1.5e3')}`);
  expect(jsonLine('  null,', styles)).toBe(`  ${code('null')},`);
  expect(jsonLine('"s": |', styles)).toBe(`${accent('"s"')}: |`);
  expect(jsonLine('plain words', styles, styles.muted)).toBe(styles.muted('plain words'));
  const plain = createTheme('plain').styles;
  expect(jsonLine('"a": "b"', plain)).toBe('"a": "b"');
});

it('colours the lines of a diff by their marks', () => {
  const found = ['@@ -1 +1 @@', '+new', '-old', ' same'].map(line => differenceStyle(line, styles));
  expect(found).toEqual([styles.accent, styles.success, styles.danger, undefined]);
});
