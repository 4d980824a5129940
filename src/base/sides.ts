/** The runs of a comparison. */
export const sides = ['base', 'new'] as const;
export type Side = (typeof sides)[number];

/** A value for each side. */
export type BySide<Value> = Readonly<Record<Side, Value>>;

export const otherSide = (side: Side): Side => (side === 'base' ? 'new' : 'base');
