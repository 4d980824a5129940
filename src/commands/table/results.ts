/** Commands that read run results. */
import { aboutAudit } from '../../present/about.ts';
import { aboutAgreement, aboutIntervals } from '../../present/statistics/about.ts';
import { aboutPasses } from '../../present/statistics/pass-at-k.ts';
import { jsonFlag, recordFlags, scoreFlag, screenFlags, serviceFlags } from './flags.ts';
import { type CommandSpec, exclusiveRecordFlags, type FlagSpec, spec } from './spec.ts';

const passAtFlag = {
  value: 'N',
  number: 'any',
  description: 'the lowest reward that passes (default: the highest in the range)',
} as const satisfies FlagSpec;
const rewardRangeFlag = {
  value: 'LO..HI',
  description: 'the lowest and the highest possible reward (default: from the settings, 0..1)',
} as const satisfies FlagSpec;

const stepsFlag = {
  value: 'FROM..TO',
  description: 'only the rollouts of these steps of a training run, e.g. 50..60, 50.. or 50',
} as const satisfies FlagSpec;

const graderFlags = {
  with: { value: 'GRADER', of: 'grader', description: 'a grader of the local service, e.g. exact or "regex ^yes"' },
  command: { value: 'COMMAND', description: 'a program that reads a trajectory as JSON and prints a reward' },
  limit: {
    value: 'SECONDS',
    number: 'positive',
    needs: 'command',
    description: 'kill the program after this time (default: 30)',
  },
  judge: { value: 'MODEL', of: 'chat model', needs: 'rubric', description: 'a model that grades by the rubric' },
  rubric: { value: 'TEXT|@FILE', needs: 'judge', description: 'the criteria for the model' },
} as const satisfies Record<string, FlagSpec>;
const exclusiveGraderFlags = ['with', 'command', 'judge'] as const;

const aboutFiles = `FILE is a file that benchtop read accepts, a pipe such as /dev/stdin or <(COMMAND), or - for standard input:
nothing is uploaded or kept. Its path must contain a slash or a dot, e.g. ./rollouts. Rollouts without an id are named by their
place, e.g. line 3. If an Inspect log has several scores, the reward is the first scorer's (none, if it gives
several); a note names it, and --score chooses another.`;

