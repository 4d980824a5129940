/** Where a setting came from, so that an error can name the setting to change. */
export type Origin =
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string; readonly place: string }
  | { readonly kind: 'default' };

/** A setting's value and where it came from. */
export interface Sourced<T> {
  readonly value: T;
  readonly origin: Origin;
}

export function byDefault<T>(value: T): Sourced<T> {
  return { value, origin: { kind: 'default' } };
}

/** The origin in a sentence: `--base-url`, `BENCHTOP_BASE_URL`, `profiles.prod.baseUrl in …`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'flag':
    case 'environment':
      return origin.name;
    case 'file':
      return `${origin.place} in ${origin.path}`;
    case 'default':
      return 'the default';
  }
}

/**
 * An invalid setting. The message gives the problem, its place and its fix in whole sentences. It never contains a
 * secret.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
