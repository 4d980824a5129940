/** `benchtop open`: opens the workbench at one resource. */
import { resourceOfId, resources } from '../resources/catalogue.ts';
import { isFoundByLabel, labelOf, recordPlace } from '../resources/define.ts';
import { findAmong, resourceOrThrow } from './find.ts';
import type { CommandIo } from './io.ts';
import type { CommandInput } from './table/commands.ts';
import { withService } from './with-service.ts';

export async function run({ args: [first = '', second], flags }: CommandInput<'open'>, io: CommandIo): Promise<number> {
  const ofId = second === undefined ? resourceOfId(first) : undefined;
  const named = resources.filter(each => each.get && isFoundByLabel(each));
  const among = second !== undefined ? [resourceOrThrow(first)] : ofId ? [ofId] : named;
  const place = await withService(flags, io, async context => {
    const { resource, id, row } = await findAmong(among, second ?? first, context);
    return recordPlace(resource, id, labelOf(resource, row));
  });
  return (await import('./tui.tsx')).run(flags, place);
}
