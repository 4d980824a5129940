/** Slugs under which models serve. Pure. */
import { modelSlug } from '../contract/deployments.ts';

/** A slug like a name: what is not allowed in one becomes a dash. */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, modelSlug.maximum);
}
