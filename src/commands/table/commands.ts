/** Every command of the command line: what it takes and what it is for. */
import { agentFlag, jsonFlag, recordApart, recordFlags, screenFlags, serviceFlags } from './flags.ts';
import { setup } from './setup.ts';
import { type CommandSpec, type FlagValues, spec } from './spec.ts';
import { verbs } from './verbs.ts';

/** `benchtop` without a command. */
export const workbench = spec({
  summary: 'open the workbench',
  flags: {
    ...serviceFlags,
    ...screenFlags,
    lines: { says: 'the workbench as plain lines, for screen readers' },
  },
  apart: [
    ['lines', 'theme'],
    ['lines', 'mouse'],
  ],
});

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const listFormats = ['table', 'json', 'jsonl', 'csv', 'markdown'] as const;

export const commands = {
  list: spec({
    summary: 'list benchmarks, runs, training runs, models and so on',
    args: [{ name: 'WHAT', of: 'resource' }],
    flags: {
      ...serviceFlags,
      benchmark: { value: 'ID|NAME', says: 'images (needed), runs and training runs of a benchmark' },
      run: { value: 'ID|NAME', says: 'trajectories of an evaluation run' },
      training: { value: 'ID|NAME', says: 'checkpoints (needed) and trajectories of a training run' },
      dataset: { value: 'NAME', says: 'trajectories of a dataset' },
      status: { value: 'STATUS', says: 'rows that have it' },
      filter: { value: 'TEXT', empty: true, says: 'rows that hold the text; /re/, !text and ~fuzzy as on screen' },
      sort: { value: 'COLUMN', short: 's', says: 'by a column or a field of the JSON; reads all rows' },
      reverse: { short: 'r', needs: 'sort', says: 'in reverse order' },
      limit: { value: 'N', short: 'L', number: 'count', says: 'at most this many rows (default: 100)' },
      all: { short: 'a', says: 'all rows' },
      columns: { value: 'A,B', short: 'c', says: 'these columns or fields of the JSON' },
      wide: { short: 'w', says: 'all columns' },
      format: { value: 'FORMAT', short: 'f', choices: listFormats, says: 'output format' },
      ...recordFlags,
      field: { value: 'NAME', says: 'only this field of each row, one a line' },
      ids: { says: 'only the ids, one a line' },
    },
    apart: [
      [...recordApart, 'format', 'ids'],
      ['columns', 'wide', 'ids', 'field', 'jq'],
      ['limit', 'all'],
    ],
    examples: [
      'benchtop list runs --benchmark t-words --sort mean --reverse',
      'benchtop list checkpoints --training first',
    ],
  }),
  get: spec({
    summary: 'print everything about one resource',
    args: [
      { name: 'WHAT', of: 'listed resource', optional: true },
      { name: 'ID|NAME', of: 'seen' },
    ],
    flags: { ...serviceFlags, ...recordFlags },
    apart: [recordApart],
    examples: ['benchtop get evr_1', 'benchtop get benchmark t-words --json'],
  }),
  watch: spec({
    summary: 'print each change of running work until it ends',
    about: `Watches evaluation runs, training runs, deployments, and benchmarks until they are ready, by id or name; the
first word may say of which kind they are. Without an id: all that runs or is pinned. Exit code 0 once all have succeeded, 1 if one has not.`,
    args: [{ name: 'KIND|ID', of: 'seen', many: true, optional: true }],
    flags: {
      ...serviceFlags,
      timeout: {
        value: 'SECONDS',
        short: 't',
        number: 'positive',
        says: 'stop watching after this long; the work continues',
      },
      ...jsonFlag,
    },
  }),
  chat: spec({
    summary: 'ask a model a question, or chat with it',
    about:
      'Asks once where there is a text, or one is piped in, which is appended to it; else talks until an empty line. A text waits 10 seconds for what is piped in; with - behind it, until its end.',
    args: [{ name: 'MODEL' }, { name: 'TEXT', many: true, optional: true }],
    takesText: true,
    flags: {
      ...serviceFlags,
      system: { value: 'TEXT', short: 's', empty: true, says: 'the system prompt' },
      temperature: { value: 'N', number: 'any', says: '0 takes the likeliest word each time' },
      topP: { value: 'N', number: 'any', says: 'sample from the likeliest words only' },
      maxTokens: { value: 'N', number: 'any', says: 'the longest answer' },
      ...jsonFlag,
    },
    examples: ["benchtop chat benchtop/tutor-base 'opposite: hot?'"],
  }),
  upload: spec({
    summary: 'upload a benchmark from a folder, or trajectories from a file',
    about: `A folder with a manifest.json becomes a benchmark: its files are sent, it is ingested, and the build of its images
begins; benchtop watch ID waits for that. A file, or - for standard input, holds trajectories: one JSON object a line, an array of them, or a single one.
After a failure the same command continues where it stopped.`,
    args: [{ name: 'PATH', of: 'file' }],
    flags: {
      ...serviceFlags,
      new: { says: 'start a new benchmark even if part of the folder was sent before' },
      dataset: { value: 'NAME', says: 'dataset to add the trajectories to' },
      ...agentFlag,
      failures: { value: 'FILE', says: 'write the lines that were rejected to this new file' },
      ...jsonFlag,
    },
    examples: ['benchtop upload ./my-benchmark', 'benchtop upload rollouts.jsonl --dataset production'],
  }),
  api: spec({
    summary: 'call any operation of the service',
    about: `An operation of the contract by its name, or any path of the service. Names of the path, the query and the body are
those of the contract. Values are strings; where the contract wants something else they are read as JSON. The answer is printed as
JSON; that of a path which the contract does not have, as it came. Without an operation: all of them with their names.`,
    args: [
      { name: 'OPERATION|[METHOD] PATH', of: 'operation', optional: true },
      { name: 'NAME=VALUE', many: true, optional: true },
    ],
    flags: {
      ...serviceFlags,
      ...recordFlags,
      method: {
        value: 'METHOD',
        short: 'X',
        choices: methods,
        says: 'of a path; POST where there is a body, else GET',
      },
      rawField: {
        value: 'NAME=VALUE',
        short: 'f',
        many: true,
        says: 'a field of the body, or of the query of a GET, as text',
      },
      typedField: {
        value: 'NAME=VALUE',
        short: 'F',
        many: true,
        says: 'the same as a number, true, null, other JSON, or @FILE',
      },
      body: { value: 'JSON|@FILE|-', says: 'the whole body: JSON, a file, or standard input' },
      input: { value: 'FILE|-', says: 'the whole body as it is, from a file or standard input' },
      include: { short: 'i', says: 'print the status and the headers before the answer' },
      paginate: { says: 'read every page of a list, and print its items' },
      idempotencyKey: { value: 'KEY', says: 'a start sent again with the same key happens once' },
      tokenEnv: { value: 'NAME', says: 'variable that holds the token of the trajectory' },
    },
    apart: [
      [...recordApart, 'include'],
      ['include', 'paginate'],
      ['body', 'input'],
    ],
    examples: [
      'benchtop api getTrainingProgress training_run_id=trn_1',
      `benchtop api startTraining bench_id=bench_1 base_model_slug=m display_name=first options='{"num_steps":5}'`,
      "benchtop api '/api/v1/benchmarks?limit=2' -i",
      'benchtop api POST /api/v2/notes -f text=hello -F stars=5',
    ],
  }),
  ...verbs,
  compare: spec({
    summary: 'compare two evaluation runs task by task',
    about: `Prints the paired difference of the rewards (NEW minus BASE) with its confidence interval, the number of tasks, and how
many of them got better and worse. With --fail-below the exit code is 1 if the interval reaches below that value.`,
    args: [
      { name: 'BASE', of: 'seen' },
      { name: 'NEW', of: 'seen' },
    ],
    flags: {
      ...serviceFlags,
      failBelow: { value: 'N', number: 'any', says: 'exit with 1 where the lower bound is below this' },
      confidence: { value: 'N', number: 'any', says: 'of the interval (default: 0.95)' },
      ...recordFlags,
    },
    apart: [recordApart],
    examples: ['benchtop compare evr_base evr_new --fail-below 0'],
  }),
  export: spec({
    summary: 'write trajectories with their steps, as JSON Lines',
    about: 'Of an evaluation run, a training run or a dataset, or a single one. benchtop upload takes the lines again.',
    args: [
      { name: 'WHAT', of: 'resource', optional: true },
      { name: 'ID|NAME', of: 'seen' },
    ],
    flags: {
      ...serviceFlags,
      output: { value: 'FILE', short: 'o', says: 'a new file (default: standard output)' },
      json: jsonFlag.json,
    },
    examples: [
      'benchtop export evr_1 --output rollouts.jsonl',
      'benchtop export dataset production > production.jsonl',
    ],
  }),
  open: spec({
    summary: 'open the workbench at one resource',
    args: [
      { name: 'WHAT', of: 'listed resource', optional: true },
      { name: 'ID|NAME', of: 'seen' },
    ],
    flags: { ...serviceFlags, ...screenFlags },
    examples: ['benchtop open evr_1', 'benchtop open training first'],
  }),
  ...setup,
  version: spec({ summary: 'print the version', flags: jsonFlag }),
  doctor: spec({
    summary: 'check the installation and say what to fix',
    about:
      'Looks at this program, the terminal, the settings, the folders and the service. Exit code 1 where something is wrong.',
    flags: { ...serviceFlags, model: { value: 'MODEL', says: 'also ask this model for an answer' }, ...jsonFlag },
  }),
  serve: spec({
    summary: 'run the local service in the foreground, until ctrl-c',
    flags: {
      port: { value: 'N', short: 'p', number: 'whole', says: 'port to listen on (default: a free one)' },
      data: { value: 'FOLDER', says: 'folder for its data', variable: 'BENCHTOP_DATA_DIR' },
      upstream: {
        ...serviceFlags.upstream,
        says: 'chat and rollouts of other models go to this OpenAI-compatible server',
      },
      upstreamKeyEnv: serviceFlags.upstreamKeyEnv,
      upstreamKeyFile: serviceFlags.upstreamKeyFile,
      apiKeyEnv: { value: 'NAME', says: 'variable that holds the key it asks for' },
      apiKeyFile: { value: 'PATH', says: 'file that holds the key it asks for' },
      rateLimit: { value: 'N', number: 'positive', says: 'requests a second of each key' },
      status: { says: 'show whether it is running' },
      stop: { says: 'stop it; running work resumes at the next start' },
      background: { says: 'end when idle', hidden: true },
      json: { says: 'print --status and --stop as JSON' },
    },
    apart: [['status', 'stop', 'port', 'background']],
    examples: ['benchtop serve --port 8080 --data ./data'],
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;

/** What commands of two words are about, by their first. */
export const groups: Readonly<Record<string, string>> = {
  secret: 'set: create a secret of the organization',
  profile: 'list, use, add, remove: the services to choose from',
  config: 'path, get, set: the settings file',
};

export type CommandName = keyof typeof commands;

export type WorkbenchFlags = FlagValues<typeof workbench.flags>;

/** What a command gets: its words and its flags. */
export interface Given<Name extends CommandName> {
  readonly args: readonly string[];
  readonly flags: FlagValues<(typeof commands)[Name]['flags']>;
}
