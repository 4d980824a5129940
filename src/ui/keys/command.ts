/** Keys that the config file gives to commands, and what is wrong with them. */
import type { Command } from '../../present/command.ts';
import { own } from '../../text/own.ts';
import { isKeyName } from './key.ts';

/** Keys by command id, as the config file gives them. */
export type KeyOverrides = Readonly<Record<string, readonly string[]>>;

/** Says what is wrong with the overrides: unknown commands, unknown keys, and two commands of one layer on one key. */
export function overrideErrors(layers: readonly (readonly Command[])[], overrides: KeyOverrides): string[] {
  const errors: string[] = [];
  const known = new Map(layers.flat().map(command => [command.id, command]));
  for (const [id, keys] of Object.entries(overrides)) {
    if (!known.has(id)) errors.push(`keys.${id}: there is no such command`);
    for (const key of keys) if (!isKeyName(key)) errors.push(`keys.${id}: “${key}” is not a key`);
  }
  for (const layer of layers) {
    const owners = new Map<string, string>();
    for (const command of layer) {
      for (const key of own(overrides, command.id) ?? command.keys) {
        const owner = owners.get(key);
        if (owner !== undefined && owner !== command.id && (own(overrides, command.id) || own(overrides, owner))) {
          errors.push(`keys.${command.id}: “${key}” already means ${owner}`);
        }
        owners.set(key, owner ?? command.id);
      }
    }
  }
  return errors;
}
