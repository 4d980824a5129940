/** Texts that a careless program prints, looks up, measures or parses wrongly. */
import fc from 'fast-check';

/** Sets the title, clears the screen, requests reports, switches modes, copies to the clipboard. */
export const controls: readonly string[] = [
  '\u001b[2J\u001b[Hgone',
  '\u001b]0;owned\u0007',
  '\u001b]52;c;b3duZWQ=\u0007',
  '\u001b[?1049l\u001b[?25h',
  '\u001b[?1000h\u001b[?1003h\u001b[?1006h',
  '\u001b[6n\u001b[c\u001b[>0q',
  '\u001bPq#0;2;0;0;0#0~~@@vv\u001b\\',
  '\u001b]8;;https://elsewhere.example\u001b\\link\u001b]8;;\u001b\\',
  '\u009b31mred\u009b0m',
  '\u009d0;owned\u009c',
  '\u001bc',
  'a\rb\u0008c\u0007d\u0000e\u007ff',
  'first\nsecond\r\nthird\u0085fourth\u2028fifth\tsixth',
  '\u001b',
  '\u001b[',
  '\u001b[999999999;999999999H',
];

/** Reorders, hides in, or overflows the surrounding text. */
export const deceivers: readonly string[] = [
  'user\u202Etxt.exe',
  '\u2066\u2067\u2068left open',
  'zero\u200Bwidth\u2060joined\uFEFF',
  `tags\u{E0041}\u{E0042}`,
  `z${'\u0301\u0316'.repeat(200)}algo`,
  '\uD83D',
  '\uDC00\uD800',
  '👩🏽‍💻👨‍👩‍👧‍👦🏳️‍🌈🇩🇪🇩',
  '日本語の名前かな',
  'مرحبا بالعالم',
  'กำลังทดสอบ',
  'ﷺ﷽',
  'ｗｉｄｅ',
  '\u0600\u0601',
  '\uFFFD\uFFFE\uFFFF',
];

/**
 * Words with a meaning in JavaScript objects, SQL, paths or format strings. `NaN` and the like are excluded: on a
 * screen they are the program's own error.
 */
export const names: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
  'length',
  '',
  ' ',
  '../../etc/passwd',
  '%s%n%d',
  '$(reboot)`reboot`',
  "'; drop table seen; --",
  'null',
  '-',
  'evr_',
  'a/b?c#d',
];

/** Times that parse to nothing, or to something absurd. */
export const times: readonly string[] = [
  '',
  'yesterday',
  '0000-00-00T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-20T00:00:00.000Z',
  '9999-12-31T23:59:59Z',
  '1969-12-31T23:59:59Z',
  '2026-02-30T25:61:61Z',
  '1700000000',
];

export const statuses: readonly string[] = [
  'quantum',
  '__proto__',
  'constructor',
  'COMPLETED',
  'Running ',
  '',
  'DEPLOYED\u001b[31m',
  'paused_by_operator_and_waiting_for_a_very_long_reason',
];

/** A text of one of these kinds, rarely a very long one. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...names, ...controls, ...deceivers, ...times) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...deceivers), fc.constantFrom(...controls)).map(texts => texts.join('')),
  },
  // Not `fc.string`, which first builds a table of all of Unicode.
  { weight: 2, arbitrary: fc.array(fc.nat(0xffff)).map(units => String.fromCharCode(...units)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...names, ...controls, ...deceivers), fc.constantFrom(50, 1_000, 20_000))
      .map(([text, times]) => `${text}x`.repeat(times)),
  },
);
