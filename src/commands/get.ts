/** `benchtop get`: everything about one thing. */
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { Fact } from '../present/fact.ts';
import { transcriptText } from '../present/transcript-lines.ts';
import { resourceOfId } from '../resources/catalogue.ts';
import type { Resource } from '../resources/define.ts';
import { lookAt } from '../resources/watch.ts';
import { reward } from '../text/numbers.ts';
import { CommandError, exitCodes } from './exit.ts';
import { findOne, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { factText, recordText } from './output.ts';
import type { Given } from './table/commands.ts';
import { progressWords } from './watch.ts';
import { type CommandContext, withService } from './with-service.ts';

/** Where a trajectory goes to a file, its lines are wrapped at this. */
const usualWidth = 100;

/** How far what runs is. */
async function progressFacts({ kind, list, watch }: Resource, row: object, context: CommandContext): Promise<Fact[]> {
  if (kind === undefined || !watch?.details) return [];
  const { service, memory, signal } = context;
  const id = list({}).id(row);
  const seen = await lookAt({ kind, id, label: id }, { service, signal, memory });
  // The record of a run that has ended may hold its mean, which is among its facts then.
  const known = 'reward_mean' in row && row.reward_mean != null;
  const label = watch.recordsProgress ? 'last reward' : hasEnded(seen.status) ? 'mean' : 'mean so far';
  return [
    { label: 'progress', value: progressWords(seen) },
    { label, value: seen.mean === undefined || known ? undefined : reward(seen.mean) },
  ];
}

function askedFor([first = '', second]: readonly string[]): { resource: Resource; word: string } {
  if (second !== undefined) return { resource: resourceOrThrow(first), word: second };
  const resource = resourceOfId(first);
  if (!resource) throw new CommandError(`The id ${first} does not say what it is of: benchtop get WHAT ${first}.`);
  return { resource, word: first };
}

export async function run({ args, flags }: Given<'get'>, io: CommandIo): Promise<number> {
  const { resource, word } = askedFor(args);
  if (resource.needs)
    throw new CommandError(`${resource.names[0]} are told by benchtop list ${resource.names[0]} --json.`);
  return withService(flags, io, async context => {
    const row = await findOne(resource, word, context);
    if (flags.json || flags.field !== undefined) {
      await io.print(recordText(row, flags.field));
      return exitCodes.done;
    }
    const facts = [...resource.facts(row), ...(await progressFacts(resource, row, context))];
    await io.print(factText(facts, io.columns));
    if (resource.kind === 'trajectory') {
      await io.print(`\n${transcriptText(row as Trajectory, io.columns ?? usualWidth)}`);
    }
    return exitCodes.done;
  });
}
