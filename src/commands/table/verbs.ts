/** Commands that change something. */
import {
  dryRunFlag,
  exclusiveDryRunFlags,
  idempotencyKeyFlag,
  recordFlags,
  serviceFlags,
  untilFlag,
  waitFlags,
  yesFlag,
} from './flags.ts';
import { type CommandSpec, spec } from './spec.ts';

const nameFlag = {
  value: 'TEXT',
  description: 'name of the run (default: from benchmark and model)',
  prompt: { defaultText: 'one made of benchmark and model' },
} as const;
const modelFlag = (what: string) => {
  const description = `${what} (default: the checkpoint's)`;
  return {
    value: 'MODEL',
    short: 'm',
    of: 'seen',
    kinds: ['model'],
    prompt: { unless: 'checkpoint' },
    description,
  } as const;
};
const optionFlag = (of: string, example: string) => {
  const description = `an option for the ${of}, e.g. ${example}`;
  return { value: 'NAME=VALUE', short: 'o', of: 'option', many: true, description } as const;
};
const checkpointFlag = (description: string) =>
  ({ value: 'CHECKPOINT', short: 'c', of: 'checkpoint', description }) as const;
const checkpointHelp =
  'ckpt_…, first@latest, first@best (highest held-out reward), first@6 or a training run (its latest)';

const startFlags = { ...idempotencyKeyFlag, ...waitFlags } as const;
const outcomeFlags = { ...dryRunFlag, ...recordFlags } as const;
const exclusiveOutcomes = [exclusiveDryRunFlags] as const;
const exclusiveWaiting = [['dryRun', 'wait'], exclusiveDryRunFlags] as const;

