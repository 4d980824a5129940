/** The table of commands imports no resource, so that help prints fast. The two must agree on each command. */
import { describe, expect, it } from 'vitest';
import { own } from '../../src/base/own-property.ts';
import { commands } from '../../src/commands/table/commands.ts';
import type { CommandSpec } from '../../src/commands/table/spec.ts';
import { resources } from '../../src/resources/catalogue.ts';

const declared = resources.flatMap(({ actions = {}, names: [name] }) =>
  Object.values(actions).flatMap(({ id, change, sends }) => {
    const sending = change ?? sends;
    return sending?.command === undefined ? [] : [{ ...sending, id, name, command: sending.command, change }];
  }),
);

describe.each(declared)('$command of $name ($id)', ({ command, send, kind, options, change }) => {
  const flags = Object.keys(own<CommandSpec>(commands, command)?.flags ?? {});

  it('is a command that prints its request', () => {
    expect(flags).toContain('dryRun');
  });

  it('waits if it declares how it ends, takes the options it lists, and sends a key if it declares one', () => {
    const taken = ['wait', 'option', 'idempotencyKey'].filter(flag => flags.includes(flag));
    const said = { wait: kind ?? change?.waitUntil, option: options, idempotencyKey: send.keyed };
    expect(taken).toEqual(Object.entries(said).flatMap(([flag, has]) => (has ? [flag] : [])));
  });
});