export const results = {
  compare: spec({
    summary: 'compare evaluation runs task by task',
    about: `Prints the paired difference of the rewards (NEW minus BASE) with its confidence interval, the number of
tasks, how many of them got better and worse, and a verdict: NEW is better, worse, equal within --equal-within, or
undecided. If many answers were cut off at the token limit, or clearly more in one run, the next line counts them; likewise
for tool errors. If some rewards are partial, it also counts the full ones, i.e. those at or above the
top of the range.
In JSON, answer_ends of a run has the counts of its answers; it is null if the service does not report how they ended,
and {"error": "..."} if they could not be read.

With --fail-below, for two runs or two pools, the exit code is 0 only if the whole interval is at or above that value.
It is 1 if the whole interval is below, and also if the interval contains the value: the gate is then undecided, and
--undecided pass lets it through.

With up to 8 runs, prints the tasks in all runs, the largest spread first, and then a line for each run, compared with BASE.
Their intervals are wider, so that all of them hold together with --confidence (Bonferroni; Dunn 1961). N FOR DIFF/2
estimates how many tasks like these would show half of the difference.

With --pool, runs of the same model and checkpoint whose known options differ only in the seed count as one run with
several rollouts of each task. The runs that are pooled with BASE are the baseline. Runs with the same seed may have the
same answers: they are not pooled with each other.

With --with, --command or --judge, compares the rewards that another grader would have given, as benchtop regrade finds
them: is NEW still better by exact? Nothing is sampled or written. Rollouts that cannot be graded count as missing. It exits with 1 if any other than failed
and running ones could not be read or graded, whatever --fail-below says.

${aboutIntervals}`,
    args: [
      { name: 'BASE', of: 'seen', kinds: ['run'] },
      { name: 'NEW', of: 'seen', kinds: ['run'] },
      { name: 'MORE', of: 'seen', kinds: ['run'], many: true, optional: true },
    ],
    flags: {
      ...serviceFlags,
      pool: { description: 'pool the runs of a model that differ only in the seed' },
      failBelow: {
        value: 'N',
        number: 'any',
        description: 'exit with 1 if the lower bound is below this; for two runs or two pools',
      },
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
      rewardRange: rewardRangeFlag,
      missing: {
        value: 'HOW',
        choices: ['bound', 'ignore'],
        description: 'rollouts without a reward: count the worst and the best case, or ignore them (default: bound)',
      },
      samplesPerTask: {
        value: 'N',
        number: 'count',
        description:
          'how many rollouts each task has, for runs whose service does not return evaluation_samples_per_task',
      },
      ended: {
        description:
          'treat the listed rewards as complete if the service does not report the end of a run or its number of rollouts',
      },
      ...graderFlags,
      ...recordFlags,
      markdown: { description: 'print a Markdown table, e.g. for a pull request' },
    },
    exclusive: [[...exclusiveRecordFlags, 'markdown'], exclusiveGraderFlags],
    examples: [
      'benchtop compare evr_base evr_new --fail-below 0',
      'benchtop compare evr_base evr_new --with exact',
      'benchtop compare base first second third',
      'benchtop compare a-1 a-2 b-1 b-2 --pool',
    ],
  }),
  tasks: spec({
    summary: 'list the tasks of a run, a training run, a dataset or a file, with pass@k and pass^k',
    about: `Prints a line for each task, worst first: the number of rollouts with a reward, their mean and rewards,
the share that passed, and how many rollouts failed or have no reward. The model
of a training run changes, so its tasks show the mean at the first and last steps, and a curve in between.

${aboutPasses}

${aboutFiles}`,
    args: [{ name: 'ID|NAME|FILE', of: 'seen', kinds: ['run', 'training', 'dataset'] }],
    flags: {
      ...serviceFlags,
      base: {
        value: 'ID|NAME',
        of: 'seen',
        kinds: ['run'],
        description: 'also show the difference from this evaluation run',
      },
      passAt: passAtFlag,
      steps: stepsFlag,
      ...scoreFlag,
      ...recordFlags,
    },
    examples: ['benchtop tasks second --base first'],
  }),
  failures: spec({
    summary: 'count how the rollouts of a run, a training run, a dataset or a file ended',
    about: `Groups rollouts by status, error and last tool error (ignoring ids, numbers, quotations and names), termination
reason, finish reason and number of steps, and prints how many are in each group, their share and their mean reward. The
JSON has their ids. Those of a training run are from all its steps, and so from different models: --steps selects the newest.

${aboutFiles}`,
    args: [{ name: 'ID|NAME|FILE', of: 'seen', kinds: ['run', 'training', 'dataset'] }],
    flags: { ...serviceFlags, steps: stepsFlag, ...scoreFlag, ...recordFlags },
    examples: [
      'benchtop failures second',
      'benchtop failures first-training --steps 50..60',
      'benchtop failures results.jsonl',
      "benchtop list trajectories --run second --filter 'ended:max_steps'",
    ],
  }),
  search: spec({
    summary: 'search the text of all trajectories in a run, a dataset, a benchmark or a file',
    about: `Finds the trajectories with a line that has all the words. For each, prints the first matching line with its
place and role, and counts the matching lines in messages and in other fields, such as rewards and metrics. Notes count
the matches by reward and by how they ended, and name unreadable texts. Words in double quotes are a phrase; /re/
is a regular expression; a word with a capital letter is case-sensitive. Text that the reader does not show, such as
overwritten output and invisible characters, is searched as well; its role ends in "hidden". Exits with 5 if nothing
matches, or 1 if something could not be read.

Texts that were read are kept on disk for the next search. --forget deletes them for every service; the setting
search.indexMegabytes limits their size.

${aboutFiles} Texts from a file are not kept.`,
    args: [{ name: 'WORDS', many: true, optional: true }],
    flags: {
      ...serviceFlags,
      in: {
        value: 'ID|NAME',
        short: 'i',
        of: 'seen',
        kinds: ['run', 'training', 'dataset', 'benchmark'],
        many: true,
        description: 'the run, training run, dataset, benchmark or file to search',
      },
      step: {
        value: 'N',
        number: 'whole',
        needs: 'in',
        description: 'only the rollouts of this step of a training run',
      },
      role: {
        value: 'ROLE',
        needs: 'in',
        description: 'only lines of this role: assistant, user, tool, grader, "assistant reasoning" and so on',
      },
      ...scoreFlag,
      forget: { description: 'delete the texts kept on this machine' },
      ...recordFlags,
    },
    exclusive: [['forget', 'in']],
    examples: [
      'benchtop search "permission denied" --in evr_1 --role tool',
      `benchtop search '/pytest .*-k/' --in production --json`,
    ],
  }),
  regrade: spec({
    summary: 'regrade the rollouts of a run, a training run, a dataset or a file, and show the changes',
    about: `Grades existing rollouts with another grader. It samples nothing, and writes nothing to the service. Prints
the change of the mean with its paired interval, how many rollouts no longer pass or newly pass, how many rewards
changed and by how much, the agreement, and the changed trajectories: those that no longer or newly pass first,
then the largest change. Failed and running rollouts are counted, but not graded. Exits with 1 if any other rollout could not be read or graded.

--with takes a grader of the local service (exact, contains, regex, number, word_share or choice) and its expected
answer, e.g. "contains Paris", or its JSON. Missing fields come from the grader stored with each rollout, if the service
stores one, as the local service does. It grades the final answer of the model.

--command runs a program for each trajectory, without a shell. It reads the trajectory as JSON and prints a reward,
optionally followed by an explanation. --judge asks a deployed model to grade by a --rubric, within the range of rewards:
its last line must be REWARD: and a number, and nothing else. An answer that was cut off or refused gives no reward.

${aboutAgreement}

${aboutFiles} --judge does not take a FILE.`,
    args: [{ name: 'ID|NAME|FILE', of: 'seen', kinds: ['run', 'training', 'dataset'] }],
    flags: {
      ...serviceFlags,
      ...graderFlags,
      passAt: passAtFlag,
      rewardRange: rewardRangeFlag,
      ...scoreFlag,
      ...recordFlags,
    },
    exclusive: [exclusiveGraderFlags],
    examples: [
      'benchtop regrade evr_1 --with exact',
      `benchtop regrade evr_1 --with 'regex ^twelve$' --json`,
      `benchtop regrade evr_1 --command 'python3 grade.py' --limit 10`,
    ],
  }),
  describe: spec({
    summary: 'describe the curves of a training run, and its teaching signal',
    about: `Prints the held-out and the trainer's rewards: first, last, highest and lowest value, the trend, and the
steps without a value. The trend splits a curve into parts that rise, fall, go up and down or stay level, with the
last step and the value of each: the peak where a fall follows a rise, and the low where a rise follows a fall. Changes
within the noise between neighbours, or within a tenth of the range, count as level.

The teaching signal counts the groups of a step, each the rollouts of one task. A group teaches if its rewards differ;
others are too easy (all have the highest reward), too hard (all the lowest), equal, or have fewer than two rewards. At
most 60 steps are read: the newest 12 and others at equal intervals. The output names the step from which at least half
of the groups have taught nothing.

--audit prints an audit instead. ${aboutAudit}`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['training'] }],
    flags: {
      ...serviceFlags,
      audit: { description: 'an audit of the reward: signs of a problem, and the rollouts to read' },
      ...recordFlags,
    },
    examples: ['benchtop describe first', 'benchtop describe first --audit'],
  }),
  tree: spec({
    summary: 'print the lineage of evaluations, training runs, checkpoints and deployments',
    about: `Prints the tree of a benchmark, or the resources above and below another resource. Without an argument,
prints the tree of all benchmarks, with only the checkpoints that other resources refer to. Reads at most 100
training runs. HELD-OUT is a checkpoint's held-out reward at its step, or a training run's last
one; BEST is a training run's best one.`,
    args: [{ name: 'ID|NAME', of: 'seen', kinds: ['benchmark', 'training', 'run', 'deployment'], optional: true }],
    flags: { ...serviceFlags, ...recordFlags },
    examples: ['benchtop tree t-words', 'benchtop tree first --json'],
  }),
  export: spec({
    summary: 'write trajectories with their steps, as JSON Lines',
    about:
      'Exports the trajectories of evaluation runs, training runs or datasets, or single trajectories. benchtop upload accepts the lines, including rewards and how the rollouts ended. Flags and notes are written only with --notes, and benchtop upload never sends them.',
    args: [
      { name: 'WHAT', of: 'resource or seen', kinds: ['run', 'training', 'dataset', 'trajectory'], optional: true },
      { name: 'ID|NAME', of: 'of resource', many: true, optional: true },
    ],
    flags: {
      ...serviceFlags,
      flagged: { description: 'the trajectories with a flag, instead of named ones' },
      flag: { value: 'FLAG', many: true, description: 'the trajectories with this flag, e.g. gamed' },
      notes: { description: 'add the flags and notes, with their authors' },
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
    about: `On a terminal, opens the file as a list with the reader, groups and search, and follows it unless it is compressed;
elsewhere, or from - for standard input, prints the transcripts. Nothing is uploaded or kept. It takes exported trajectories,
rollouts from verifiers and prime-rl, Inspect logs (.json, .eval), conversations and batches from OpenAI and Anthropic,
ShareGPT and τ-bench, any of them compressed with gzip; a note names the format and lists omissions. If an Inspect log has several scores, the reward is the
first scorer's (none, if it gives several); a note names it, and --score chooses another. Exits with 1 if some of it
could not be read.`,
    args: [{ name: 'FILE' }],
    flags: {
      ...scoreFlag,
      text: { description: 'print the transcripts on a terminal too' },
      json: { description: 'print the trajectories as JSON Lines, for benchtop upload' },
      theme: screenFlags.theme,
      mouse: screenFlags.mouse,
    },
    exclusive: [['text', 'json']],
    examples: ['benchtop read results.jsonl', 'benchtop read log.eval --json > trajectories.jsonl'],
  }),
  report: spec({
    summary: 'write a report on a run, several runs, a training run, a dataset or a file as HTML or Markdown',
    about: `Writes one self-contained file: facts, curves, the distribution of rewards, how the rollouts ended, the
worst tasks, and the transcripts of the flagged, worst and best trajectories. Text from models is escaped. --flagged
reports only the trajectories with a flag or a note.

With two to eight runs of a benchmark, compares the others with the first: the verdicts with intervals, the tasks (with two runs, first those
that no longer pass or newly pass), the settings in which the runs differ, and both transcripts of the worst
regressions and of the best improvement. --worst and --best are then regressions and improvements of each run
(default: 3 and 1).

${aboutFiles} Files are not compared.`,
    args: [{ name: 'ID|NAME|FILE', of: 'seen', kinds: ['run', 'training', 'dataset'], many: true, optional: true }],
    flags: {
      ...serviceFlags,
      output: { value: 'FILE', short: 'o', description: 'a new file (default: standard output)' },
      format: {
        value: 'FORMAT',
        short: 'f',
        choices: ['html', 'markdown', 'md'],
        description: 'format of the file (default: by its name, else html)',
      },
      flagged: { description: 'the trajectories with a flag or a note, instead of a run' },
      worst: { value: 'N', number: 'whole', description: 'transcripts with the lowest rewards (default: 3)' },
      best: { value: 'N', number: 'whole', description: 'transcripts with the highest rewards (default: 3)' },
      ...scoreFlag,
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
} as const satisfies Readonly<Record<string, CommandSpec>>;
