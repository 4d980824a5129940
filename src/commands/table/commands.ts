/** Every command, with its arguments, flags and help. */
import {
  agentFlag,
  dryRunFlag,
  recordFlags,
  scoreFlag,
  screenFlags,
  serviceFlags,
  untilFlag,
  waitFlags,
  yesFlag,
} from './flags.ts';
import { notes } from './notes.ts';
import { results } from './results.ts';
import { setup } from './setup.ts';
import { type CommandSpec, exclusiveRecordFlags, type FlagValues, spec } from './spec.ts';
import { verbs } from './verbs.ts';

/** `benchtop` without a command. */
export const workbench = spec({
  summary: 'open the workbench',
  flags: {
    ...serviceFlags,
    ...screenFlags,
    lines: { description: 'the workbench as plain lines, for screen readers' },
  },
  exclusive: [
    ['lines', 'theme'],
    ['lines', 'mouse'],
  ],
});

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const listFormats = ['table', 'json', 'jsonl', 'csv', 'markdown', 'lines'] as const;

export const commands = {
  list: spec({
    summary: 'list benchmarks, runs, training runs, models and so on',
    args: [{ name: 'WHAT', of: 'resource' }],
    flags: {
      ...serviceFlags,
      benchmark: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['benchmark'],
        description: 'only rows of this benchmark; required for images',
      },
      run: { value: 'ID|NAME', of: 'seen', kinds: ['run'], description: 'only trajectories of this evaluation run' },
      training: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['training'],
        description: 'only rows of this training run; required for checkpoints',
      },
      dataset: { value: 'NAME', of: 'seen', kinds: ['dataset'], description: 'only trajectories of this dataset' },
      status: { value: 'STATUS', of: 'status', description: 'only rows with this status' },
      filter: {
        value: 'TEXT',
        of: 'filter',
        empty: true,
        description:
          'only rows that match all terms, e.g. status:failed heldout<0.5 lr>1e-5 age<2d took>90s !text; also /re/ and ~fuzzy. Columns that need a request per row (held-out, best, trainer) are read for at most 500 rows',
      },
      sort: {
        value: 'COLUMN',
        of: 'column',
        short: 's',
        description: 'sort by a column or a JSON field; reads all rows',
      },
      reverse: { short: 'r', needs: 'sort', description: 'in reverse order' },
      limit: { value: 'N', short: 'L', number: 'count', description: 'at most this many rows (default: 100)' },
      all: { short: 'a', description: 'read every page' },
      baseline: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['run'],
        description: 'the run to compare the others in its benchmark with (default: the one chosen on screen)',
      },
      columns: { value: 'A,B', of: 'columns', short: 'c', description: 'show these columns or JSON fields' },
      wide: {
        short: 'w',
        description: 'show all columns; adds held-out and trainer rewards to the JSON of training runs',
      },
      format: { value: 'FORMAT', short: 'f', choices: listFormats, description: 'output format' },
      ...recordFlags,
      field: { value: 'NAME', of: 'field', description: 'print only this field of each row, one per line' },
      ids: { description: 'print only the ids, one per line' },
    },
    exclusive: [
      [...exclusiveRecordFlags, 'format', 'ids'],
      ['columns', 'ids', 'field', 'jq'],
      ['columns', 'wide', 'ids'],
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
      { name: 'WHAT', of: 'resource or seen', optional: true },
      { name: 'ID|NAME', of: 'of resource' },
    ],
    flags: { ...serviceFlags, ...recordFlags },
    examples: ['benchtop get evr_1', 'benchtop get benchmark t-words --json'],
  }),
  watch: spec({
    summary: 'print each change of running work until it ends',
    about: `Watches evaluation runs, training runs, deployments, and benchmarks (until they are ready), by id or name.
The first word may name their kind; a kind alone watches everything of that kind that is running. Without arguments,
watches everything that is running or pinned. Notes when an alarm from the settings begins and ends. Exits with 0 if all
succeed, 1 if one fails, 6 if the outcome of one is unknown, and 8 if one succeeds while an alarm
is active. With --since last,
prints the inbox of the workbench instead, i.e. what ended, failed or went over an alarm and has not been dismissed. What came since you last looked is marked as new.
Exits with 1 if something in it failed, or 8 if an alarm in it is active. With --until,
the rewards decide when a named, pinned or running evaluation has ended; an evaluation without a status
is listed, but not waited for.`,
    args: [{ name: 'KIND|ID', of: 'watched', many: true, optional: true }],
    flags: {
      ...serviceFlags,
      until: untilFlag,
      timeout: {
        value: 'SECONDS',
        short: 't',
        number: 'positive',
        description: 'stop watching after this long; the work continues',
      },
      since: {
        value: 'WHEN',
        choices: ['last'],
        description: 'print the inbox, marking what is new since you last looked, and exit',
      },
      alarm: { description: 'stop with exit code 8 when an alarm begins' },
      ...recordFlags,
    },
    exclusive: [
      ['since', 'until'],
      ['since', 'timeout'],
      ['since', 'alarm'],
    ],
    examples: ['benchtop watch --since last', 'benchtop watch first --alarm'],
  }),
  chat: spec({
    summary: 'ask a model a question, or chat with it',
    about:
      'Given text, it asks once; otherwise it chats until you enter an empty line. Piped input is appended to the text: benchtop waits up to 10 seconds for it to begin, or indefinitely if - follows the text. After --, every word is text, even one like --this.',
    args: [
      { name: 'MODEL', of: 'chat model' },
      { name: 'TEXT', many: true, optional: true },
    ],
    takesText: true,
    flags: {
      ...serviceFlags,
      system: { value: 'TEXT', short: 's', empty: true, description: 'the system prompt' },
      temperature: { value: 'N', number: 'any', description: '0 takes the likeliest word each time' },
      topP: { value: 'N', number: 'any', description: 'sample from the likeliest words only' },
      maxTokens: { value: 'N', number: 'any', description: 'limit the answer to this many tokens' },
      noStream: { description: 'ask for the whole answer at once; automatic if the service refuses to stream' },
      ignoreInput: { short: 'n', description: 'do not read standard input, e.g. in a loop that reads it itself' },
      ...recordFlags,
    },
    examples: ["benchtop chat benchtop/tutor-base 'opposite: hot?'"],
  }),
  upload: spec({
    summary: 'upload a benchmark from a folder, or trajectories from a file',
    about: `A folder with a manifest.json becomes a benchmark: its files are uploaded and ingested, and its images are
built; --wait waits until it is ready. A file, or - for standard input, holds trajectories: one JSON object per line, an
array, or a single object, or any format that benchtop read accepts: rollouts from verifiers and prime-rl,
Inspect logs, conversations. A note lists omissions. After a failure, repeat the command to send the rest, including
rejected trajectories. Those without a response, or with an unclear one, count as unknown and are sent again only with
--resend-unknown. Trajectories that were sent to the dataset before, from any file and for any agent, count as sent
before: they are sent again only with --new, or if the service is known to store nothing twice. If uploads cannot be
recorded, or their record is in a damaged file, nothing is sent without --new.`,
    args: [{ name: 'PATH' }],
    flags: {
      ...serviceFlags,
      new: { description: 'start over, even if the folder or file, or part of it, was sent before' },
      resendUnknown: {
        description: 'resend trajectories that may already be stored; the service may store them twice',
      },
      dataset: { value: 'NAME', of: 'seen', kinds: ['dataset'], description: 'dataset to add the trajectories to' },
      ...agentFlag,
      ...scoreFlag,
      failures: { value: 'FILE', description: 'write the rejected lines to this new file' },
      wait: { short: 'w', description: 'wait until the benchmark of a folder is ready' },
      timeout: {
        ...waitFlags.timeout,
        description: 'stop after this long; repeat the command to continue',
      },
      dryRun: { short: 'n', description: 'read the folder or file and print the items to send' },
      ...recordFlags,
    },
    exclusive: [
      ['dryRun', 'wait'],
      ['dryRun', 'failures'],
      ['new', 'resendUnknown'],
    ],
    examples: ['benchtop upload ./my-benchmark --wait', 'benchtop upload rollouts.jsonl --dataset production'],
  }),
  api: spec({
    summary: 'call any operation on the service',
    about: `Calls an operation of the contract by its name, or any path on the service. Each NAME is a field of the path, the query
or the body in the contract. Values are strings; if the contract expects another type, they are read as JSON. The response is printed as
JSON or, for a path outside the contract, unchanged. Without an operation, lists all operations with their fields.`,
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
        description: 'method for a path (default: POST with a body, else GET)',
      },
      rawField: {
        value: 'NAME=VALUE',
        short: 'f',
        many: true,
        description: 'a text field of the body, or of the query for a GET',
      },
      typedField: {
        value: 'NAME=VALUE',
        short: 'F',
        many: true,
        description: 'the same as JSON (a number, true, null and so on) or @FILE',
      },
      body: { value: 'JSON|@FILE|-', description: 'the whole body: JSON, a file, or standard input' },
      input: { value: 'FILE|-', description: 'the whole body, sent unchanged, from a file or standard input' },
      include: { short: 'i', description: 'print the status and the headers before the response' },
      paginate: { description: 'read every page of a list, and print its items' },
      idempotencyKey: { value: 'KEY', description: 'repeating a start with the same key starts it only once' },
      tokenEnv: { value: 'NAME', description: 'variable that holds the trajectory token' },
      ...dryRunFlag,
    },
    exclusive: [
      [...exclusiveRecordFlags, 'include'],
      ['dryRun', 'field', 'jq', 'include'],
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
  ...results,
  ...notes,
  ...setup,
  version: spec({ summary: 'print the version', flags: recordFlags }),
  doctor: spec({
    summary: 'check the installation and suggest fixes',
    about:
      'Checks the program, the terminal, the settings, the folders and the service. Exits with 1 if something is wrong, or 3 if only the service fails or does not respond. With --alarms, shows instead which alarms a past run would have raised, each with its step, its time if known, its value and its limit, and exits with 8 if there are any.',
    flags: {
      ...serviceFlags,
      alarms: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['training', 'run'],
        description: 'show which alarms this run would have raised',
      },
      model: { value: 'MODEL', of: 'chat model', description: 'also ask this model for an answer' },
      ...recordFlags,
    },
    exclusive: [['alarms', 'model']],
    examples: ['benchtop doctor --alarms first'],
  }),
  serve: spec({
    summary: 'run the local service in the foreground, until ctrl-c',
    flags: {
      port: { value: 'N', short: 'p', number: 'whole', description: 'port to listen on (default: a free one)' },
      data: { value: 'FOLDER', description: 'folder for its data', variable: 'BENCHTOP_DATA_DIR' },
      upstream: {
        ...serviceFlags.upstream,
        description: 'chat and rollouts with other models go to this OpenAI-compatible server',
      },
      upstreamKeyEnv: serviceFlags.upstreamKeyEnv,
      upstreamKeyFile: serviceFlags.upstreamKeyFile,
      apiKeyEnv: { value: 'NAME', description: 'variable that holds the key that clients must send' },
      apiKeyFile: { value: 'PATH', description: 'file that holds the key that clients must send, mode 0600' },
      rateLimit: { value: 'N', number: 'positive', description: 'limit each key to this many requests per second' },
      status: { description: 'show whether it is running' },
      stop: { description: 'stop it, even if it no longer responds; running work resumes when it next starts' },
      yes: { ...yesFlag.yes, needs: 'stop', description: 'do not ask before killing a service that does not respond' },
      background: { description: 'end when idle', hidden: true },
      json: { description: 'print --status and --stop as JSON' },
    },
    exclusive: [['status', 'stop', 'port', 'background']],
    examples: ['benchtop serve --port 8080 --data ./data'],
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;

/** Descriptions of the two-word commands, by first word. */
export const groups: Readonly<Record<string, string>> = {
  secret: 'set: create a secret of the organization',
  notes: 'list, set, export, import: flags and notes on trajectories and evaluation runs',
  profile: 'list, use, add, remove: the services to choose from',
  config: 'path, get, set: the settings file',
};

export type CommandName = keyof typeof commands;

export type WorkbenchFlags = FlagValues<typeof workbench.flags>;

/** A command's input: its arguments and flags. */
export interface CommandInput<Name extends CommandName> {
  readonly args: readonly string[];
  readonly flags: FlagValues<(typeof commands)[Name]['flags']>;
}
