import { isRecord } from './own-property.ts';

/** The same JSON for the same content, in whatever order its properties were set. */
export const orderedJson = (content: unknown): string =>
  JSON.stringify(content, (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  ) ?? '';
