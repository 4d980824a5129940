/** Help about the correlation, with its source. Imports nothing. */
export const aboutLengths = `The rank correlation is Spearman's, with a 95% interval by Fisher's transformation and the standard error of Fieller, Hartley and
Pearson (1957). Within tasks, only rollouts of the same task are compared, so that long, hard tasks do not distort the result. A correlation does
not explain the cause: read the rollouts at both ends.`;
