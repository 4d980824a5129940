/** Commands for flags and notes. */
import { exclusiveRecordFlags, jsonFlag, recordFlags, serviceFlags } from './flags.ts';
import { type CommandSpec, spec } from './spec.ts';

const { profile } = serviceFlags;
const flagFlag = { value: 'FLAG', description: 'only those with this flag' } as const;

export const notes = {
  'notes list': spec({
    summary: 'list the flags and notes on trajectories and runs',
    about:
      'Notes are kept on this machine, by profile; 1 to 9 flag a row of the workbench, and the key of a quote writes a note.',
    flags: { profile, flag: flagFlag, ...recordFlags },
    exclusive: [exclusiveRecordFlags],
  }),
  'notes set': spec({
    summary: 'flag trajectories or runs, or write a note on them',
    args: [{ name: 'ID', many: true, of: 'seen', kinds: ['trajectory', 'run'] }],
    flags: {
      profile,
      flag: { value: 'FLAG', empty: true, description: 'e.g. gamed; an empty one takes it back' },
      note: { value: 'TEXT', empty: true, description: 'the note; an empty one takes it back' },
      message: { value: 'N', number: 'count', description: 'about this message, from 1, instead of all of it' },
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
    summary: 'merge flags and notes of somebody else from a file',
    about: 'Of each author the newest note on a thing wins. Says which things authors flag differently.',
    args: [{ name: 'FILE', of: 'file' }],
    flags: { profile, ...jsonFlag },
    examples: ['benchtop notes import theirs.jsonl'],
  }),
} as const satisfies Readonly<Record<string, CommandSpec>>;
