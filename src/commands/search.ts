/** `benchtop search`: searches the text of many trajectories. */
import { loadConfig } from '../config/load.ts';
import { countHits, describeTally, endOf } from '../present/tallies.ts';
import { readSteps } from '../queries/step-rewards.ts';
import { pagesOf } from '../resources/pages.ts';
import { describeSearch, formatOrigin, hitColumns } from '../resources/text-hits.ts';
import { type TextHit, TextSearch, type TextSearchPorts } from '../resources/text-search.ts';
import { fieldsOfFile, isOfFile, trajectories } from '../resources/trajectories.ts';
import { scopeOf } from '../rollouts/read.ts';
import { parseLineSearch } from '../text/line-search.ts';
import { clean } from '../text/sanitise.ts';
import { forgetAllTexts, openTexts } from './connect.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type Found, findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import { printRecord, printsRecord, tableText } from './output.ts';
import type { CommandInput } from './table/commands.ts';
import { configFlags } from './table/flags.ts';
import { withRollouts } from './with-rollouts.ts';
import type { CommandContext } from './with-service.ts';

const searchedResources = ['runs', 'training', 'datasets', 'benchmarks'].map(resourceOrThrow);

type Pages = TextSearchPorts['pages'];

/** A resource's trajectories, page by page. */
async function* pagesIn({ resource, id, row }: Found, context: CommandContext): Pages & AsyncGenerator {
  if (resource.names[0] !== 'benchmarks') {
    for await (const page of pagesOf(trajectories, scopeOf({ resource, id, row }), context)) yield page;
    return;
  }
  for (const runs of ['runs', 'training'].map(resourceOrThrow)) {
    for await (const page of pagesOf(runs, { benchmark: id }, context)) {
      for (const run of page.rows) yield* pagesIn({ resource: runs, id: runs.list({}).id(run), row: run }, context);
      yield { rows: [], notes: page.notes, unread: page.unread };
    }
  }
}

async function* pagesOfAll(all: readonly Found[], context: CommandContext): Pages & AsyncGenerator {
  for (const found of all) yield* pagesIn(found, context);
}

/** The rollouts of a training run's step. @throws CommandError for any other resource */
async function* pagesOfStep(found: readonly Found[], step: number, context: CommandContext): Pages & AsyncGenerator {
  for (const { id, resource } of found) {
    if (resource.names[0] !== 'training') throw new CommandError('--step is for a training run.');
    for (const { rewards } of await readSteps(id, [step], context)) {
      const rows = rewards.flatMap(({ trajectory_id, ...row }) => (trajectory_id ? [{ ...row, trajectory_id }] : []));
      const nameless = rewards.length - rows.length;
      const unread = nameless > 0 ? [`${nameless} rollouts have no id and cannot be read`] : [];
      yield { rows, notes: unread, unread };
    }
  }
}

const hitFields = ({ at, range: _, place: __, roles, ...hit }: TextHit) => ({
  ...hit,
  end: endOf(hit),
  step: at.step ?? null,
  message: at.message ?? null,
  // The name in a message's heading is on no line of the message.
  line: at.line || null,
  role: at.role,
  roles: roles.map(({ at: { role }, lines }) => ({ role, lines })),
});

// Rows are printed one by one, so no column may depend on other rows.
const lineColumns = hitColumns
  .filter(({ wide }) => !wide)
  // Without the optional columns, the text has more room.
  .map(column => (column.id === 'text' ? { ...column, width: { min: 24, max: 260, grow: 6 } } : column));

/** Prints hits as they are found: with a header and tabs for programs, in words on a terminal. */
function printerOf(io: CommandIo, isFile: boolean): (hit: TextHit) => Promise<void> {
  const all = isFile ? hitColumns.filter(isOfFile) : hitColumns;
  let isFirst = true;
  return async hit => {
    const isForPeople = io.columns !== undefined;
    const text = tableText([hit], isForPeople ? lineColumns : all, io);
    const where = isForPeople ? `${clean`  ${hit.trajectory_id}, ${formatOrigin(hit.at)}`}\n` : '';
    await io.print(`${isFirst ? text : text.slice(text.indexOf('\n') + 1)}${where}`);
    isFirst = false;
  };
}

/** How many unread trajectories to name. */
const maxNamed = 5;

function noteOutcome(search: TextSearch, io: CommandIo): void {
  const state = search.state();
  io.note(clean`${describeSearch(state, 'name a part of it with --in')}`);
  if (state.hits.length > 0) {
    const counts = countHits(search.searched, state.hits);
    io.note(clean`By reward: ${describeTally(counts.by_reward)}`);
    io.note(clean`By end: ${describeTally(counts.by_end)}`);
  }
  for (const { trajectory_id, reason } of state.unread.slice(0, maxNamed)) io.note(clean`${trajectory_id}: ${reason}`);
}

export async function run({ args, flags }: CommandInput<'search'>, io: CommandIo): Promise<number> {
  if (flags.forget) {
    if (args.length > 0) throw new CommandError('--forget takes no words: it deletes all kept texts.');
    forgetAllTexts(loadConfig(configFlags(flags), io.environment));
    io.note('The trajectory texts kept on this machine are deleted.');
    return exitCodes.done;
  }
  const query = args.join(' ');
  const search = parseLineSearch(query);
  if (!search.ok) throw new CommandError(search.error);
  if (!flags.in) throw new CommandError('Name a run, a training run, a dataset or a benchmark to search, with --in.');
  if (flags.in.some(word => word.trim() === '')) throw new CommandError('--in is empty: name what to search.');
  const [first = '', ...others] = flags.in;
  return withRollouts({ word: first, takesFile: others.length === 0 }, flags, io, async (context, named) => {
    const found: Found[] = [];
    for (const word of [named.word, ...others]) found.push(await findAmong(searchedResources, word, context, named));
    const pages = flags.step === undefined ? pagesOfAll(found, context) : pagesOfStep(found, flags.step, context);
    const index = openTexts(context.config);
    try {
      const isRecord = printsRecord(flags);
      const print = printerOf(io, named.fileNotes !== undefined);
      let printed = Promise.resolve();
      const work = new TextSearch({
        ...{ search, pages, index, context, role: flags.role },
        onHit: hit => {
          if (!isRecord) printed = printed.then(() => print(hit));
        },
      });
      const state = await work.run();
      await printed;
      context.signal.throwIfAborted();
      if (state.error) throw state.error;
      const { hits, known, searched, stored, unread, beyond, notes } = state;
      const record = {
        query,
        role: flags.role ?? null,
        in: found.map(({ id }) => id),
        hits: hits.map(named.fileNotes ? hit => fieldsOfFile(hitFields(hit)) : hitFields),
        ...countHits(work.searched, hits),
        trajectories: known,
        searched,
        from_index: stored,
        unread,
        not_searched: beyond,
        notes,
      };
      if (isRecord) await printRecord(record, query, flags, io);
      noteOutcome(work, io);
      if (unread.length > 0 || beyond > 0 || state.isListCut) return exitCodes.failed;
      if (hits.length === 0) throw new CommandError('No line matches.', exitCodes.notFound);
      return exitCodes.done;
    } finally {
      index.close();
    }
  });
}
