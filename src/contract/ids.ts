/** How the ids of resources begin: the document's own examples, and what other services call the same. */
export const idPatterns = {
  benchmark: /^(bench|bm)[_-]/,
  run: /^evr[_-]/,
  training: /^(trn|tr|train)[_-]/,
  trajectory: /^(traj|trj)[_-]/,
  deployment: /^dep[_-]/,
} as const;
