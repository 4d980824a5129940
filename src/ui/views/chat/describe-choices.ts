/** Models in a chat, and choices between their answers, in words. Pure. */
import type { Counts, Preference } from '../../../chat/choices.ts';
import type { Deployment } from '../../../contract/deployments.ts';
import { formatChance, signTest } from '../../../present/statistics/sign-test.ts';
import { displayWidth } from '../../../text/width.ts';

/** The mark below each of the two answers. */
export const verdictLabels: Readonly<Record<Preference, readonly [left: string, right: string]>> = {
  left: ['chosen as better', 'the other is better'],
  right: ['the other is better', 'chosen as better'],
  equal: ['chosen as equal', 'chosen as equal'],
  'both bad': ['chosen: both bad', 'chosen: both bad'],
};

/**
 * E.g. `a better 7, b better 2, equal 1 (n=10), single-look exact sign test: p = 0.18`, or shorter if that is wider
 * than `room`; empty if there are no choices, or no room.
 */
export function describeCounts(
  counts: Counts,
  room = Number.POSITIVE_INFINITY,
  [left, right]: readonly [string, string] = ['left', 'right'],
): string {
  const { equal, 'both bad': bad } = counts;
  const all = counts.left + counts.right + equal + bad;
  if (all === 0) return '';
  const share = signTest(counts.left, counts.right);
  const test = (words: string): string => (share === undefined ? '' : `, ${words} ${formatChance(share)}`);
  const ties = (word: string): string => `equal ${equal}${bad > 0 ? `, ${word} ${bad}` : ''} (n=${all})`;
  const long = `${left} better ${counts.left}, ${right} better ${counts.right}, ${ties('both bad')}${test('single-look exact sign test:')}`;
  const short = `${left} ${counts.left}, ${right} ${counts.right}, ${ties('bad')}${test('sign test')}`;
  return [long, short].find(words => displayWidth(words) <= room) ?? '';
}

/** Names for models: a replaced deployment has its slug and step, unless another one has the same. */
export function titlesOf(models: readonly string[], deployments: readonly Deployment[]): ReadonlyMap<string, string> {
  const titles = models.map(model => {
    const { model_slug, checkpoint_step } = deployments.find(({ deployment_id }) => deployment_id === model) ?? {};
    return model_slug
      ? [model_slug, checkpoint_step == null ? '' : `step ${checkpoint_step}`].filter(Boolean).join(', ')
      : model;
  });
  return new Map(
    models.map((model, at) => [model, new Set(titles).size < titles.length ? model : (titles[at] ?? model)]),
  );
}
