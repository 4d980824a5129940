/** The two runs of a comparison. */
export const sides = ['base', 'new'] as const;
export type Side = (typeof sides)[number];

/** Something of each of them. */
export type OfBoth<Value> = Readonly<Record<Side, Value>>;
