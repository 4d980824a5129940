/** `benchtop open`: opens the workbench at one resource. */

import { resources } from '../resources/catalogue.ts';
import { placeOf, type Resource } from '../resources/define.ts';
import type { Place } from '../resources/place.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { resourceOrThrow } from './find.ts';
import { type FoundCheckpoint, findOrCheckpoint, recordedCheckpoint } from './find-checkpoint.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

const canOpen = ({ get, place }: Resource): boolean => get !== undefined || place !== undefined;

/** @throws CommandError that names the command to use instead */
function refuse({ names: [many, one], needs }: Resource): never {
  const scope = needs === undefined ? '' : ` --${needs} ID`;
  throw new CommandError(
    `There is no view of a single ${one.replaceAll('-', ' ')}: benchtop list ${many}${scope} lists them.`,
  );
}

/** A checkpoint opens as the step that saved it. */
function placeOfCheckpoint({ id, run, step }: FoundCheckpoint): Place {
  if (run && step != null) return { view: 'step', trainingRunId: run.training_run_id, step };
  throw new CommandError(clean`The step that saved checkpoint ${id} is not known.`, exitCodes.notFound);
}

/**
 * Where to open the workbench for a word, with or without a resource name before it.
 *
 * @throws CommandError if there is no such resource, or nothing shows it
 */
export async function placeToOpen(first: string, second: string | undefined, context: CommandContext): Promise<Place> {
  const checkpoints = resourceOrThrow('checkpoints');
  const among = second === undefined ? resources.filter(canOpen) : [resourceOrThrow(first)];
  const word = second ?? first;
  if (among.includes(checkpoints)) return placeOfCheckpoint(await recordedCheckpoint(word, context));
  const [only] = among;
  if (among.length === 1 && only && !canOpen(only)) refuse(only);
  const found = await findOrCheckpoint(among, word, context, { takesKind: true });
  if (!('resource' in found)) return placeOfCheckpoint(found);
  return placeOf(found.resource, found.row) ?? refuse(found.resource);
}

/** The list or view that a word names, such as `watch` or `runs`; undefined for any other word. */
export async function sectionPlace(word: string): Promise<Place | undefined> {
  const { registry } = await import('../ui/views/registry.ts');
  return registry.sections.find(({ names: [name] }) => name === word.toLowerCase())?.place;
}

export async function run({ args: [first = '', second], flags }: CommandInput<'open'>, io: CommandIo): Promise<number> {
  const section = second === undefined ? await sectionPlace(first) : undefined;
  const place = section ?? (await withService(flags, io, context => placeToOpen(first, second, context)));
  return (await import('./tui.tsx')).run(flags, { start: place });
}
