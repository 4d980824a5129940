/** `benchtop promote`: puts a deployment into production, or takes it out. */
import { deployment } from '../contract/deployments.ts';
import { OriginSearch } from '../queries/checkpoint-origins.ts';
import type { ChangeAction } from '../resources/action.ts';
import { calledName, deploymentActions, deployments, withStep } from '../resources/deployments.ts';
import { withOrigin } from '../resources/origins.ts';
import { checkOutcomeField, confirm, printOutcome, printRequests } from './act.ts';
import { confirmChange } from './changes.ts';
import { exitCodes } from './exit.ts';
import { findAmong } from './find.ts';
import type { CommandIo } from './io.ts';
import { confirmEntry } from './production.ts';
import type { CommandInput } from './table/commands.ts';
import { withService } from './with-service.ts';

export async function run({ args: [word = ''], flags }: CommandInput<'promote'>, io: CommandIo): Promise<number> {
  checkOutcomeField(flags, [deployment]);
  return withService(flags, io, async context => {
    const among = [deployments];
    const found = await findAmong(among, word, context, { use: 'write' });
    const { promote, unpromote } = deploymentActions;
    const { send } = flags.undo ? unpromote.change : promote.sends;
    const demoted =
      flags.demote === undefined ? undefined : await findAmong(among, flags.demote, context, { use: 'write' });
    const input = { deployment_id: found.id, ...(demoted && { demote_deployment_id: demoted.id }) };
    if (flags.dryRun) return printRequests(send, [input], context, flags);
    context.service.requireWrites();
    const { row } = found;
    const slug = calledName(row);
    if (!flags.yes && flags.undo) {
      const action = unpromote as unknown as ChangeAction<object>;
      const run = { command: 'unpromote', participle: 'unpromoted', flags, context };
      await confirmChange([{ ...found, action }], run);
    } else if (!flags.yes) {
      const search = new OriginSearch();
      const promoted = await withOrigin(row, context, search);
      const left = demoted && (await withOrigin(demoted.row, context, search));
      const words = promote.sends.describeEffect(promoted, withStep(promoted));
      const ask = (effects: string): Promise<void> => confirm(`${words} ${effects}`, flags, io, slug);
      await confirmEntry({ slug, id: found.id, from_run: promoted.from_run, demoted: left }, ask, context, search);
    }
    io.stopOnSignals?.();
    const answer = await send(context.service, input, { signal: context.signal });
    await printOutcome(answer, { id: found.id, label: slug }, flags, io);
    return exitCodes.done;
  });
}