export const verbs = {
  evaluate: spec({
    summary: 'start an evaluation of a model or a checkpoint',
    about: `Prints the id of the run. With --wait, exits with 0 if it completed, 8 if it completed while an alarm from the settings was active, and 6 if the service reports no status for evaluations; with --until, the rewards decide when it has ended.

With several models or seeds, starts one run for each combination, prints the id of each, and exits with the worst code.
If some could not be started, run the same command again to start only those. benchtop compare --pool treats a model's
runs as one.`,
    args: [{ name: 'BENCHMARK', of: 'seen', kinds: ['benchmark'] }],
    flags: {
      ...serviceFlags,
      model: { ...modelFlag('slug of the model; several models start one run each'), many: true },
      checkpoint: checkpointFlag(checkpointHelp),
      name: nameFlag,
      option: optionFlag('evaluation', 'evaluation_max_samples=8'),
      seed: { value: 'N|N-M', many: true, description: 'the option seed; several seeds, e.g. 1-3, start one run each' },
      ...startFlags,
      until: { ...untilFlag, needs: 'wait' },
      ...outcomeFlags,
    },
    exclusive: exclusiveWaiting,
    examples: [
      'benchtop evaluate t-words --model benchtop/tutor-base --wait',
      'benchtop evaluate t-words --checkpoint first@latest --wait --field reward_mean',
      'benchtop evaluate t-words --model acme/small --wait --until quiet=60s',
      'benchtop evaluate t-words --model acme/small --model acme/large --seed 1-3 --wait',
    ],
  }),
  train: spec({
    summary: 'start a training run',
    about: 'Prints the id of the run. With --wait, exits with 0 only if it succeeded.',
    args: [{ name: 'BENCHMARK', of: 'seen', kinds: ['benchmark'] }],
    flags: {
      ...serviceFlags,
      model: modelFlag('slug of the base model'),
      checkpoint: checkpointFlag(`continue from ${checkpointHelp}`),
      name: nameFlag,
      option: optionFlag('training', 'num_steps=20'),
      ...startFlags,
      ...outcomeFlags,
    },
    exclusive: exclusiveWaiting,
    examples: ['benchtop train t-words --model benchtop/tutor-base --name first -o num_steps=20 --wait'],
  }),
  deploy: spec({
    summary: 'deploy a checkpoint under a slug',
    about: `Prints the id of the deployment. With --wait, exits with 0 only if it was deployed. --role production asks for
the slug first, unless --yes is given.`,
    args: [{ name: 'CHECKPOINT', description: checkpointHelp, of: 'checkpoint' }],
    flags: {
      ...serviceFlags,
      slug: {
        value: 'SLUG',
        short: 's',
        description: 'name used in chat (default: derived from the name of the run)',
        prompt: { defaultText: 'one made of the name of the run' },
      },
      role: {
        value: 'ROLE',
        choices: ['test', 'production'],
        prompt: { defaultText: 'test' },
        description:
          'a test deployment, the default, is reachable only by its id; a production deployment serves the slug',
      },
      ...startFlags,
      ...yesFlag,
      ...outcomeFlags,
    },
    exclusive: exclusiveWaiting,
    examples: ['benchtop deploy first@best --slug tutor --wait'],
  }),
  build: spec({
    summary: 'build the images of a benchmark',
    about: 'Prints the id of the benchmark. With --wait, exits with 0 only if it became ready.',
    args: [{ name: 'BENCHMARK', of: 'seen', kinds: ['benchmark'] }],
    flags: { ...serviceFlags, ...waitFlags, ...outcomeFlags },
    exclusive: exclusiveWaiting,
  }),
  cancel: spec({
    summary: 'cancel evaluation runs and training runs',
    about:
      'With --wait, waits until each has ended, and exits with 0 if each was cancelled, succeeded before that, or had already ended. In JSON, done is cancelled, or ended if it ended on its own.',
    args: [{ name: 'ID|NAME', many: true, of: 'seen' }],
    flags: { ...serviceFlags, ...waitFlags, ...yesFlag, ...outcomeFlags },
    exclusive: exclusiveWaiting,
    examples: ['benchtop cancel first --yes --wait'],
  }),
  delete: spec({
    summary: 'delete evaluation runs, training runs and secrets',
    args: [{ name: 'ID|NAME', many: true, of: 'seen' }],
    flags: { ...serviceFlags, ...yesFlag, ...outcomeFlags },
    exclusive: exclusiveOutcomes,
  }),
  undeploy: spec({
    summary: 'tear deployments down and delete them',
    about: 'With --wait, waits until each is inactive or gone.',
    args: [{ name: 'ID|SLUG', many: true, of: 'seen' }],
    flags: { ...serviceFlags, ...waitFlags, ...yesFlag, ...outcomeFlags },
    exclusive: exclusiveWaiting,
  }),
  promote: spec({
    summary: 'make a deployment serve its slug',
    args: [{ name: 'ID|SLUG', of: 'seen', kinds: ['deployment'] }],
    flags: {
      ...serviceFlags,
      undo: {
        description:
          'stop a deployment from serving its slug: nothing replaces it. To roll back, promote the earlier one',
      },
      demote: {
        value: 'ID|SLUG',
        description: 'the deployment to demote (newer services; default: left to the service)',
      },
      ...yesFlag,
      ...outcomeFlags,
    },
    exclusive: [['undo', 'demote'], exclusiveDryRunFlags],
  }),
  reward: spec({
    summary: 'log a reward to a trajectory',
    args: [{ name: 'TRAJECTORY', of: 'seen', kinds: ['trajectory'] }, { name: 'NAME' }, { name: 'VALUE' }],
    flags: {
      ...serviceFlags,
      explanation: { value: 'TEXT', empty: true, description: 'reason for this value' },
      weight: { value: 'N', number: 'any', description: 'its weight; 0 for diagnosis only' },
      rewardId: { value: 'ID', description: 'reward id; the service may count it only once (default: a new id)' },
      tokenEnv: { value: 'NAME', description: 'variable that holds the trajectory token' },
      ...outcomeFlags,
    },
    exclusive: exclusiveOutcomes,
    examples: ['benchtop reward traj_1 helpful 0.5 --explanation "left out a step"'],
  }),
  'secret set': spec({
    summary: 'create a secret; its value is read from standard input',
    about: 'On a terminal, asks for a one-line value and does not show it. Pipe in longer values.',
    args: [{ name: 'NAME' }],
    flags: {
      ...serviceFlags,
      description: { value: 'TEXT', empty: true, description: 'description of the secret' },
      ...outcomeFlags,
    },
    exclusive: exclusiveOutcomes,
    examples: ['benchtop secret set HF_TOKEN < token.txt'],
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;
