/** `one`, `one and two`, `one, two and three` */
export const enumerated = (parts: readonly string[], last: 'and' | 'or' = 'and'): string =>
  [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter(Boolean).join(` ${last} `);
