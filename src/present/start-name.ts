/** Names a new run after its options. Pure. */
import { clean } from '../text/sanitise.ts';
import { describedOptions } from './described-options.ts';

/** The option that seeds the random numbers. */
export const seedOption = 'seed';
/** Maximum number of options in a name. */
const maxNamed = 3;
/** Maximum length of a value, in characters; for a longer value, the name includes only the option. */
export const longestValue = 24;

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** A short name for an option: `learning_rate` becomes `lr`, `num_steps` becomes `steps`. */
export const optionWord = (name: string): string =>
  name === 'learning_rate' ? 'lr' : name.replace(/^num_/, '').replaceAll('_', ' ');

/**
 * `seed 2 lr 0.03 kl penalty 0.1`: the chosen options that differ from the service's defaults. The seed comes first,
 * because it often distinguishes runs that start together.
 *
 * @param offered the options that the service describes
 */
export function differingOptions(
  chosen: Readonly<Record<string, unknown>>,
  offered: unknown,
  model: string | undefined,
): string {
  const described = describedOptions(offered, model);
  const differing = Object.entries(chosen).filter(
    ([name, value]) => !isEqual(described.get(name)?.defaultValue, value),
  );
  const isSeed = ([name]: readonly [string, unknown]): boolean => name === seedOption;
  const ordered = [...differing.filter(isSeed), ...differing.filter(option => !isSeed(option))];
  const words = ordered.slice(0, maxNamed).map(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return text.length > longestValue ? optionWord(name) : `${optionWord(name)} ${text}`;
  });
  const left = differing.length - words.length;
  return clean`${words.join(' ')}${left > 0 ? ` +${left}` : ''}`;
}
