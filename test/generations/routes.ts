/** The parts of the routes of a stand-in. */

export type Body = Readonly<Record<string, unknown>>;
export type Answer = (request: {
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly host: string;
}) => unknown;
export type Routes = Readonly<Record<string, unknown>>;

export class Refused extends Error {
  readonly status: number;
  readonly detail: unknown;

  constructor(status: number, detail: unknown) {
    super(JSON.stringify(detail));
    this.status = status;
    this.detail = detail;
  }
}

const missing = (place: string, name: string) =>
  new Refused(422, [{ type: 'missing', loc: [place, name], msg: 'Field required' }]);

/** Accepts these fields and no others; the first ones are required. */
export function takes(
  place: 'body' | 'query',
  given: Body,
  needed: readonly string[],
  optional: readonly string[] = [],
): void {
  const lacking = needed.find(name => given[name] === undefined);
  if (lacking !== undefined) throw missing(place, lacking);
  const stray = Object.keys(given).find(name => !needed.includes(name) && !optional.includes(name));
  if (stray !== undefined) throw new Refused(422, [{ loc: [place, stray], msg: 'Extra inputs are not permitted' }]);
}

export const page = (...items: readonly object[]) => ({ items, has_more: false, next_cursor: null });

/** The query of a list. */
export const lists = ['cursor', 'limit', 'sort', 'order', 'search'];
