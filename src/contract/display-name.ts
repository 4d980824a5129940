/**
 * The length of a run's name, in characters. In a file of its own, so that the screen starts without loading schemas.
 */
export const displayNameLength = { minimum: 1, maximum: 256 } as const;
