/** The length of a run's name, in characters. Without schemas, which the start of the screen does not need. */
export const displayNameLength = { minimum: 1, maximum: 256 } as const;
