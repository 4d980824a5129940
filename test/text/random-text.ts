const pieces = [
  ...[
    'a',
    'word',
    ' ',
    '  ',
    'é',
    'e\u0301',
    '日',
    '本語',
    '、',
    'か\u3099',
    'ｶﾞ',
    '한',
    '\u1112\u1161\u11ab',
    'ไทย',
    'กำ',
    'क्ष',
    'नि',
  ],
  ...[
    '👩🏽‍💻',
    '❤️',
    '❤',
    '🇩🇪',
    '1️⃣',
    '🏳️‍🌈',
    '→',
    '…',
    '─',
    '⣿',
    '„',
    'ß',
    'Ж',
    'ا',
    'می\u200cخ',
    '\u0600',
    '\ud83d',
    '-',
    '/',
  ],
];

/** Reproducible mixtures of scripts, spaces and graphemes of several code points (mulberry32). */
export function randomText(amount: number, length: number = 12): string[] {
  let state = 42;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return Array.from({ length: amount }, () =>
    Array.from({ length: 1 + Math.floor(next() * length) }, () => pieces[Math.floor(next() * pieces.length)]).join(''),
  );
}
