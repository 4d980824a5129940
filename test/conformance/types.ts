/** Whether a value has a type, as the document writes types. */

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const plain: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: value => typeof value === 'string',
  integer: value => Number.isInteger(value),
  number: value => typeof value === 'number' && Number.isFinite(value),
  boolean: value => typeof value === 'boolean',
  object: isRecord,
  array: value => Array.isArray(value),
  'date-time': value =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
  'failure object': isRecord,
  'array of string': value => Array.isArray(value) && value.every(each => typeof each === 'string'),
  'array of number': value => Array.isArray(value) && value.every(each => typeof each === 'number'),
  'array of failure': value => Array.isArray(value) && value.every(isRecord),
  'array of item': value => Array.isArray(value) && value.every(isRecord),
  'array of step': value => Array.isArray(value) && value.every(isRecord),
  'string (signed PUT URL)': value => typeof value === 'string' && URL.canParse(value),
};

/** @throws RangeError for an unknown type: a row of the document without a check */
export function hasType(value: unknown, type: string): boolean {
  const bare = type.replace(/ or null$/, '');
  if (bare !== type && value === null) return true;
  const check = plain[bare];
  if (!check) throw new RangeError(`The document writes a type that is not known: ${type}`);
  return check(value);
}
