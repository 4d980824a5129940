import { isRecord } from './own-property.ts';

/** JSON with sorted keys: equal content gives equal text. */
export const orderedJson = (content: unknown): string =>
  JSON.stringify(content, (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  ) ?? '';
