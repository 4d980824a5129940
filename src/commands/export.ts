/** `benchtop export`: writes trajectories with their steps as JSON Lines, which `upload` accepts. */

import { resourceNamed, resourceOfId } from '../resources/catalogue.ts';
import { pagesOf, type ResourcePage } from '../resources/pages.ts';
import { missingIn } from '../resources/trajectories.ts';
import { readAllInFull } from '../rollouts/in-full.ts';
import { scopeOf } from '../rollouts/read.ts';
import { ServiceError } from '../service/errors.ts';
import { type Note, savedNotes, withNotes } from '../store/notes.ts';
import { jsonFileParts } from '../text/export.ts';
import { counted } from '../text/numbers.ts';
import { clean } from '../text/sanitise.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { writeOutput } from './output-file.ts';
import type { CommandInput } from './table/commands.ts';
import { type CommandContext, withService } from './with-service.ts';

const trajectories = resourceOrThrow('trajectories');
/** Resources with trajectories: runs, training runs and datasets. */
const owners = (trajectories.scopes ?? []).map(resourceOrThrow);

/** Tells the user that something is missing; if `isCut`, the command fails. */
type NoteLack = (words: string, isCut: boolean) => void;

/** The trajectory ids of a run, training run or dataset, page by page; for a trajectory, its own id. */
async function* idsOf(found: Found, context: CommandContext, note: NoteLack): AsyncGenerator<string[]> {
  if (found.resource === trajectories) {
    yield [found.id];
    return;
  }
  let last: Pick<ResourcePage<object>, 'notes' | 'unread'> = { notes: [], unread: [] };
  for await (const page of pagesOf(trajectories, scopeOf(found), context)) {
    last = page;
    yield page.rows.map(trajectories.list({}).id);
  }
  if (last.notes.length > 0) note(last.notes.join('; '), last.unread.length > 0);
}

/** The ids of flagged trajectories. @throws CommandError if there are none */
function flaggedIds({ memory }: CommandContext, flags: readonly string[] | undefined, note: NoteLack): string[] {
  const isWanted = ({ flag }: Note): boolean => (flags === undefined ? flag !== '' : flags.includes(flag));
  const notes = (memory.notes.all() ?? []).filter(note => note.kind === 'trajectory' && isWanted(note));
  const { lack } = memory.notes;
  if (lack !== undefined) note(`${lack}.`, true);
  if (notes.length > 0) return [...new Set(notes.map(({ id }) => id))];
  const words =
    flags === undefined ? 'No trajectory has a flag' : clean`No trajectory has the flag ${flags.join(' or ')}`;
  throw new CommandError(`${words}.`, lack === undefined ? exitCodes.notFound : exitCodes.failed);
}

/**
 * Finds the resources that the arguments name. The first may name the resource to search.
 *
 * @throws CommandError for a resource without trajectories
 */
function namedIn([first = '', ...others]: readonly string[]) {
  const possible = [...owners, trajectories];
  const named = others.length > 0 ? resourceNamed(first.toLowerCase()) : undefined;
  // A first word that is neither a resource nor an id must be a mistyped resource.
  const isList = others.length > 0 && !named && resourceOfId(first) === undefined;
  const among = isList ? [resourceOrThrow(first)] : named ? [named] : possible;
  const [only] = among;
  if (only && !possible.includes(only))
    throw new CommandError(
      `${only.names[0]} have no trajectories: ${possible.map(({ names }) => names[0]).join(', ')} do.`,
    );
  return { among, words: named ? others : [first, ...others] };
}

export async function run({ args, flags }: CommandInput<'export'>, io: CommandIo): Promise<number> {
  const isFlagged = flags.flagged === true || flags.flag !== undefined;
  if (isFlagged && args.length > 0) throw new CommandError('--flagged and --flag take no names.');
  if (!isFlagged && args.length === 0) throw new CommandError('Name what to export, or give --flagged.');
  const { among, words } = namedIn(isFlagged ? [''] : args);
  return withService(flags, io, async context => {
    const found: Found[] = [];
    for (const word of isFlagged ? [] : words) found.push(await findAmong(among, word, context, { takesKind: true }));
    const isOne = found.length === 1 && found[0]?.resource === trajectories;
    const seen = new Set<string>();
    let count = 0;
    let leftOut = 0;
    let incomplete = 0;
    let isListCut = false;
    const note: NoteLack = (words, isCut) => {
      isListCut ||= isCut;
      io.note(words);
    };
    const notes = flags.notes ? savedNotes(context.memory) : undefined;
    const flagged = isFlagged ? flaggedIds(context, flags.flag, note) : [];
    const pages = async function* (): AsyncGenerator<string[]> {
      yield flagged;
      for (const each of found) yield* idsOf(each, context, note);
    };
    const lines = async function* (): AsyncGenerator<string> {
      for await (const ids of pages()) {
        const fresh = ids.filter(id => !seen.has(id) && seen.add(id));
        let at = 0;
        for await (const trajectory of readAllInFull(fresh, context)) {
          const id = fresh[at];
          at += 1;
          if (trajectory instanceof ServiceError) {
            if (isOne) throw trajectory;
            leftOut += 1;
            io.note(clean`Left out: ${id ?? ''}: ${trajectory.message}`);
            continue;
          }
          const missing = missingIn(trajectory);
          if (missing !== undefined) {
            incomplete += 1;
            io.note(clean`Incomplete: ${id ?? ''}: ${missing}`);
          }
          yield* jsonFileParts(withNotes(trajectory, notes?.get(trajectory.trajectory_id)), 0);
          count += 1;
        }
      }
    };
    const output = await writeOutput(flags.output, lines(), io);
    const written = `${counted(count, 'trajectory', 'trajectories')}${output === undefined ? '' : ` in ${output}`}`;
    const faults = [leftOut > 0 && `${leftOut} left out`, incomplete > 0 && `${incomplete} incomplete`];
    io.note([written, ...faults].filter(Boolean).join('; '));
    return leftOut + incomplete === 0 && !isListCut ? exitCodes.done : exitCodes.failed;
  });
}
