/** Conditions for starting the workbench; `doctor` checks them too. */
import type { Config } from '../config/load.ts';
import { ConfigError } from '../config/origin.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { canMoveCursor } from '../text/terminal.ts';
import { keyLayers, sectionNamed } from '../ui/app/registry.ts';
import { overrideErrors } from '../ui/keys/key.ts';
import { registry } from '../ui/views/registry.ts';
import { CommandError } from './exit.ts';

interface CheckedKeys extends Pick<Config, 'settingsPath'> {
  readonly preferences: Pick<Config['preferences'], 'keys'>;
}

/** @throws ConfigError that names every invalid key override */
export function checkKeys({ preferences, settingsPath }: CheckedKeys): void {
  // Most users have none, and the check compares every command in every view.
  if (Object.keys(preferences.keys).length === 0) return;
  const errors = overrideErrors(keyLayers(registry), preferences.keys);
  if (errors.length > 0) throw new ConfigError(`The keys in ${settingsPath} cannot be used:\n  ${errors.join('\n  ')}`);
}

/** A command's keys without settings; undefined if there is no such command. */
export const defaultKeys = (id: string): readonly string[] | undefined =>
  keyLayers(registry)
    .flat()
    .find(command => command.id === id)?.keys;

/**
 * The section to open according to the settings; undefined to decide by the running work.
 *
 * @throws ConfigError if there is no such section
 */
export function homePlace({
  preferences,
  settingsPath,
}: Pick<Config, 'settingsPath'> & { readonly preferences: Pick<Config['preferences'], 'home'> }) {
  const { home } = preferences;
  if (home === undefined) return undefined;
  const section = sectionNamed(registry, home);
  if (section) return section.place;
  const sections = registry.sections.map(({ names: [name = ''] }) => name).join(', ');
  throw new ConfigError(
    `home in ${settingsPath} names no section: ${sanitiseLine(home)}. The sections are: ${sections}.`,
  );
}

/** @throws CommandError if the terminal cannot move its cursor, which a full screen needs */
export function checkTerminal(environment: Readonly<Record<string, string | undefined>>): void {
  if (canMoveCursor(environment)) return;
  throw new CommandError(
    `TERM is ${sanitiseLine(environment['TERM'] ?? '')}: this terminal cannot show a full screen. \`benchtop --lines\` works in it.`,
  );
}
