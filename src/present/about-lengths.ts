/** Help on the correlation, with its source. Imports nothing. */
export const aboutLengths = `The rank correlation is Spearman's, with a 95% interval by Fisher's transformation and the standard error of Fieller, Hartley and
Pearson (1957). Within tasks it compares the rollouts of each task alone, so that long tasks with low rewards do not look like a
cause. It says that reward and length go together, not why: read the rollouts at both ends.`;
