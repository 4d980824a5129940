/** Commands for human judgements: flags, notes and choices. */
import { jsonFlag, recordFlags, serviceFlags } from './flags.ts';
import { type CommandSpec, spec } from './spec.ts';

const { profile } = serviceFlags;
const flagFlag = { value: 'FLAG', of: 'flag', description: 'only notes with this flag' } as const;

export const notes = {
  'notes list': spec({
    summary: 'list the flags and notes on trajectories and evaluation runs',
    about:
      'Notes are kept on this machine, per service. In the workbench, 1 to 9 flag a row and the quote key writes a note.',
    flags: { profile, flag: flagFlag, ...recordFlags },
  }),
  'notes set': spec({
    summary: 'flag trajectories or evaluation runs, or write a note on them',
    args: [{ name: 'ID|NAME', many: true, of: 'seen', kinds: ['trajectory', 'run'] }],
    flags: {
      profile,
      flag: { value: 'FLAG', of: 'flag', empty: true, description: 'the flag, e.g. gamed; empty removes it' },
      note: { value: 'TEXT', empty: true, description: 'the note; empty removes it' },
      message: {
        value: 'N',
        number: 'count',
        description: 'the message of a trajectory, from 1 (default: all of it)',
      },
      ...jsonFlag,
    },
    examples: ['benchtop notes set traj_1 --flag gamed --note "prints the expected answer"'],
  }),
  'notes export': spec({
    summary: 'write all flags and notes as JSON Lines, to merge them elsewhere',
    flags: {
      profile,
      flag: flagFlag,
      output: { value: 'FILE', short: 'o', description: 'a new file (default: standard output)' },
      ...jsonFlag,
    },
    examples: ['benchtop notes export --output mine.jsonl'],
  }),
  'notes import': spec({
    summary: 'merge flags and notes from a file',
    about: `A FILE of - is standard input. For each author and item, the newest note wins. Lists the items that authors flag
differently.`,
    args: [{ name: 'FILE' }],
    flags: { profile, ...jsonFlag },
    examples: ['benchtop notes import theirs.jsonl'],
  }),
  choices: spec({
    summary: 'count which of two models gave the better answers in chats',
    about: `In the workbench, a chat can ask two models, and you choose the better answer with a key. Choices are kept on
this machine, per service, even after their conversation is deleted. P comes from the exact two-sided sign test, which leaves out equal
answers and is valid for a single look (Dixon and Mood 1946).`,
    flags: { profile, ...recordFlags },
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;
