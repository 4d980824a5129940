/** `benchtop secret set`: saves a secret's value, or replaces it. */
import { secret } from '../contract/secrets.ts';
import { createSecret } from '../queries/secrets.ts';
import { clean, sanitiseLine } from '../text/sanitise.ts';
import { askLine, checkOutcomeField, printOutcome, printRequests } from './act.ts';
import { CommandError, exitCodes } from './exit.ts';
import { type CommandIo, readInput } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { withService } from './with-service.ts';

/** A secret's value, typed without echo or piped in. Drops a final line break. */
async function readSecret(name: string, io: CommandIo): Promise<string> {
  if (io.input.isTTY) return askLine(io, `Value of ${sanitiseLine(name)} (not shown): `, { hidden: true });
  return (await readInput(io)).replace(/\r?\n$/, '');
}

export async function run({ args: [name = ''], flags }: CommandInput<'secret set'>, io: CommandIo): Promise<number> {
  checkOutcomeField(flags, [secret]);
  return withService(flags, io, async context => {
    if (!flags.dryRun) context.service.requireWrites();
    const value = flags.dryRun ? '' : await readSecret(name, io);
    const input = { name, value, description: flags.description };
    if (flags.dryRun) return printRequests(createSecret, [input], context, flags);
    if (value === '')
      throw new CommandError(clean`The value of ${name} is empty. Pipe it in: benchtop secret set ${name} < FILE`);
    io.stopOnSignals?.();
    const made = await createSecret(context.service, input, { signal: context.signal });
    await printOutcome(made, { id: made.secret_id, label: name }, flags, io);
    return exitCodes.done;
  });
}
