/**
 * Where users get benchtop. README, the man page and the example workflow follow `published`, because they must not
 * suggest a name that is on no registry, or belongs to somebody else.
 */

/** The name of the package on npm's registry; undefined before it is published. */
export const published: string | undefined = undefined;

/** The ways to install benchtop, each with its command lines. */
export function installWays(name = published): readonly (readonly [words: string, lines: readonly string[]])[] {
  const clone = [
    ['Run it from a clone of this repository:', ['npm ci && npm start']],
    ['Run its tests:', ['npm ci && npm test']],
    ['Or install it as a package built from the clone:', ['npm pack', 'npm install --global ./benchtop-*.tgz']],
  ] as const;
  if (name === undefined) return clone;
  return [['Run it:', [`npx ${name}`]], ['Keep it:', [`npm install --global ${name}`]], ...clone];
}

/** The steps of a GitHub workflow that put `benchtop` on the path. */
export function workflowSteps(name = published): readonly string[] {
  const node = ['- uses: actions/setup-node@v6', '  with: { node-version: 24 }'];
  if (name !== undefined) return [...node, `- run: npm install --global ${name}`];
  return [
    '- uses: actions/checkout@v6 # of a repository that holds the package',
    ...node,
    '- run: npm install --global ./benchtop-*.tgz',
  ];
}
