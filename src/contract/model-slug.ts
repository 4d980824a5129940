/** One token of letters, digits, `-` and `_`; stored in lower case. */
export const modelSlug = { pattern: /^[A-Za-z0-9_-]+$/, maximum: 32 } as const;
