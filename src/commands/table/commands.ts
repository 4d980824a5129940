/** Every command of the command line: what it takes and what it does. */
import { aboutAudit } from '../../present/about-audit.ts';
import { aboutAgreement, aboutIntervals } from '../../present/statistics/about.ts';
import { aboutPasses } from '../../present/statistics/pass-at-k.ts';
import {
  agentFlag,
  dryRunFlag,
  exclusiveRecordFlags,
  jsonFlag,
  recordFlags,
  screenFlags,
  serviceFlags,
  untilFlag,
  waitFlags,
  yesFlag,
} from './flags.ts';
import { notes } from './notes.ts';
import { setup } from './setup.ts';
import { type CommandSpec, type FlagValues, spec } from './spec.ts';
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

const listFormats = ['table', 'json', 'jsonl', 'csv', 'markdown'] as const;

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
        description: 'only those of this benchmark; required for images',
      },
      run: { value: 'ID|NAME', of: 'seen', kinds: ['run'], description: 'only trajectories of this evaluation run' },
      training: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['training'],
        description: 'only those of this training run; required for checkpoints',
      },
      dataset: { value: 'NAME', of: 'seen', kinds: ['dataset'], description: 'only trajectories of this dataset' },
      status: { value: 'STATUS', of: 'status', description: 'only rows with this status' },
      filter: {
        value: 'TEXT',
        of: 'filter',
        empty: true,
        description:
          'only rows that match all terms, e.g. status:failed heldout<0.5 lr>1e-5 age<2d !text; also /re/ and ~fuzzy. Columns that take a request per row (held-out, best, trainer) are read for at most 500 rows',
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
        description: 'the run to compare others of its benchmark with (default: the one chosen on screen)',
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
      { name: 'WHAT', of: 'resource or seen', optional: true },
      { name: 'ID|NAME', of: 'of resource' },
    ],
    flags: { ...serviceFlags, ...recordFlags },
    exclusive: [exclusiveRecordFlags],
    examples: ['benchtop get evr_1', 'benchtop get benchmark t-words --json'],
  }),
  watch: spec({
    summary: 'print each change of running work until it ends',
    about: `Watches evaluation runs, training runs, deployments, and benchmarks (until they are ready), by id or name.
The first word may name their kind; a kind alone watches everything of that kind that is running. Without arguments,
watches everything that is running or pinned. Notes when an alarm from the settings begins and ends. Exit code 0 if all
succeed, 1 if one fails, 6 if the outcome of one is unknown, 8 if one succeeds while an alarm holds. With --since last,
prints the inbox of the workbench instead: exit code 1 if something in it failed, 8 if it has an alarm. With --until,
the rewards decide when a named, pinned or running evaluation has ended; one without a status is listed, but not waited
for.`,
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
        description: 'print what ended, failed or stalled since you last looked, and exit',
      },
      alarm: { description: 'stop with exit code 8 when an alarm begins' },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags, ['since', 'until'], ['since', 'timeout'], ['since', 'alarm']],
    examples: ['benchtop watch --since last', 'benchtop watch first --alarm'],
  }),
  chat: spec({
    summary: 'ask a model a question, or chat with it',
    about:
      'With a text it asks once, otherwise it chats until an empty line. Piped input is appended to the text: benchtop waits up to 10 seconds for it to begin, or without a limit if - follows the text. After -- every word is text, even one like --this.',
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
      ignoreInput: { short: 'n', description: 'do not read standard input, as in a loop that reads it' },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags],
    examples: ["benchtop chat benchtop/tutor-base 'opposite: hot?'"],
  }),
  upload: spec({
    summary: 'upload a benchmark from a folder, or trajectories from a file',
    about: `A folder with a manifest.json becomes a benchmark: its files are uploaded and ingested, and its images are
built; --wait waits until it is ready. A file, or - for standard input, holds trajectories: one JSON object per line, an
array, or a single object, or any format that benchtop read accepts: rollouts of verifiers and prime-rl, logs of
Inspect, conversations. A note says what was left out. After a failure, repeat the command to send the rest, including
rejected trajectories. Those whose request was not answered, or of which the answer is not clear, count as unknown. They
are sent again only with --resend-unknown, and a file that was sent completely only with --new, unless the service is
known to store nothing twice.`,
    args: [{ name: 'PATH', of: 'file' }],
    flags: {
      ...serviceFlags,
      new: { description: 'start over, even if the folder or file, or part of it, was sent before' },
      resendUnknown: {
        description: 'resend trajectories that may already be stored; the service may store them twice',
      },
      dataset: { value: 'NAME', of: 'seen', kinds: ['dataset'], description: 'dataset to add the trajectories to' },
      ...agentFlag,
      failures: { value: 'FILE', description: 'write the rejected lines to this new file' },
      wait: { short: 'w', description: 'wait until the benchmark of a folder is ready' },
      timeout: {
        ...waitFlags.timeout,
        description: 'stop after this long; repeat the command to continue',
      },
      dryRun: { short: 'n', description: 'read the folder or file and print what would be sent' },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags, ['dryRun', 'wait'], ['dryRun', 'failures'], ['new', 'resendUnknown']],
    examples: ['benchtop upload ./my-benchmark --wait', 'benchtop upload rollouts.jsonl --dataset production'],
  }),
  api: spec({
    summary: 'call any operation of the service',
    about: `Calls an operation of the contract by its name, or any path of the service. Each NAME is a field of the path, the query
or the body in the contract. Values are strings; if the contract expects another type, they are read as JSON. The answer is printed as
JSON; for a path outside the contract, unchanged. Without an operation, lists all operations with their fields.`,
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
      input: { value: 'FILE|-', description: 'the whole body as it is, from a file or standard input' },
      include: { short: 'i', description: 'print the status and the headers before the answer' },
      paginate: { description: 'read every page of a list, and print its items' },
      idempotencyKey: { value: 'KEY', description: 'repeating a start with the same key starts it only once' },
      tokenEnv: { value: 'NAME', description: 'variable that holds the token of the trajectory' },
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
  compare: spec({
    summary: 'compare evaluation runs task by task',
    about: `Prints the paired difference of the rewards (NEW minus BASE) with its confidence interval, the number of
tasks, how many of them got better and worse, and a verdict: NEW is better, worse, equal within --equal-within, or
undecided.

With --fail-below, the exit code is 0 only if the whole interval is at or above that value. It is 1 if the whole
interval is below, and also if the interval contains the value: the gate is then undecided, and --undecided pass lets it
through.

With up to 8 runs, prints a line for each, compared with BASE, and then the tasks in all runs, the largest spread first.
Their intervals are wider, so that all of them hold together with --confidence (Bonferroni; Dunn 1961). N FOR HALF
estimates how many tasks like these would show half of the difference.

${aboutIntervals}`,
    args: [
      { name: 'BASE', of: 'seen', kinds: ['run'] },
      { name: 'NEW', of: 'seen', kinds: ['run'] },
      { name: 'MORE', of: 'seen', kinds: ['run'], many: true, optional: true },
    ],
    flags: {
      ...serviceFlags,
      failBelow: { value: 'N', number: 'any', description: 'exit with 1 if the lower bound is below this' },
      undecided: {
        value: 'HOW',
        choices: ['fail', 'pass'],
        needs: 'failBelow',
        description: 'whether an undecided gate fails or passes (default: fail)',
      },
      confidence: { value: 'N', number: 'any', description: 'confidence level of the interval (default: 0.95)' },
      equalWithin: {
        value: 'D',
        number: 'any',
        description: 'runs that differ by no more count as equal (default: from the settings, 0.05)',
      },
      rewardRange: {
        value: 'LO..HI',
        description: 'the lowest and the highest possible reward (default: from the settings, 0..1)',
      },
      missing: {
        value: 'HOW',
        choices: ['bound', 'ignore'],
        description: 'rollouts without a reward: count the worst and the best case, or ignore them (default: bound)',
      },
      ended: {
        description:
          'treat the listed rewards as complete if the service does not report the end of a run or its number of rollouts',
      },
      ...recordFlags,
      markdown: { description: 'print a Markdown table, e.g. for a pull request' },
    },
    exclusive: [[...exclusiveRecordFlags, 'markdown']],
    examples: ['benchtop compare evr_base evr_new --fail-below 0', 'benchtop compare base first second third'],
  }),
  tasks: spec({
    summary: 'list the tasks of a run, a training run or a dataset, with pass@k and pass^k',
    about: `Prints a line for each task, the worst first: the number of rollouts with a reward, their mean and rewards,
the share that passed, and the numbers of failed rollouts and of those without a reward.

${aboutPasses}`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['run', 'training', 'dataset'] }],
    flags: {
      ...serviceFlags,
      base: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['run'],
        description: 'also show the difference from this evaluation run',
      },
      passAt: {
        value: 'N',
        number: 'any',
        description: 'the lowest reward that passes (default: the highest of the range)',
      },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags],
    examples: ['benchtop tasks second --base first'],
  }),
  failures: spec({
    summary: 'count how the rollouts of a run, a training run or a dataset ended',
    about: `Groups rollouts by status, error (ignoring ids and numbers), termination reason, finish reason and number of
steps, and prints how many are in each group, their share and their mean reward. The JSON has their ids.`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['run', 'training', 'dataset'] }],
    flags: { ...serviceFlags, ...recordFlags },
    exclusive: [exclusiveRecordFlags],
    examples: ['benchtop failures second', "benchtop list trajectories --run second --filter 'ended:max_steps'"],
  }),
  search: spec({
    summary: 'search the texts of all trajectories of a run, a dataset or a benchmark',
    about: `Finds the trajectories with a line that has all the words, and prints each as it is found: its first such
line with place and role, and the number of such lines. Notes how many match by reward and by how they ended, and what
could not be read. Words in double quotes are a phrase; /re/ is a regular expression; a word with a capital
letter is case-sensitive. Exit code 5 if nothing matches, 1 if something could not be read.

Texts that were read are kept on disk for the next search. --forget deletes them for every service; the setting
search.indexMegabytes limits their size.`,
    args: [{ name: 'WORDS', many: true, optional: true }],
    flags: {
      ...serviceFlags,
      in: {
        value: 'ID|NAME',
        short: 'i',
        of: 'seen',
        kinds: ['run', 'training', 'dataset', 'benchmark'],
        many: true,
        description: 'the run, training run, dataset or benchmark to search',
      },
      step: {
        value: 'N',
        number: 'whole',
        needs: 'in',
        description: 'only the rollouts of this step of a training run',
      },
      forget: { description: 'delete the texts kept on this machine' },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags, ['forget', 'in']],
    examples: [
      'benchtop search "permission denied" --in evr_1',
      `benchtop search '/pytest .*-k/' --in production --json`,
    ],
  }),
  regrade: spec({
    summary: 'grade the rollouts of a run, a training run or a dataset again, and show what changes',
    about: `Grades existing rollouts with another grader. It samples nothing, and writes nothing to the service. Prints
the change of the mean with its paired interval, how many rollouts no longer pass or newly pass, the agreement, and the
changed trajectories: those that no longer or newly pass first, then the largest change. Failed rollouts are not graded. Exit code 1 if others could not be
graded.

--with takes a grader of the local service (exact, contains, regex, number, word_share or choice) and what it expects,
e.g. "contains Paris", or its JSON. Missing fields come from the grader stored with each rollout, if the service stores
one, as the local service does. It grades the final answer of the model.

--command runs a program for each trajectory, without a shell. It reads the trajectory as JSON and prints a reward,
optionally followed by an explanation. --judge asks a deployed model to grade by a --rubric.

${aboutAgreement}`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['run', 'training', 'dataset'] }],
    flags: {
      ...serviceFlags,
      with: { value: 'GRADER', description: 'a grader of the local service, e.g. exact or "regex ^yes"' },
      command: { value: 'COMMAND', description: 'a program that reads a trajectory as JSON and prints a reward' },
      limit: {
        value: 'SECONDS',
        number: 'positive',
        needs: 'command',
        description: 'kill the program after this time (default: 30)',
      },
      judge: { value: 'MODEL', of: 'chat model', needs: 'rubric', description: 'a model that grades by the rubric' },
      rubric: { value: 'TEXT|@FILE', needs: 'judge', description: 'what the model grades by' },
      passAt: {
        value: 'N',
        number: 'any',
        description: 'the lowest reward that passes (default: the highest of the range)',
      },
      rewardRange: {
        value: 'LO..HI',
        description: 'the lowest and the highest possible reward (default: from the settings, 0..1)',
      },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags, ['with', 'command', 'judge']],
    examples: [
      'benchtop regrade evr_1 --with exact',
      `benchtop regrade evr_1 --with 'regex ^twelve$' --json`,
      `benchtop regrade evr_1 --command 'python3 grade.py' --limit 10`,
    ],
  }),
  describe: spec({
    summary: 'describe the curves of a training run, and what its steps teach',
    about: `Prints the held-out and the trainer's rewards: first, last, highest and lowest value, the steps without a
value, and the mean of each fifth of the curve. Two fifths count as level if their means differ by less than two
standard errors.

The teaching signal counts the groups of a step, each the rollouts of one task. A group teaches if its rewards differ;
others are too easy (all have the highest reward), too hard (all the lowest), equal, or have fewer than two rewards. At
most 60 steps are read: the newest 12 and others at equal distances. The output says since which step at least half of
the groups have taught nothing.

--audit prints an audit instead. ${aboutAudit}`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['training'] }],
    flags: {
      ...serviceFlags,
      audit: { description: 'an audit of the reward: what may be wrong, and the rollouts to read' },
      ...recordFlags,
    },
    exclusive: [exclusiveRecordFlags],
    examples: ['benchtop describe first', 'benchtop describe first --audit'],
  }),
  tree: spec({
    summary: 'print the lineage of evaluations, training runs, checkpoints and deployments',
    about: `Prints the tree of a benchmark, or for another resource, what is above and below it. Without an argument,
prints the tree of all benchmarks, with only the checkpoints that other resources refer to. Reads the checkpoints of at
most 100 training runs. HELD-OUT is the held-out reward at the step of a checkpoint, and the best one of a training run.`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['benchmark', 'training', 'run', 'deployment'], optional: true }],
    flags: { ...serviceFlags, ...recordFlags },
    exclusive: [exclusiveRecordFlags],
    examples: ['benchtop tree t-words', 'benchtop tree first --json'],
  }),
  export: spec({
    summary: 'write trajectories with their steps, as JSON Lines',
    about:
      'Exports the trajectories of evaluation runs, training runs or datasets, or single ones. benchtop upload accepts the lines, including rewards and how the rollouts ended. benchtop notes export writes flags and notes.',
    args: [
      { name: 'WHAT', of: 'resource or seen', kinds: ['run', 'training', 'dataset', 'trajectory'], optional: true },
      { name: 'ID|NAME', of: 'of resource', many: true, optional: true },
    ],
    flags: {
      ...serviceFlags,
      flagged: { description: 'the trajectories with a flag, instead of named ones' },
      flag: { value: 'FLAG', many: true, description: 'the trajectories with this flag, e.g. gamed' },
      output: { value: 'FILE', short: 'o', description: 'a new file (default: standard output)' },
      json: jsonFlag.json,
    },
    examples: [
      'benchtop export evr_1 --output rollouts.jsonl',
      'benchtop export dataset production > production.jsonl',
      'benchtop export --flag gamed --output gamed.jsonl',
    ],
  }),
  read: spec({
    summary: 'read a file of rollouts, without a service',
    about: `On a terminal, opens the file as a list with the reader, groups and search; elsewhere, prints the transcripts. Nothing is
uploaded or kept. It takes exported trajectories, rollouts of verifiers and prime-rl, logs of Inspect (.json, .eval), conversations and
batches of OpenAI and Anthropic, and ShareGPT; a note names the format and says what was left out. - is standard input. Exit code 1
if some of it could not be read.`,
    args: [{ name: 'FILE', of: 'file' }],
    flags: {
      text: { description: 'print the transcripts on a terminal too' },
      json: { description: 'print the trajectories as JSON Lines, for benchtop upload' },
      theme: screenFlags.theme,
      mouse: screenFlags.mouse,
    },
    exclusive: [['text', 'json']],
    examples: ['benchtop read results.jsonl', 'benchtop read log.eval --json > trajectories.jsonl'],
  }),
  report: spec({
    summary: 'write a report on a run, several runs, a training run or a dataset as one HTML or Markdown file',
    about: `Writes one self-contained file: facts, curves, the distribution of rewards, how the rollouts ended, the
worst tasks, and the transcripts of the flagged, worst and best trajectories. Text from models is escaped. --flagged
reports only the trajectories with a flag or a note.

Two to eight runs of a benchmark are compared with the first: the verdicts with intervals, the tasks (of two runs, those
that no longer or newly pass first), the settings in which the runs differ, and both transcripts of the worst
regressions. --worst and --best are then regressions and improvements of each run (default: 3 and 0).`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['run', 'training', 'dataset'], many: true, optional: true }],
    flags: {
      ...serviceFlags,
      output: { value: 'FILE', short: 'o', description: 'a new file (default: standard output)' },
      format: {
        value: 'FORMAT',
        short: 'f',
        choices: ['html', 'markdown'],
        description: 'format of the file (default: by its name, else html)',
      },
      flagged: { description: 'the trajectories with a flag or a note, instead of a run' },
      worst: { value: 'N', number: 'whole', description: 'transcripts with the lowest rewards (default: 3)' },
      best: { value: 'N', number: 'whole', description: 'transcripts with the highest rewards (default: 3)' },
      json: jsonFlag.json,
    },
    examples: [
      'benchtop report first --output first.html',
      'benchtop report evr_1 evr_2 --output compared.html',
      'benchtop report --flagged --output flagged.md',
    ],
  }),
  open: spec({
    summary: 'open the workbench at one resource, at a list, or at Watch',
    args: [
      { name: 'WHAT', of: 'resource or seen', optional: true },
      { name: 'ID|NAME', of: 'of resource' },
    ],
    flags: { ...serviceFlags, ...screenFlags },
    examples: ['benchtop open evr_1', 'benchtop open training first', 'benchtop open watch'],
  }),
  ...notes,
  ...setup,
  version: spec({ summary: 'print the version', flags: recordFlags, exclusive: [exclusiveRecordFlags] }),
  doctor: spec({
    summary: 'check the installation and say what to fix',
    about:
      'Checks the program, the terminal, the settings, the folders and the service. Exit code 1 if something is wrong. With --alarms, shows instead which alarms a past run would have raised, each with its step, its time if known, its value and its limit; exit code 8 if there is one.',
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
    exclusive: [exclusiveRecordFlags, ['alarms', 'model']],
    examples: ['benchtop doctor --alarms first'],
  }),
  serve: spec({
    summary: 'run the local service in the foreground, until ctrl-c',
    flags: {
      port: { value: 'N', short: 'p', number: 'whole', description: 'port to listen on (default: a free one)' },
      data: { value: 'FOLDER', description: 'folder for its data', variable: 'BENCHTOP_DATA_DIR' },
      upstream: {
        ...serviceFlags.upstream,
        description: 'chat and rollouts of other models go to this OpenAI-compatible server',
      },
      upstreamKeyEnv: serviceFlags.upstreamKeyEnv,
      upstreamKeyFile: serviceFlags.upstreamKeyFile,
      apiKeyEnv: { value: 'NAME', description: 'variable that holds the key that clients must send' },
      apiKeyFile: { value: 'PATH', description: 'file that holds the key that clients must send' },
      rateLimit: { value: 'N', number: 'positive', description: 'limit each key to this many requests per second' },
      status: { description: 'show whether it is running' },
      stop: { description: 'stop it, even if it no longer answers; running work resumes at the next start' },
      yes: { ...yesFlag.yes, needs: 'stop', description: 'do not ask before ending one that does not answer' },
      background: { description: 'end when idle', hidden: true },
      json: { description: 'print --status and --stop as JSON' },
    },
    exclusive: [['status', 'stop', 'port', 'background']],
    examples: ['benchtop serve --port 8080 --data ./data'],
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;

/** Descriptions of the two-word commands, by their first word. */
export const groups: Readonly<Record<string, string>> = {
  secret: 'set: create a secret of the organization',
  notes: 'list, set, export, import: flags and notes on trajectories and runs',
  profile: 'list, use, add, remove: the services to choose from',
  config: 'path, get, set: the settings file',
};

export type CommandName = keyof typeof commands;

export type WorkbenchFlags = FlagValues<typeof workbench.flags>;

/** The input of a command: its arguments and flags. */
export interface CommandInput<Name extends CommandName> {
  readonly args: readonly string[];
  readonly flags: FlagValues<(typeof commands)[Name]['flags']>;
}
