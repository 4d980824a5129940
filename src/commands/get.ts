/** `benchtop get`: everything about one thing. */
import { parseArgs } from 'node:util';
import { hasEnded } from '../contract/status.ts';
import type { Trajectory } from '../contract/trajectories.ts';
import type { Fact } from '../present/fact.ts';
import { transcriptText } from '../present/transcript-lines.ts';
import { lookAt } from '../queries/watch/reads.ts';
import { resourceOfId, resources } from '../resources/catalogue.ts';
import type { Resource } from '../resources/define.ts';
import { reward } from '../text/numbers.ts';
import { CommandError, exitCodes } from './failure.ts';
import { findOne, namesInLines, resourceOrThrow } from './find.ts';
import { configFlags, configOptions } from './flags.ts';
import { type CommandIo, processIo } from './io.ts';
import { factText, recordText } from './output.ts';
import { progressWords } from './watch.ts';
import { type CommandContext, withService } from './with-service.ts';

export const help = `benchtop get ID [options]
benchtop get WHAT ID|NAME [options]

  What there is: ${namesInLines(resources.filter(({ needs }) => !needs).map(({ names }) => names[1]))}.

  --json                the record as the service sent it; a trajectory with its steps
  --field NAME          one field of it alone, e.g. status

  benchtop get evr_1
  benchtop get benchmark t-words --json
`;

/** Where a trajectory goes to a file, its lines are wrapped at this. */
const usualWidth = 100;

/** How far what runs is. */
async function progressFacts({ kind, list }: Resource, row: object, context: CommandContext): Promise<Fact[]> {
  if (kind !== 'run' && kind !== 'training') return [];
  const { service, memory, signal } = context;
  const id = list({}).id(row as never);
  const seen = await lookAt({ kind, id, label: id }, { service, signal, memory });
  // The record of a run that has ended may hold its mean, which is among its facts then.
  const known = 'reward_mean' in row && row.reward_mean != null;
  const label = kind === 'training' ? 'last reward' : hasEnded(seen.status) ? 'mean' : 'mean so far';
  return [
    { label: 'progress', value: progressWords(seen) },
    { label, value: seen.mean === undefined || known ? undefined : reward(seen.mean) },
  ];
}

function askedFor(positionals: readonly string[]): { resource: Resource; word: string } {
  const [first, second, ...more] = positionals;
  if (first === undefined || more.length > 0) throw new CommandError(`Say what to get.\n\n${help}`);
  if (second !== undefined) return { resource: resourceOrThrow(first), word: second };
  const resource = resourceOfId(first);
  if (!resource) throw new CommandError(`The id ${first} does not say what it is of: benchtop get WHAT ${first}.`);
  return { resource, word: first };
}

export async function run(args: readonly string[], io: CommandIo = processIo()): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...configOptions, json: { type: 'boolean' }, field: { type: 'string' } },
    allowPositionals: true,
  });
  const { resource, word } = askedFor(positionals);
  if (resource.needs)
    throw new CommandError(`${resource.names[0]} are told by benchtop list ${resource.names[0]} --json.`);
  return withService(configFlags(values), io, async context => {
    const row = await findOne(resource, word, context);
    if (values.json || values.field !== undefined) {
      await io.print(recordText(row, values.field));
      return exitCodes.done;
    }
    const facts = [...resource.facts(row as never), ...(await progressFacts(resource, row, context))];
    await io.print(factText(facts, io.columns));
    if (resource.kind === 'trajectory') {
      await io.print(`\n${transcriptText(row as Trajectory, io.columns ?? usualWidth)}`);
    }
    return exitCodes.done;
  });
}
