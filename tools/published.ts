/**
 * Where users get benchtop from. README, the man page and the example workflow follow `published`: a name that is on no
 * registry, or somebody else's there, must not be among what people are told to run.
 */

/** The name of the package on npm's registry; undefined while it is on none. */
export const published: string | undefined = undefined;

/** What installs benchtop, from first to last: what each does, and its command lines. */
export function installWays(name = published): readonly (readonly [words: string, lines: readonly string[]])[] {
  const clone = [
    ['From a clone of this repository, one line runs it:', ['npm ci && npm start']],
    ['One line passes its tests:', ['npm ci && npm test']],
    [
      'To keep it, make a package in the clone and install that:',
      ['npm pack', 'npm install --global ./benchtop-*.tgz'],
    ],
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
