/** The window that picks a folder: its reducer reads nothing from disk. */
import { expect, it, vi } from 'vitest';
import { editStateOf, textOf } from '../../../src/ui/widgets/text-field/editing.ts';
import { pickerReducer } from '../../../src/ui/windows/path-picker.tsx';

vi.mock('node:fs', async original => ({
  ...(await original<typeof import('node:fs')>()),
  readdirSync: () => {
    throw new Error('a reducer read a folder');
  },
}));

const entry = (name: string) => ({ name, path: `/${name}`, kind: 'folder', size: undefined }) as const;
const listing = { folder: '/', entries: [entry('a/'), entry('b/')], error: undefined };

it('shows the folder, moves within it, and starts at its first entry', () => {
  const begun = { listing: { ...listing, entries: [] }, typed: editStateOf('typed'), cursor: 0 };
  const shown = pickerReducer(begun, { kind: 'show', listing });
  expect([shown.listing.entries.length, textOf(shown.typed), shown.cursor]).toEqual([2, '', 0]);
  const moved = [1, 1, 1].reduce((state, by) => pickerReducer(state, { kind: 'move', by }), shown);
  expect(moved.cursor).toBe(1);
  expect(pickerReducer(moved, { kind: 'show', listing }).cursor).toBe(0);
});
