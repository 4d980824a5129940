/** Compares statuses by their spelling, whatever they mean. */

type Status = string | null | undefined;

/** Services differ in case, and in the spelling of `cancelled`. */
const spelling = (status: Status): string | undefined =>
  status
    ?.toLowerCase()
    .replaceAll(/[ -]/g, '_')
    .replace(/^cancel(?=ed$|ing$)/, 'cancell');

export const isSameStatus = (one: Status, other: Status): boolean => one === other || spelling(one) === spelling(other);
